# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""From YAML to the model. Strict: an unknown key, a wrong type or a reused id is an error."""

from __future__ import annotations

import keyword
import math
import re
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import]

from ..text import version_number
from . import model as m
from .types import OP_BASES, SCALAR_KINDS, CParam, SchemaError, parse_type

DTYPES = {  # short name -> (name, DLPack code, bytes, category)
    "bool": ("bool", 6, 1, "bool"),
    "u8": ("uint8", 1, 1, "integral"),
    "u16": ("uint16", 1, 2, "integral"),
    "u32": ("uint32", 1, 4, "integral"),
    "u64": ("uint64", 1, 8, "integral"),
    "i8": ("int8", 0, 1, "integral"),
    "i16": ("int16", 0, 2, "integral"),
    "i32": ("int32", 0, 4, "integral"),
    "i64": ("int64", 0, 8, "integral"),
    "f16": ("float16", 2, 2, "floating"),
    "bf16": ("bfloat16", 4, 2, "floating"),
    "f32": ("float32", 2, 4, "floating"),
    "f64": ("float64", 2, 8, "floating"),
    "c64": ("complex64", 5, 8, "complex"),
    "c128": ("complex128", 5, 16, "complex"),
}
SIZES = {"int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "double": 8}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FOREIGN = {"type", "ref", "fn", "end", "function", "match", "move", "self", "impl", "struct", "out_"}
_KEYWORDS = set(keyword.kwlist) | {k.lower() for k in keyword.kwlist} | _FOREIGN


def take(row: Any, where: str, required: str, optional: str = "") -> dict[str, Any]:
    """Checks that `row` is a mapping with the required keys and no key beyond the optional ones."""
    if not isinstance(row, dict):
        raise SchemaError(f"{where}: expected a mapping, got {row!r}")
    need, may = set(required.split()), set(optional.split())
    if missing := need - row.keys():
        raise SchemaError(f"{where}: missing {', '.join(sorted(missing))}")
    if unknown := row.keys() - need - may:
        raise SchemaError(f"{where}: unknown key {', '.join(sorted(map(str, unknown)))}")
    return row


def _name(text: Any, where: str) -> str:
    if not isinstance(text, str) or not _NAME.fullmatch(text) or text in _KEYWORDS:
        raise SchemaError(f"{where}: {text!r} is no lower_case name free of host-language keywords")
    return text


def _text(row: dict[str, Any], key: str) -> str:
    return " ".join(str(row.get(key, "")).split())


def _since(row: dict[str, Any], where: str, default: str = "0.1") -> str:
    """The version that has it first. To YAML 0.10 without quotes is the number 0.1."""
    version = row.get("since", default)
    if not isinstance(version, str) or not re.fullmatch(r"\d+\.\d+", version):
        raise SchemaError(f"{where}: since is a version in quotes, as \"0.2\", got {version!r}")
    return version


def load(folder: Path) -> m.Schema:
    """Reads every schema file; raises SchemaError on the first mistake."""
    domains: list[m.Domain] = []
    families: tuple[m.Family, ...] = ()
    autocast: dict[str, str] = {}
    autocast_cpu: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        with path.open(encoding="utf-8") as text:
            tree = yaml.safe_load(text)
        try:
            if path.stem == "optimizers":  # generator/optimizers reads it
                continue
            if path.stem == "families":
                families = read_families(tree)
            elif path.stem == "autocast":
                autocast_cpu = read_autocast(tree.pop("cpu", dict.fromkeys(m.AUTOCAST, ())))
                autocast = read_autocast(tree)
            else:
                domains.append(read_domain(path.stem, tree))
        except SchemaError as error:
            raise SchemaError(f"{path.name}: {error}") from None
    domains.sort(key=lambda d: d.ids)
    schema = m.Schema(tuple(domains), families, autocast, autocast_cpu)
    _check_whole(schema)
    _check_autocast(schema)
    return schema


def _check_whole(schema: m.Schema) -> None:
    for before, after in zip(schema.domains, schema.domains[1:]):
        if before.ids[1] >= after.ids[0]:
            raise SchemaError(f"{after.name}: its id range overlaps that of {before.name}")
    entries = {(f.name, b) for f in schema.families for b in f.backends}
    for kernel in (k for d in schema.domains for k in d.nondeterministic):
        if (kernel.family, kernel.backend) not in entries:
            raise SchemaError(f"nondeterministic: the backend {kernel.backend} has no family {kernel.family}")
    names: set[str] = set()
    for function in schema.c_functions:
        if function.name in names:
            raise SchemaError(f"{function.name} is declared twice")
        names.add(function.name)
    if len({f.id for f in schema.c_functions}) != len(schema.c_functions):
        raise SchemaError("two functions have one id")
    for family in m.KERNEL_FAMILIES:
        functors = [k.functor for k in schema.kernels(family)]
        if twice := {f for f in functors if functors.count(f) > 1}:
            raise SchemaError(f"two {family} kernels have the functor {', '.join(sorted(twice))}")
    known = {f"enum.{e.name[4:]}" for e in schema.enums} | {f"handle.{h.name}" for h in schema.handles}
    known |= {f"struct.{s.name[4:]}" for s in schema.structs}
    known |= {f"fn.{c.name[4:-3]}" for c in schema.callbacks} | {f"cfn.{c.name[4:-3]}" for c in schema.callbacks}
    known |= {f"extern.{e}" for d in schema.domains for e in d.externs}
    for function in schema.c_functions:
        for arg in function.args:
            if arg.type.name is not None and f"{arg.type.base}.{arg.type.name}" not in known:
                raise SchemaError(f"{function.name}: '{arg.type.text}' of '{arg.name}' is not declared")


def read_domain(name: str, tree: Any) -> m.Domain:
    row = take(
        tree,
        name,
        "title header ids",
        "doc include retired batching externs dtypes kernels ops functions structs enums callbacks handles nondeterministic",
    )
    low, high = row["ids"]
    ids = set(row.get("retired", ()))

    def claim(item: dict[str, Any], where: str) -> int:
        number = item["id"]
        if not isinstance(number, int) or not low <= number <= high or number >= 1 << 16:
            raise SchemaError(f"{where}: id {number} is outside {low}..{high}")
        if number in ids:
            raise SchemaError(f"{where}: id {number} is taken or retired")
        ids.add(number)
        return number

    header = row["header"]
    return m.Domain(
        name=name,
        title=row["title"],
        doc=_text(row, "doc"),
        header=header,
        includes=tuple(row.get("include", ())),
        ids=(low, high),
        ops=tuple(_op(o, name, header, row.get("batching", "loop"), claim) for o in row.get("ops") or ()),
        kernels=tuple(_kernel(k, claim) for k in row.get("kernels") or ()),
        functions=tuple(_function(f, header, claim) for f in row.get("functions") or ()),
        structs=_structs(row.get("structs") or (), header),
        enums=tuple(_enum(e, header) for e in row.get("enums") or ()),
        callbacks=tuple(_callback(c, header) for c in row.get("callbacks") or ()),
        handles=tuple(_handle(h, header) for h in row.get("handles") or ()),
        dtypes=tuple(_dtype(d) for d in row.get("dtypes") or ()),
        externs=tuple(row.get("externs", ())),
        nondeterministic=tuple(_nondeterministic(n) for n in row.get("nondeterministic") or ()),
    )


def read_families(tree: Any) -> tuple[m.Family, ...]:
    rows = take(tree, "families", "families")["families"]
    families = tuple(_family(row) for row in rows)
    if len({f.name for f in families}) != len(families):
        raise SchemaError("two families have one name")
    return families


def read_autocast(tree: Any) -> dict[str, str]:
    lists = take(tree, "autocast", " ".join(m.AUTOCAST[:3]), m.AUTOCAST[3])
    found: dict[str, str] = {}
    for kind, names in lists.items():
        for name in names:
            if name in found:
                raise SchemaError(f"autocast: '{name}' stands twice in its lists")
            found[name] = kind
    return found


def _check_autocast(schema: m.Schema) -> None:
    by_name = {op.name: op for op in schema.ops}
    for name, kind in [*schema.autocast.items(), *schema.autocast_cpu.items()]:
        op = by_name.get(name)
        if op is None:
            raise SchemaError(f"autocast.yaml: {kind}: there is no operator '{name}'")
        if "functional" not in op.forms or not op.returns or op.returns_list or op.alias is not None:
            raise SchemaError(f"autocast.yaml: {kind}: '{name}' returns a view, a list or nothing")
        if not any(a.type.is_tensor or a.type.text == "tensor[]" for a in op.args):
            raise SchemaError(f"autocast.yaml: {kind}: '{name}' has no tensor among its arguments")
        if kind == "refuse" and f"{name}_with_logits" not in by_name:
            raise SchemaError(f"autocast.yaml: refuse: there is no operator '{name}_with_logits' to name instead")


def _family(row: Any) -> m.Family:
    where = f"family {row.get('name') if isinstance(row, dict) else row}"
    row = take(row, where, "name plan header doc", "op backends")
    backends = tuple(row.get("backends", m.BACKENDS))
    if unknown := set(backends) - set(m.BACKENDS):
        raise SchemaError(f"{where}: unknown backends {', '.join(sorted(unknown))}")
    return m.Family(_op_name(row["name"], where), row["plan"], row["header"], row.get("op"), backends, _text(row, "doc"))


def _nondeterministic(row: Any) -> m.Nondeterministic:
    row = take(row, "nondeterministic", "family backend when instead")
    return m.Nondeterministic(row["family"], row["backend"], _text(row, "when"), _text(row, "instead"))


def _dtype(short: str) -> m.DType:
    name, code, size, category = DTYPES[short]
    return m.DType(name, short, f"TSR_{name.upper()}", code | size * 8 << 8 | 1 << 16, size, category)


def _arg(row: Any, where: str) -> m.Arg:
    row = take(row, where, "name type", "default doc count_of fuzz")
    where = f"{where}, argument {row['name']}"
    kind = parse_type(row["type"])
    default = row.get("default", m.REQUIRED)
    if default is m.REQUIRED and kind.optional and kind.direction == "in":
        default = None
    return m.Arg(
        _name(row["name"], where), kind, default, _text(row, "doc"), row.get("count_of"), row.get("fuzz", True)
    )


def _op(row: Any, family: str, header: str, batching: Any, claim: Any) -> m.Op:
    where = f"op {row.get('name') if isinstance(row, dict) else row}"
    row = take(
        row,
        where,
        "name id args forms python doc cases",
        "since returns scalar scalar_kinds cpp effects notes kernel batching gradient",
    )
    args = tuple(_arg(a, where) for a in row["args"])
    returns = tuple(_arg(r, where) for r in row.get("returns", [{"name": "out", "type": "out tensor"}]))
    effects = take(row.get("effects", {}), f"{where}, effects", "", "alias mutates mutates_grad")
    forms = tuple(row["forms"])
    gradient = row.get("gradient", True)
    place = None
    if isinstance(gradient, dict):
        given = take(gradient, f"{where}, gradient", "args")["args"]
        place = {n: _value(v, True, where) for n, v in given.items()}
    number = claim(row, where)
    op = m.Op(
        name=_op_name(row["name"], where),
        id=number,
        since=_since(row, where),
        family=family,
        header=header,
        args=args,
        returns=returns,
        forms=forms,
        scalar=tuple(_scalar_form(s, i) for i, s in enumerate(row.get("scalar", ()))),
        scalar_kinds=tuple(row.get("scalar_kinds", SCALAR_KINDS)),
        cpp=row.get("cpp", f"ops::{row['name']}"),
        alias=effects.get("alias"),
        mutates=tuple(effects.get("mutates", ())),
        mutates_grad=tuple(effects.get("mutates_grad", ())),
        python=_python(row["python"], where),
        doc=_text(row, "doc"),
        notes=str(row.get("notes", "")).strip(),
        kernel=_own_kernel(row, number, where),
        batching=_batching(row.get("batching", batching), args, where),
        gradient=bool(gradient),
        gradient_args=place,
        cases=tuple(_case(c, args, returns, where) for c in row["cases"]),
    )
    _check_op(op, where)
    return op


def _batching(entry: Any, args: tuple[m.Arg, ...], where: str) -> m.Batching:
    """`batching: pointwise`, or `{rule: fold, rank: 3, folded: [input, grid]}`; a file's own key is that of its rows."""
    entry = {"rule": entry} if isinstance(entry, str) else entry
    entry = take(entry, f"{where}, batching", "rule", "rank folded")
    made = m.Batching(entry["rule"], entry.get("rank", 0), tuple(entry.get("folded", ())))
    if made.rule not in m.BATCHING:
        raise SchemaError(f"{where}: unknown batching rule {made.rule}, expected one of {', '.join(m.BATCHING)}")
    if (made.rank or made.folded) and made.rule not in ("fold", "fold_loss"):
        raise SchemaError(f"{where}: only fold and fold_loss have a rank and folded arguments")
    tensors = {a.name for a in args if a.type.base == "tensor"}
    if unknown := set(made.folded) - tensors:
        raise SchemaError(f"{where}, batching: no tensor named {', '.join(sorted(unknown))}")
    return made


def _own_kernel(row: dict[str, Any], number: int, where: str) -> m.Kernel | None:
    """The kernel of the op's own name: `kernel: unary`, or `{family: unary, doc: ...}`."""
    entry = row.get("kernel")
    if entry is None:
        return None
    entry = {"family": entry} if isinstance(entry, str) else entry
    entry = take(entry, f"{where}, kernel", "family", "doc")
    return _check_family(m.Kernel(row["name"], number, entry["family"], _text(entry, "doc")), where)


def _kernel(row: Any, claim: Any) -> m.Kernel:
    where = f"kernel {row.get('name') if isinstance(row, dict) else row}"
    row = take(row, where, "name id family doc")
    kernel = m.Kernel(_op_name(row["name"], where), claim(row, where), row["family"], _text(row, "doc"))
    return _check_family(kernel, where)


def _check_family(kernel: m.Kernel, where: str) -> m.Kernel:
    if kernel.family not in m.KERNEL_FAMILIES:
        raise SchemaError(f"{where}: '{kernel.family}' is none of {', '.join(m.KERNEL_FAMILIES)}")
    return kernel


def _op_name(text: Any, where: str) -> str:
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise SchemaError(f"{where}: {text!r} is no lower_case name")
    return text


def _check_op(op: m.Op, where: str) -> None:
    if not op.forms or set(op.forms) - {"functional", "out", "inplace"}:
        raise SchemaError(f"{where}: forms are a subset of functional, out, inplace")
    if not op.returns and op.forms != ("functional",) and op.forms != ("inplace",):
        raise SchemaError(f"{where}: an op without results has the one form functional or inplace")
    if (op.returns_list or not op.returns) and "out" in op.forms:
        raise SchemaError(f"{where}: no out form for a list of results or for none")
    if "inplace" in op.forms and not (op.args and op.args[0].type.is_tensor):
        raise SchemaError(f"{where}: the in-place form changes the first argument, which must be a tensor")
    for arg in op.args:
        if arg.type.base not in OP_BASES or arg.type.direction != "in":
            raise SchemaError(f"{where}: type '{arg.type.text}' cannot be an argument of an op")
    names = {a.name for a in op.args}
    if len(names) != len(op.args):
        raise SchemaError(f"{where}: two arguments have one name")
    for result in op.returns:
        if result.type.text not in ("out tensor", "out tensor[]"):
            raise SchemaError(f"{where}: results are 'out tensor' or 'out tensor[]'")
    if bad := set(op.scalar_kinds) - set(SCALAR_KINDS):
        raise SchemaError(f"{where}: unknown scalar kinds {bad}")
    if not op.scalar_kinds or (op.scalar_kinds != tuple(SCALAR_KINDS) and not any(f.numbers for f in op.functions)):
        raise SchemaError(f"{where}: scalar_kinds restrict the numbers of an op, of which it has none")
    used = {n for s in op.scalar for n in s.args} | {*op.mutates, *op.mutates_grad} | ({op.alias} if op.alias else set())
    if missing := used - names:
        raise SchemaError(f"{where}: no argument named {', '.join(missing)}")
    if len(op.doc) < 10 or not op.cases:
        raise SchemaError(f"{where}: a doc line and at least one case are required")


def _scalar_form(entry: Any, index: int) -> m.ScalarForm:
    if isinstance(entry, str):
        return m.ScalarForm((entry,), "scalar" if index == 0 else "scalar_left")
    return m.ScalarForm(tuple(entry), "scalars")


def _python(row: Any, where: str) -> m.Python:
    if row is None or row is False:
        return m.Python("", hidden=True)
    if isinstance(row, str):
        return m.Python(row, method=row)
    row = take(row, f"{where}, python", "name", "method operator aliases namespace keyword hidden fields arguments")
    method = row.get("method", row["name"])
    operator = row.get("operator", ())
    return m.Python(
        name=row["name"],
        method=row["name"] if method is True else method or None,
        operator=(operator,) if isinstance(operator, str) else tuple(operator),
        aliases=tuple(row.get("aliases", ())),
        namespace=row.get("namespace", ""),
        keyword=row.get("keyword"),
        hidden=bool(row.get("hidden", False)),
        fields=tuple(row.get("fields", ())),
        arguments=tuple(row.get("arguments", {}).items()),
    )


def _case(row: Any, args: tuple[m.Arg, ...], returns: tuple[m.Arg, ...], where: str) -> m.Case:
    row = take(row, f"{where}, case", "args", "out returns after grad after_grad error forms rtol atol")
    by_name = {a.name: a for a in args}
    if unknown := row["args"].keys() - by_name.keys():
        raise SchemaError(f"{where}, case: no argument named {', '.join(unknown)}")
    if missing := [a.name for a in args if a.required and a.name not in row["args"]]:
        raise SchemaError(f"{where}, case: argument {', '.join(missing)} has no value")
    values = {n: _value(v, by_name[n].type.base == "tensor", where) for n, v in row["args"].items()}
    results: tuple[Any, ...] = ()
    if "error" not in row:
        given = row["returns"] if "returns" in row else ({returns[0].name: row["out"]} if "out" in row else {})
        if list(given) != [r.name for r in returns]:
            raise SchemaError(f"{where}, case: expected results {[r.name for r in returns]}, got {list(given)}")
        results = tuple(_value(given[r.name], True, where) for r in returns)
    after, grad, after_grad = (
        {n: _value(v, True, where) for n, v in row.get(key, {}).items()} for key in ("after", "grad", "after_grad")
    )
    for name, given in (*grad.items(), *after_grad.items()):
        tensors = values.get(name)
        if not isinstance(tensors, list) or not isinstance(given, list) or len(given) != len(tensors):
            raise SchemaError(f"{where}, case: grad is there for lists, one for each tensor: {name}")
    return m.Case(
        args=values,
        returns=results,
        after=after,
        grad=grad,
        after_grad=after_grad,
        error=row.get("error"),
        forms=tuple(row.get("forms", ())),
        rtol=row.get("rtol"),
        atol=row.get("atol"),
    )


def _value(value: Any, tensor: bool, where: str) -> Any:
    if not tensor or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        return [_value(v, True, where) for v in value]
    if "dtype" in value:
        row = take(value, f"{where}, literal", "dtype shape", "data")
        if row["dtype"] not in DTYPES:
            raise SchemaError(f"{where}: unknown dtype {row['dtype']}")
        data = row.get("data")
        numbers = None if data is None else tuple(map(_element, _flat(data)))
        if numbers is not None and len(numbers) != math.prod(row["shape"]):
            raise SchemaError(f"{where}: data of {len(numbers)} elements do not fit the shape {row['shape']}")
        return m.Literal(row["dtype"], tuple(row["shape"]), numbers)
    if len(value) != 1 or next(iter(value)) not in DTYPES:
        raise SchemaError(f"{where}: a tensor is {{f32: [...]}} or {{dtype, shape, data}}, got {value}")
    dtype, nested = next(iter(value.items()))
    shape: list[int] = []
    level = nested
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None
    flat = _flat(nested)
    if math.prod(shape) != len(flat):
        raise SchemaError(f"{where}: the nested list is ragged: {nested}")
    return m.Literal(dtype, tuple(shape), tuple(map(_element, flat)))


def _flat(nested: Any) -> list[Any]:
    return [x for part in nested for x in _flat(part)] if isinstance(nested, list) else [nested]


def _element(value: Any) -> Any:
    return complex(value.replace(" ", "")) if isinstance(value, str) else value


def _function(row: Any, header: str, claim: Any) -> m.Function:
    where = f"function {row.get('name') if isinstance(row, dict) else row}"
    row = take(
        row, where, "name id doc example", "since returns args notes thread blocking finalizer_safe consumes fuzz nodiscard"
    )
    return m.Function(
        name="tsr_" + _op_name(row["name"], where),
        id=claim(row, where),
        since=_since(row, where),
        header=header,
        returns=row.get("returns", "tsr_status"),
        args=tuple(_arg(a, where) for a in row.get("args") or ()),
        doc=_text(row, "doc"),
        notes=str(row.get("notes", "")).strip(),
        example=str(row["example"]).rstrip(),
        thread=row.get("thread", "any"),
        blocking=bool(row.get("blocking", False)),
        finalizer_safe=bool(row.get("finalizer_safe", False)),
        consumes=row.get("consumes"),
        fuzz=row.get("fuzz", True),
        nodiscard=row.get("nodiscard", True),
    )


def _c_declaration(text: str, where: str) -> tuple[str, str]:
    match = re.fullmatch(r"((?:const )?(?:struct )?\w+\**) (\w+)", text)
    if match is None:
        raise SchemaError(f"{where}: '{text}' is not 'type name'")
    return match[1], match[2]


def _structs(rows: Any, header: str) -> tuple[m.Struct, ...]:
    """Structs of one file; later ones may hold earlier ones."""
    found: list[m.Struct] = []
    for row in rows:
        found.append(_struct(row, header, {s.name: s.size for s in found}))
    return tuple(found)


def _struct(row: Any, header: str, inner: dict[str, int]) -> m.Struct:
    row = take(row, "struct", "name fields doc", "since")
    where = f"struct {row['name']}"
    since = before = _since(row, where)
    fields, offset, first_size = [], 0, 0
    for entry in row["fields"]:
        text, said = next(iter(entry.items()))
        said = said if isinstance(said, dict) else {"doc": said}
        doc = take(said, f"{where}, {text}", "", "doc since").get("doc")
        ctype, name = _c_declaration(text, where)
        added = _since(said, f"{where}, {text}", since)
        if version_number(added) < version_number(before):
            raise SchemaError(f"{where}: field {name} is older than the one before it; fields are only ever appended")
        before = added
        pointer = ctype.endswith(("*", "_fn"))
        size = 8 if pointer else (inner | SIZES).get(ctype, 4)  # int32 typedefs are 4
        if offset % min(size, 8):
            raise SchemaError(f"{where}: field {name} at offset {offset} needs explicit padding before it")
        fields.append(m.Field(name, ctype, offset, size, " ".join(str(doc or "").split())))
        offset += size
        first_size = offset if added == since else first_size
    if offset % max(min(f.size, 8) for f in fields):
        raise SchemaError(f"{where}: needs explicit padding at its end")
    return m.Struct(
        f"tsr_{row['name']}", since, header, tuple(fields), offset, first_size, _text(row, "doc")
    )


def _enum(row: Any, header: str) -> m.Enum:
    row = take(row, "enum", "name values doc", "since prefix cpp cpp_header")
    where = f"enum {row['name']}"
    prefix = row.get("prefix", row["name"].upper() + "_")
    constants = []
    for name, value in row["values"].items():
        fields = value if isinstance(value, dict) else {"value": value}
        take(fields, f"{where}, {name}", "value", "doc wrapper")
        if not -(2**31) <= fields["value"] < 2**31:
            raise SchemaError(f"{where}: {name} does not fit int32")
        constants.append(
            m.Constant(f"TSR_{prefix}{name}", fields["value"], _text(fields, "doc"), fields.get("wrapper", ""))
        )
    return m.Enum(
        f"tsr_{row['name']}",
        _since(row, where),
        header,
        tuple(constants),
        _text(row, "doc"),
        f"TSR_{prefix}",
        row.get("cpp", ""),
        row.get("cpp_header", ""),
    )


def _callback(row: Any, header: str) -> m.Callback:
    row = take(row, "callback", "name params doc", "since returns")
    where = f"callback {row['name']}"
    params = tuple(CParam(*_c_declaration(p, where)) for p in row["params"])
    name = f"tsr_{row['name']}_fn"
    return m.Callback(
        name, _since(row, where), header, row.get("returns", "tsr_status"), params, _text(row, "doc")
    )


def _handle(row: Any, header: str) -> m.Handle:
    row = take(row, "handle", "name doc", "since")
    return m.Handle(_name(row["name"], "handle"), _since(row, f"handle {row['name']}"), header, _text(row, "doc"))
