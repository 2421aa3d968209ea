# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The op methods of the safe Rust crate, one file per family.

Required arguments are positional. Optional ones are fields of an options struct with chained
setters, which a closure fills in: `x.sum_with(|o| o.axes(&[1]).keepdims(true))`. The functional form
has a short name for all defaults (`x.sum()`), the in-place form ends in `_`, the form that writes to
a tensor in `_out`. A tensor that may be a number is an `impl Into<Operand>`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..schema.model import Arg, Op, ScalarForm, Schema
from ..schema.types import entry
from ..template import Template
from ..text import banner, fill_call
from .bodies import STEP, WIDTH, body, c_args, left_body
from .model import WORDS, is_free, operands, optional, options_name, receiver, required, rust_name
from .text import call, doc
from .words import in_rust

TEMPLATE = Template(__file__, "ops.rs.in")
FOLDER = "wrappers/rust/tessera/src/generated/"
VALUES = {"int64": "i64", "f64": "f64", "bool": "bool", "dtype": "DType", "device": "Device", "scalar": "Scalar"}
PARAMETERS = VALUES | {  # by schema type
    "scalar": "impl Into<Scalar>", "str": "&str", "tensor": "&Tensor", "tensor[]": "&[impl Borrow<Tensor>]",
    "tensor?[]": "&[Option<&Tensor>]", "int64[]": "&[i64]", "f64[]": "&[f64]",
}  # fmt: skip


def _present(default: str) -> str:
    """A default as a reader of the documentation says it."""
    return default[len("Some(") : -1] if default.startswith("Some(") else default


def outputs(schema: Schema) -> dict[str, str]:
    families = [d for d in schema.domains if d.ops]
    words = in_rust(schema)
    files = {f"{FOLDER}{d.name}.rs": _family(d.title, [_reworded(op, words) for op in d.ops]) for d in families}
    public = [d.name for d in families if any(optional(op) or is_free(op) for op in d.ops)]
    files[FOLDER + "mod.rs"] = TEMPLATE(
        "mod",
        banner=banner("//", "Dtypes and kinds; op methods by family, and their options."),
        modules="".join(f"mod {d.name};\n" for d in families),
        public="".join(f"    pub use super::{name}::*;\n" for name in public),
    )
    return files


def _reworded(op: Op, words: Callable[[str, set[str]], str]) -> Op:
    """The op with documentation in the words of Rust."""
    own = {op.name, *(a.name for a in op.args)}
    args = tuple(replace(arg, doc=words(arg.doc, own)) for arg in op.args)
    return replace(op, doc=words(op.doc, own), notes=words(op.notes, own), args=args)


def _family(title: str, ops: list[Op]) -> str:
    own = [op for op in ops if not is_free(op)]
    macros = sorted({m for op in ops if (m := _macro(op))} | ({"options"} if any(optional(op) for op in ops) else set()))
    text = TEMPLATE(
        "family",
        banner=banner("//", f"{title}."),
        macros=macros[0] if len(macros) == 1 else f"{{{', '.join(macros)}}}",
        options="".join(_options_struct(op) for op in ops if optional(op)),
        methods=TEMPLATE("methods", title=title, methods="\n".join(map(_op, own))) if own else "",
    )
    return text + "".join("\n" + _op(op) for op in ops if is_free(op))


# ---- Options ----


def _borrows(op: Op) -> bool:
    return any(_option(op, a).borrows for a in optional(op))


def _lifetime(op: Op) -> str:
    return f"{options_name(op)}<'a>" if _borrows(op) else options_name(op)


@dataclass(frozen=True)
class Option:
    """One field of an options struct."""

    field: str
    default: str
    setter: str
    value: str
    borrows: bool = False


def _option(op: Op, arg: Arg) -> Option:
    kind, name, given = arg.type, arg.name, arg.default

    def maybe(inner: str, borrows: bool = False) -> Option:
        return Option(f"Option<{inner}>", "None", inner, f"Some({name})", borrows)

    if name in operands(op):
        return Option("Option<Operand<'a>>", "None", "impl Into<Operand<'a>>", f"Some({name}.into())", True)
    if kind.is_list or kind.base in ("tensor", "generator"):
        return maybe("&'a " + {"int64": "[i64]", "f64": "[f64]", "tensor": "Tensor", "generator": "Generator"}[kind.base], True)
    if kind.base == "str":
        return Option("&'a str", WORDS.literal(given), "&'a str", name, True)
    inner = VALUES[kind.base]
    stated = WORDS.literal(float(given) if kind.base == "f64" and given is not None else given)
    if kind.base == "scalar":
        kind_of = "I64" if isinstance(given, int) else "F64"
        return Option(inner, f"Scalar::{kind_of}({stated})", "impl Into<Scalar>", f"{name}.into()")
    if not kind.optional:
        return Option(inner, stated, inner, name)
    if given is None:
        return maybe(inner)
    return Option(f"Option<{inner}>", f"Some({stated})", f"impl Into<Option<{inner}>>", f"{name}.into()")


def _options_struct(op: Op) -> str:
    rows = ""
    for arg in optional(op):
        option = _option(op, arg)
        note = arg.doc or f"`{arg.name}`"
        if option.default != "None":
            note += f"; default: `{_present(option.default)}`"
        elif "absent" not in note:
            note += "; default: absent"
        rows += doc(note, "    ") + f"    {arg.name}: {option.field} = {option.default}, {option.setter} => {option.value};\n"
    return TEMPLATE("options", path=_path(op) + _with(op), name=_lifetime(op), rows=rows)


def _path(op: Op) -> str:
    return rust_name(op) if is_free(op) else f"Tensor::{rust_name(op)}"


def _with(op: Op) -> str:
    return "_with" if "functional" in op.forms else "_"


# ---- Signatures ----


@dataclass(frozen=True)
class Signature:
    generics: list[str]
    params: list[str]


def _signature(op: Op, form: str, with_options: bool, scalar_receiver: bool = False) -> Signature:
    generics = ["'a"] if any(op.arg(n).required and not scalar_receiver for n in operands(op)) else []
    params = ["&self"] if receiver(op) is not None else []
    if scalar_receiver:
        params.append(f"{op.args[0].name}: impl Into<Scalar>")
    for arg in required(op):
        if not (scalar_receiver and arg is op.args[1]):
            params.append(f"{arg.name}: {_param(op, arg)}")
    if form == "out":
        params += [f"{name}: &Tensor" for name in op.places]
    if with_options:
        kind = _lifetime(op)
        generics = ["'a"] if _borrows(op) else generics
        params.append(f"options: impl FnOnce({kind}) -> {kind}")
    return Signature(generics, params)


def _param(op: Op, arg: Arg) -> str:
    return "impl Into<Operand<'a>>" if arg.name in operands(op) else entry(PARAMETERS, arg.type)


def _result(op: Op, form: str) -> str:
    if form == "inplace" and op.returns:
        return "Result<&Self>"
    if form == "out" or not op.returns:
        return "Result<()>"
    if op.returns_list:
        return "Result<Vec<Tensor>>"
    return "Result<Tensor>" if len(op.returns) == 1 else "Result<(" + ", ".join("Tensor" for _ in op.returns) + ")>"


# ---- Rows: the forms of src/forms.rs ----


def _macro(op: Op) -> str:
    """The macro whose row an op is; an empty text for ops with other results or more operands."""
    plain = len(op.returns) == 1 and not op.returns_list and not is_free(op) and "functional" in op.forms
    if not plain or any(a.type.is_tensor_list for a in op.args) or len(operands(op)) > 1:
        return ""
    if not operands(op):
        return "op"
    return "" if optional(op) or receiver(op) is None else "operand_op"


def _row(op: Op, macro: str) -> str:
    """Each form with its functions of C; the first has the head and the arguments, too."""
    name, pad = rust_name(op), STEP * 2
    spelled = f"{name}, {name}_with" if optional(op) else name
    head = fill_call(f"{pad}{spelled}(", _head_parts(op), ") =", len(pad) + 4)
    made = fill_call(f"{pad}{STEP}{_made(op, 'functional')}(", _row_args(op, macro), ")", len(pad) + 8)
    one = f"{head} {made.strip()}"
    forms = [one if max(map(len, one.split("\n"))) <= WIDTH else f"{head}\n{made}"]
    for form, suffix in (("out", "_out"), ("inplace", "_")):
        if form in op.forms:
            forms.append(f"{pad}{form} {name}{suffix} = {_made(op, form)}")
    return TEMPLATE("row", macro=macro, doc=_described(op, pad), forms=",\n".join(forms))


def _made(op: Op, form: str) -> str:
    """The functions of C; one with a number for the receiver has a method of its own."""
    first = op.args[0].name if receiver(op) is not None else ""
    return " | ".join(op.c_name(form, overload) for overload in op.overloads(form) if first not in overload.args)


def _head_parts(op: Op) -> list[str]:
    signature = _signature(op, "functional", False)
    parts = signature.params
    life = "<'a> " if signature.generics or _borrows(op) else ""
    if optional(op):
        parts = [*parts[:-1], f"{parts[-1] if parts else ''}; o: {_lifetime(op)}"]
    return [life + parts[0], *parts[1:]]


def _row_args(op: Op, macro: str) -> list[str]:
    """The arguments of C; an operand stands between semicolons."""
    if macro == "op":
        return c_args(op)
    x = operands(op)[0]
    *before, last = c_args(op, until=x)
    first, *after = c_args(op, behind=x) or [""]
    return [*before, f"{last}; {x}; {first}".rstrip(), *after]


# ---- Functions ----


def _op(op: Op) -> str:
    parts = []
    if macro := _macro(op):
        parts.append(_row(op, macro))
    for form in () if macro else op.forms:
        if form == "functional" and optional(op):
            parts.append(_short(op))
        parts.append(_function(op, form))
    own = receiver(op)
    if own is not None:
        for overload in op.scalar:
            if overload.args == (own.name,) and "functional" in op.forms:
                parts.append(_left(op, overload))
    text = "\n".join(parts)
    return text if not is_free(op) else "\n".join(line.removeprefix("    ") for line in text.split("\n"))


def _described(op: Op, pad: str = "    ") -> str:
    lines = [op.doc]
    if op.notes:
        lines += ["", op.notes]
    listed = [a for a in required(op) if a.doc]
    if listed:
        lines += [""] + [f"- `{a.name}`: {a.doc}" for a in listed]
    text = doc("\n".join(lines).replace("\n- ", "\n\u2022 "), pad).replace("\u2022 ", "* ")
    for alias in filter(None, dict.fromkeys([op.name, op.python.name, *op.python.aliases])):
        if alias != rust_name(op) and alias.rstrip("_") != rust_name(op):
            text += f'{pad}#[doc(alias = "{alias}")]\n'
    return text


def _head(op: Op, name: str, signature: Signature, result: str) -> str:
    generics = f"<{', '.join(signature.generics)}>" if signature.generics else ""
    many = "    #[allow(clippy::too_many_arguments)] // those of the schema\n" if len(signature.params) > 7 else ""
    return many + call(f"pub fn {name}{generics}", signature.params, f" -> {result} {{", "    ") + "\n"


def _short(op: Op) -> str:
    name = rust_name(op)
    signature = _signature(op, "functional", False)
    passed = [a.name for a in required(op)] + ["|o| o"]
    target = name + "_with" if is_free(op) else ("self." if receiver(op) else "Self::") + name + "_with"
    text = _described(op) + "    #[inline]\n" + _head(op, name, signature, _result(op, "functional"))
    return text + call(target, passed, "", "        ") + "\n    }\n"


def _function(op: Op, form: str) -> str:
    base = rust_name(op)
    has_options = bool(optional(op))
    name = {"functional": base + "_with" * has_options, "inplace": base + "_", "out": base + "_out"}[form]
    if form == "functional" and has_options:
        text = f"    /// [`{_path(op)}`] with options.\n"
    elif form == "functional" or op.forms == ("inplace",):
        text = _described(op)
    else:
        places = "`dst`" if len(op.returns) == 1 else "tensors that are there"
        places += ", of the result's shape" if len(op.returns) == 1 else ", of the results' shapes"
        text = f"    /// [`{_path(op)}`], {'in place' if form == 'inplace' else f'written to {places}'}.\n"
    text += "    #[inline]\n" + _head(op, name, _signature(op, form, has_options), _result(op, form))
    if has_options:
        text += f"        let o = options({options_name(op)}::default());\n"
    return text + body(op, form) + "    }\n"


def _left(op: Op, overload: ScalarForm) -> str:
    """A host number where the receiver stands otherwise: `other.subtract_left(1.0)` is 1.0 - other."""
    text = f"    /// [`Tensor::{rust_name(op)}`] of a number and this tensor, in this order.\n    #[inline]\n"
    text += _head(op, rust_name(op) + "_left", _signature(op, "functional", bool(optional(op)), True), "Result<Tensor>")
    if optional(op):
        text += f"        let o = options({options_name(op)}::default());\n"
    return text + left_body(op, overload) + "    }\n"
