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

from ..schema.model import Arg, Op, ScalarForm, Schema
from ..schema.types import entry
from ..text import banner
from .bodies import body, left_body
from .model import WORDS, is_free, operands, optional, options_name, receiver, required, rust_name
from .text import call, doc

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
    files = {f"{FOLDER}{d.name}.rs": _family(d.title, list(d.ops)) for d in families}
    public = [d.name for d in families if any(optional(op) or is_free(op) for op in d.ops)]
    text = banner("//", "Dtypes and kinds; op methods by family, and their options.")
    text += "mod types;\npub use types::*;\n\n" + "".join(f"mod {d.name};\n" for d in families)
    text += "\n/// Options of the op methods of [`Tensor`](crate::Tensor), and the ops that are functions.\n"
    text += "pub mod ops {\n" + "".join(f"    pub use super::{name}::*;\n" for name in public) + "}\n"
    files[FOLDER + "mod.rs"] = text
    return files


def _family(title: str, ops: list[Op]) -> str:
    text = banner("//", f"{title}.") + "use crate::arguments::*;\n"
    text += "".join(_options_struct(op) for op in ops if optional(op))
    methods = "\n".join(_op(op) for op in ops if not is_free(op))
    if methods:
        text += f"\n/// {title}.\nimpl Tensor {{\n{methods}}}\n"
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
        note = arg.doc or f"`{arg.name}`"
        if option.default != "None":
            note += f"; default: `{_present(option.default)}`"
        elif "absent" not in note:
            note += "; default: absent"
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
    text += _head(op, rust_name(op) + "_left", _signature(op, "functional", False, True), "Result<Tensor>")
    return text + left_body(op, overload) + "    }\n"
