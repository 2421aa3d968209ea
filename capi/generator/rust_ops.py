# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The op methods of the safe Rust crate, one file per family.

Required arguments are positional. Optional ones are fields of an options struct with chained
setters, which a closure fills in: `x.sum_with(|o| o.axes(&[1]).keepdims(true))`. The functional form
has a short name for all defaults (`x.sum()`), the in-place form ends in `_`, the form that writes to
a tensor in `_out`. A tensor that may be a number is an `impl Into<Operand>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .model import REQUIRED, Arg, Op, ScalarForm, Schema
from .rust_text import call, camel, doc
from .text import banner

FOLDER = "wrappers/rust/tessera/src/generated/"
RENAMED = {"clone": "deep_clone", "where": "where_cond"}  # Clone::clone retains; a keyword
KINDS = {"bool": "Bool", "i64": "I64", "f64": "F64", "c128": "C128"}
RANKS = ("bool", "i64", "f64", "c128")


def outputs(schema: Schema) -> dict[str, str]:
    families = [d for d in schema.domains if d.ops]
    files = {f"{FOLDER}{d.name}.rs": _family(d.title, list(d.ops)) for d in families}
    text = banner("//", "Dtypes and kinds; op methods by family, and their options.")
    text += "\nmod types;\npub use types::*;\n"
    for domain in families:
        text += f"\nmod {domain.name};\n"
        if any(optional(op) or is_free(op) for op in domain.ops):
            text += f"pub use {domain.name}::*;\n"
    files[FOLDER + "mod.rs"] = text
    return files


def _family(title: str, ops: list[Op]) -> str:
    text = banner("//", f"{title}.") + "use crate::arguments::*;\n"
    text += "".join(_options_struct(op) for op in ops if optional(op))
    methods = "\n".join(_op(op) for op in ops if not is_free(op))
    if methods:
        text += f"\n/// {title}.\nimpl Tensor {{\n{methods}}}\n"
    return text + "".join("\n" + _op(op) for op in ops if is_free(op))


# ---- Names and shapes ----


def rust_name(op: Op) -> str:
    return RENAMED.get(op.name, op.name)


def is_free(op: Op) -> bool:
    """Steps over lists of parameters are functions; everything else belongs to Tensor."""
    return op.python.namespace == "optim.functional"


def receiver(op: Op) -> Arg | None:
    first = op.args[0] if op.args else None
    return first if first is not None and first.type.is_tensor and not first.type.optional else None


def required(op: Op) -> list[Arg]:
    return [a for a in op.args if a.required and a is not receiver(op)]


def optional(op: Op) -> list[Arg]:
    return [a for a in op.args if not a.required]


def options_name(op: Op) -> str:
    return camel(rust_name(op)) + "Options"


def operands(op: Op) -> list[str]:
    """Arguments that may be tensors or host numbers; the receiver never is."""
    own = receiver(op)
    named = {n for form in op.scalar for n in form.args if own is None or n != own.name}
    return [a.name for a in op.args if a.name in named]


def _borrows(op: Op) -> bool:
    return any(_option(op, a).borrows for a in optional(op))


def _lifetime(op: Op) -> str:
    return f"{options_name(op)}<'a>" if _borrows(op) else options_name(op)


# ---- Options ----


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
    some = f"Some({name})"

    def maybe(inner: str, borrows: bool = False, default: str = "None") -> Option:
        return Option(f"Option<{inner}>", default, inner, some, borrows)

    if name in operands(op):
        return Option("Option<Operand<'a>>", "None", "impl Into<Operand<'a>>", f"Some({name}.into())", True)
    if kind.is_list:
        item = {"int64": "i64", "f64": "f64"}[kind.base]
        return maybe(f"&'a [{item}]", True)
    if kind.base == "tensor":
        return maybe("&'a Tensor", True)
    if kind.base == "generator":
        return maybe("&'a Generator", True)
    if kind.base == "str":
        return Option("&'a str", f'"{given}"', "&'a str", name, True)
    plain = {"int64": "i64", "f64": "f64", "bool": "bool", "dtype": "DType", "device": "Device", "scalar": "Scalar"}
    inner = plain[kind.base]
    if not kind.optional:
        return Option(inner, _literal(inner, given), inner, name)
    if given is None:
        return maybe(inner)
    return Option(f"Option<{inner}>", f"Some({_literal(inner, given)})", f"impl Into<Option<{inner}>>", f"{name}.into()")


def _literal(kind: str, value: Any) -> str:
    if kind == "bool":
        return "true" if value else "false"
    return repr(float(value)) if kind == "f64" else str(value)


def _options_struct(op: Op) -> str:
    name, fields = options_name(op), [(a, _option(op, a)) for a in optional(op)]
    life = "<'a>" if _borrows(op) else ""
    natural = all(o.default in ("None", "false", "0", "0.0") for _, o in fields)
    derived = "Clone, Copy, Debug" + ", Default" * natural
    text = f"\n/// Options of [`{_path(op)}{_with(op)}`].\n#[derive({derived})]\npub struct {name}{life} {{\n"
    text += "".join(f"    {a.name}: {o.field},\n" for a, o in fields) + "}\n"
    if not natural:
        text += f"\nimpl Default for {name}{life.replace('a', '_')} {{\n    fn default() -> Self {{\n"
        text += call("Self ", [f"{a.name}: {o.default}" for a, o in fields], "", "        ", "{}")
        text += "\n    }\n}\n"
    text += f"\nimpl{life} {name}{life} {{\n"
    setters = []
    for arg, option in fields:
        unset = "absent" if option.default == "None" else f"`{option.default.removeprefix('Some(').removesuffix(')')}`"
        note = (arg.doc + "; " if arg.doc else f"`{arg.name}`; ") + f"default: {unset}"
        setters.append(
            doc(note, "    ") + f"    #[must_use]\n    pub fn {arg.name}(mut self, {arg.name}: {option.setter}) -> Self {{\n"
            f"        self.{arg.name} = {option.value};\n        self\n    }}\n"
        )
    return text + "\n".join(setters) + "}\n"


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
        outs = ["dst"] if len(op.returns) == 1 else [f"{r.name}_dst" for r in op.returns]
        params += [f"{name}: &Tensor" for name in outs]
    if with_options:
        kind = _lifetime(op)
        generics = ["'a"] if _borrows(op) else generics
        params.append(f"options: impl FnOnce({kind}) -> {kind}")
    return Signature(generics, params)


def _param(op: Op, arg: Arg) -> str:
    kind = arg.type
    if arg.name in operands(op):
        return "impl Into<Operand<'a>>"
    if kind.is_list:
        return {
            "int64": "&[i64]",
            "f64": "&[f64]",
            "tensor": "&[Option<&Tensor>]" if kind.holes else "&[impl Borrow<Tensor>]",
        }[kind.base]
    return {
        "tensor": "&Tensor",
        "int64": "i64",
        "f64": "f64",
        "bool": "bool",
        "str": "&str",
        "dtype": "DType",
        "device": "Device",
        "scalar": "impl Into<Scalar>",
    }[kind.base]


def _result(op: Op, form: str) -> str:
    if form == "inplace" and op.returns:
        return "Result<&Self>"
    if form == "out" or not op.returns:
        return "Result<()>"
    if op.returns_list:
        return "Result<Vec<Tensor>>"
    return "Result<Tensor>" if len(op.returns) == 1 else "Result<(" + ", ".join("Tensor" for _ in op.returns) + ")>"


# ---- Functions ----


def _op(op: Op) -> str:
    parts = []
    for form in op.forms:
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


def _described(op: Op) -> str:
    lines = [op.doc]
    if op.notes:
        lines += ["", op.notes]
    listed = [a for a in required(op) if a.doc]
    if listed:
        lines += [""] + [f"- `{a.name}`: {a.doc}" for a in listed]
    text = doc("\n".join(lines).replace("\n- ", "\n\u2022 "), "    ").replace("\u2022 ", "* ")
    for alias in filter(None, dict.fromkeys([op.name, op.python.name, *op.python.aliases])):
        if alias != rust_name(op) and alias.rstrip("_") != rust_name(op):
            text += f'    #[doc(alias = "{alias}")]\n'
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
        text = f"    /// [`{_path(op)}`], " + ("in place.\n" if form == "inplace" else "written to `dst`.\n")
    if form == "functional" and has_options:
        text = f"    /// [`{_path(op)}`] with options.\n"
    text += "    #[inline]\n" + _head(op, name, _signature(op, form, has_options), _result(op, form))
    if has_options:
        text += f"        let o = options({options_name(op)}::default());\n"
    return text + _body(op, form) + "    }\n"


def _left(op: Op, overload: ScalarForm) -> str:
    """A host number where the receiver stands otherwise: `other.subtract_left(1.0)` is 1.0 - other."""
    first, second = op.args[0], op.args[1]
    text = f"    /// [`Tensor::{rust_name(op)}`] of a number and this tensor, in this order.\n    #[inline]\n"
    text += _head(op, rust_name(op) + "_left", _signature(op, "functional", False, True), "Result<Tensor>")
    text += f"        let {first.name} = {first.name}.into();\n"
    body = _kinds(op, "functional", overload, {first.name: first.name}, "            ", {second.name: "self.raw()"})
    return text + _wrapped(op, "functional", body) + "    }\n"


# ---- Bodies ----


def _c_args(op: Op, scalars: dict[str, str], kind: str | None, overrides: dict[str, str]) -> list[str]:
    """The C arguments; `scalars` maps arguments that are host numbers here to their expression."""
    parts: list[str] = []
    for arg in op.args:
        if arg.name in overrides:
            parts.append(overrides[arg.name])
        elif arg.name in scalars or arg.type.base == "scalar":
            parts += _scalar_args(scalars.get(arg.name, arg.name), kind or "f64", arg.type.optional)
        else:
            parts += _plain_args(op, arg)
    return parts


def _scalar_args(value: str, kind: str, is_optional: bool) -> list[str]:
    if is_optional:
        inner = {"f64": ["f64"], "i64": ["i64"], "bool": ["bool"], "c128": ["re", "im"]}[kind]
        return [f"{value}.map_or(Default::default(), Scalar::{i})" for i in inner] + [f"i32::from({value}.is_some())"]
    return {"f64": [f"{value}.f64()"], "i64": [f"{value}.i64()"], "bool": [f"{value}.bool()"],
            "c128": [f"{value}.re()", f"{value}.im()"]}[kind]


def _plain_args(op: Op, arg: Arg) -> list[str]:
    kind, value = arg.type, arg.name
    if arg is receiver(op):
        return ["self.raw()"]
    if not arg.required:
        return _optional_args(arg, f"o.{value}")
    if kind.is_list and kind.base == "tensor":
        return [f"{value}.as_ptr()", f"count({value}.len())"]
    if kind.is_list:
        return [f"{value}.as_ptr()", f"count({value}.len())"]
    return {
        "tensor": [f"{value}.raw()"],
        "int64": [value],
        "f64": [value],
        "bool": [f"i32::from({value})"],
        "dtype": [f"{value} as i32"],
        "device": [f"{value}.kind as i32", f"{value}.index"],
        "str": [f"{value}.as_ptr().cast()", f"{value}.len() as i64"],
    }[kind.base]


def _optional_args(arg: Arg, value: str) -> list[str]:
    kind = arg.type
    if kind.is_list:
        return [f"list_pointer({value})", f"list_count({value})"]
    if kind.base == "f64" and kind.optional:
        return [f"{value}.unwrap_or(0.0)", f"i32::from({value}.is_some())"]
    if kind.base == "str":
        return [f"{value}.as_ptr().cast()", f"{value}.len() as i64"]
    if kind.base == "device":
        return [f"{value}.map_or(-1, |d| d.kind as i32)", f"{value}.map_or(-1, |d| d.index)"]
    absent = {
        "tensor": f"{value}.map_or(null_mut(), Tensor::raw)",
        "generator": f"{value}.map_or(null_mut(), Generator::raw)",
        "int64": f"{value}.unwrap_or(ABSENT)",
        "bool": f"{value}.map_or(-1, i32::from)",
        "dtype": f"{value}.map_or(-1, |d| d as i32)",
    }
    given = {"int64": value, "f64": value, "bool": f"i32::from({value})", "dtype": f"{value} as i32"}
    return [absent[kind.base] if kind.optional else given[kind.base]]


def _outs(op: Op, form: str) -> list[str]:
    if form == "inplace" or not op.returns:
        return []
    if form == "out":
        return ["dst.raw()"] if len(op.returns) == 1 else [f"{r.name}_dst.raw()" for r in op.returns]
    if op.returns_list:
        return ["out", "capacity", "found"]
    return ["out"] if len(op.returns) == 1 else [f"out{i}" for i in range(len(op.returns))]


def _invoke(op: Op, form: str, kind: str | None, suffix: str, args: list[str], pad: str, tail: str = "") -> str:
    name = "_".join(p for p in ("sys::tsr", op.name, kind, suffix, None if form == "functional" else form) if p)
    return call(name, args + _outs(op, form), tail, pad)


def _kinds(op: Op, form: str, overload: ScalarForm, scalars: dict[str, str], pad: str, overrides: dict[str, str]) -> str:
    """A match over the kind of the host numbers, which calls the overload of that kind."""
    values = list(scalars.values())
    which = f"{values[0]}.kind()" if len(values) == 1 and "Option" not in values[0] else f"widest(&[{', '.join(values)}])"
    text = f"{pad}match {which} {{\n"
    known = [k for k in RANKS if k in op.scalar_kinds]
    for index, kind in enumerate(known):
        below = [r for r in RANKS if RANKS.index(r) <= RANKS.index(kind)]
        if index:
            below = [r for r in below if RANKS.index(r) > RANKS.index(known[index - 1])]
        pattern = " | ".join(f"Kind::{KINDS[r]}" for r in below)
        body = _invoke(op, form, kind, overload.suffix, _c_args(op, scalars, kind, overrides), pad + "        ", "")
        one = body.strip()
        if "\n" not in body and len(f"{pad}    {pattern} => {one},") <= 100:
            text += f"{pad}    {pattern} => {one},\n"
        else:
            text += f"{pad}    {pattern} => {{\n{body}\n{pad}    }}\n"
    if known[-1] != "c128":
        text += f'{pad}    kind => unsupported("{op.name}", kind),\n'
    return text + f"{pad}}}"


def _wrapped(op: Op, form: str, body: str) -> str:
    """Puts the call between what allocates its outs and what judges its status."""
    outs = _outs(op, form)
    maker = "done"
    if form == "functional" and op.returns:
        maker = "many" if op.returns_list else {1: "one", 2: "two"}[len(op.returns)]
        maker += f"(|{', '.join(outs)}| "
    else:
        maker += "("
    if "\n" not in body:
        line = f"        {maker}unsafe {{ {body.strip()} }})"
        text = line if len(line) <= 100 else f"        {maker}unsafe {{\n{body}\n        }})"
    else:
        text = f"        {maker}unsafe {{\n{body}\n        }})"
    if form == "inplace" and op.returns:
        return text + "?;\n        Ok(self)\n"
    return text + "\n"


def _body(op: Op, form: str) -> str:
    text = ""
    for arg in required(op):
        if arg.type.base == "tensor" and arg.type.is_list:
            maker = "sparse_handles" if arg.type.holes else "handles"
            text += f"        let {arg.name} = {maker}({arg.name});\n"
    pad = "            "
    names = operands(op)
    if any(a.type.base == "scalar" for a in op.args):
        scalars = {a.name: (a.name if a.required else f"o.{a.name}") for a in op.args if a.type.base == "scalar"}
        text += "".join(f"        let {a.name} = {a.name}.into();\n" for a in op.args if a.type.base == "scalar" and a.required)
        return text + _wrapped(op, form, _kinds(op, form, ScalarForm(()), scalars, pad, {}))
    if not names:
        return text + _wrapped(op, form, _invoke(op, form, None, "", _c_args(op, {}, None, {}), pad))
    if all(op.arg(n).required for n in names):
        return text + _over_operands(op, form, names, pad)
    return text + _over_optional_operands(op, form, names, pad)


def _over_operands(op: Op, form: str, names: list[str], pad: str) -> str:
    """Every combination of tensor and number that has an overload."""
    text = "".join(f"        let {n} = {n}.into();\n" for n in names)
    rows: list[tuple[tuple[str, ...], ScalarForm | None]] = [((), None)]
    rows += [(o.args, o) for o in op.scalar if set(o.args) <= set(names)]
    which = names[0] if len(names) == 1 else f"({', '.join(names)})"
    body = f"{pad}match {which} {{\n"
    for chosen, overload in rows:
        patterns = [f"Operand::{'Scalar' if n in chosen else 'Tensor'}({n})" for n in names]
        pattern = patterns[0] if len(patterns) == 1 else f"({', '.join(patterns)})"
        if overload is None:
            inner = _invoke(op, form, None, "", _c_args(op, {}, None, {}), pad + "        ")
        else:
            inner = _kinds(op, form, overload, {n: n for n in chosen}, pad + "        ", {})
        one = f"{pad}    {pattern} => {inner.strip()},"
        if "\n" not in inner and len(one) <= 100:
            body += one + "\n"
        elif overload is not None:
            body += f"{pad}    {pattern} => " + "\n".join(
                line.removeprefix("    ") for line in inner.split("\n")
            ).strip() + "\n"
        else:
            body += f"{pad}    {pattern} => {{\n{inner}\n{pad}    }}\n"
    return text + _wrapped(op, form, body + f"{pad}}}")


def _over_optional_operands(op: Op, form: str, names: list[str], pad: str) -> str:
    """All numbers: the scalar overload. Else numbers become tensors of the receiver's dtype."""
    overload = next(o for o in op.scalar if set(o.args) == set(names))
    given = [f"o.{n}" for n in names]
    text = f"        if let Some([{', '.join(names)}]) = numbers([{', '.join(given)}]) {{\n"
    scalars = {n: n for n in names}
    inner = _wrapped(op, form, _kinds(op, form, overload, scalars, pad + "    ", {}).replace(".kind()", ""))
    inner = "\n".join("    " + line if not line.startswith(pad) and line else line for line in inner.rstrip("\n").split("\n"))
    inner = inner if inner.endswith(";") or form == "inplace" else inner
    text += inner + f"\n        }} else {{\n            let [{', '.join(names)}] = tensors([{', '.join(given)}], self)?;\n"
    overrides = {n: f"optional_raw(&{n})" for n in names}
    other = _wrapped(op, form, _invoke(op, form, None, "", _c_args(op, {}, None, overrides), pad + "    "))
    text += "\n".join("    " + line if not line.startswith(pad) and line else line for line in other.rstrip("\n").split("\n"))
    return text + "\n        }\n"
