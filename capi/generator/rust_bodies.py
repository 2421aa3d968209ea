# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the Rust op methods do: choose the C function by the kinds of their arguments, and call it."""

from __future__ import annotations

from collections.abc import Callable

from .model import PLAIN, Arg, Op, ScalarForm
from .rust_model import operands, optional, receiver, required, rust_name
from .rust_text import call
from .types import passed

KINDS = {"bool": "Bool", "i64": "I64", "f64": "F64", "c128": "C128"}  # the widest last
PARTS = {"bool": ["bool"], "i64": ["i64"], "f64": ["f64"], "c128": ["re", "im"]}
# Schema type -> arguments of C, of what a function takes by position and of its options.
REQUIRED = {
    "tensor": "{0}.raw()", "int64": "{0}", "f64": "{0}", "bool": "i32::from({0})", "dtype": "{0} as i32",
    "device": ("{0}.kind as i32", "{0}.index"), "str": ("{0}.as_ptr().cast()", "{0}.len() as i64"),
    "[]": ("{0}.as_ptr()", "count({0}.len())"),
}  # fmt: skip
OPTIONAL = REQUIRED | {
    "tensor": "{0}.map_or(null_mut(), Tensor::raw)",
    "generator": "{0}.map_or(null_mut(), Generator::raw)",
    "int64?": "{0}.unwrap_or(ABSENT)",
    "f64?": ("{0}.unwrap_or(0.0)", "i32::from({0}.is_some())"),
    "bool?": "{0}.map_or(-1, i32::from)",
    "dtype?": "{0}.map_or(-1, |d| d as i32)",
    "device": ("{0}.map_or(-1, |d| d.kind as i32)", "{0}.map_or(-1, |d| d.index)"),
    "[]": ("list_pointer({0})", "list_count({0})"),
}
WIDTH = 100
STEP = "    "
Code = Callable[[str], str]  # indentation -> text


def body(op: Op, form: str) -> str:
    """The statements of one form, after its options were read to `o`."""
    pad = STEP * 2
    text = "".join(_converted(op, arg, pad) for arg in required(op))
    if form == "out":
        text += "".join(f"{pad}let {place} = place_of({name})?;\n" for name, place in _places(op).items())
    names = operands(op)
    scalars = {a.name: f"o.{a.name}" if a in optional(op) else a.name for a in op.args if a.type.base == "scalar"}
    if scalars:
        return text + _judged(op, form, _by_kind(op, form, PLAIN, scalars), pad)
    if not names:
        return text + _judged(op, form, _invoked(op, form, None, PLAIN, {}), pad)
    if all(op.arg(n).required for n in names):
        return text + _judged(op, form, _by_operands(op, form, names), pad)
    return text + _by_optional_operands(op, form, names, pad)


def _places(op: Op) -> dict[str, str]:
    """Where the results go, by the argument that they are for."""
    return {name: name.removesuffix("dst") + "place" for name in op.places}


def left_body(op: Op, overload: ScalarForm) -> str:
    """A host number stands where the receiver stands otherwise, which is the second argument then."""
    number, tensor = op.args[0].name, op.args[1].name
    pad = STEP * 2
    chosen = _by_kind(op, "functional", overload, {number: number}, {tensor: "self.raw()"})
    text = f"{pad}let {number} = {number}.into();\n"
    if _lifts(op):
        text += f"{pad}if let Some({number}) = truth({number}, self)? {{\n"
        text += f"{pad}{STEP}return {number}.{rust_name(op)}(self);\n{pad}}}\n"
    return text + _judged(op, "functional", chosen, pad)


def _lifts(op: Op) -> bool:
    """Whether a truth value beside bools goes in as a tensor: the op has no form for it, and as an
    integer it would make integers of the bools."""
    binary = op.kernel is not None and op.kernel.family == "binary"
    return binary and "bool" not in op.scalar_kinds and bool(operands(op))


def _converted(op: Op, arg: Arg, pad: str) -> str:
    if arg.type.base == "tensor" and arg.type.is_list:
        maker = "sparse_handles" if arg.type.holes else "handles"
        return f"{pad}let {arg.name} = {maker}({arg.name});\n"
    if arg.name in operands(op) and _lifts(op):
        return f"{pad}let mut room = None;\n{pad}let {arg.name} = lifted({arg.name}.into(), self, &mut room)?;\n"
    if arg.type.base == "scalar" or arg.name in operands(op):
        return f"{pad}let {arg.name} = {arg.name}.into();\n"
    return ""


# ---- The C arguments ----


def _c_args(op: Op, scalars: dict[str, str], kind: str | None, given: dict[str, str]) -> list[str]:
    """`scalars` are the expressions of arguments that are host numbers here, `given` those of others."""
    parts: list[str] = []
    for arg in op.args:
        if arg.name in given:
            parts.append(given[arg.name])
        elif arg.name in scalars:
            parts += _scalar_args(scalars[arg.name], kind or "f64", arg.type.optional)
        elif arg is receiver(op):
            parts.append("self.raw()")
        else:
            parts += passed(REQUIRED if arg.required else OPTIONAL, arg.type, arg.name if arg.required else f"o.{arg.name}")
    return parts


def _scalar_args(value: str, kind: str, is_optional: bool) -> list[str]:
    if not is_optional:
        return [f"{value}.{part}()" for part in PARTS[kind]]
    parts = [f"{value}.map_or(Default::default(), Scalar::{part})" for part in PARTS[kind]]
    return [*parts, f"i32::from({value}.is_some())"]


def _outs(op: Op, form: str) -> list[str]:
    if form == "inplace" or not op.returns:
        return []
    if form == "out":
        return [f"{place}.raw()" for place in _places(op).values()]
    if op.returns_list:
        return ["out", "capacity", "found"]
    return ["out"] if len(op.returns) == 1 else [f"out{i}" for i in range(len(op.returns))]


# ---- Calls ----


def _invoked(
    op: Op, form: str, kind: str | None, overload: ScalarForm, scalars: dict[str, str], given: dict[str, str] | None = None
) -> Code:  # fmt: skip
    args = _c_args(op, scalars, kind, given or {}) + _outs(op, form)
    return lambda pad: call("sys::" + op.c_name(form, kind, overload), args, "", pad)


def _judged(op: Op, form: str, code: Code, pad: str) -> str:
    """The call, between what makes room for its results and what judges its status."""
    if form == "out":
        inner = code(pad + STEP)
        text = f"{pad}let status = unsafe {{ {inner.strip()} }};"
        if "\n" in inner or len(text) > WIDTH:
            text = f"{pad}let status = unsafe {{\n{inner}\n{pad}}};"
        pairs = [f"({name}, &{place})" for name, place in _places(op).items()]
        judged = call("written", [f'"{rust_name(op)}_out"', "status", f"&[{', '.join(pairs)}]"], "", pad)
        return f"{text}\n{judged}\n"
    head = "done("
    if form == "functional" and op.returns:
        maker = "many" if op.returns_list else {1: "one", 2: "two"}[len(op.returns)]
        head = f"{maker}(|{', '.join(_outs(op, form))}| "
    inner = code(pad + STEP)
    text = f"{pad}{head}unsafe {{ {inner.strip()} }})"
    if "\n" in inner or len(text) > WIDTH:
        text = f"{pad}{head}unsafe {{\n{inner}\n{pad}}})"
    return text + (f"?;\n{pad}Ok(self)\n" if form == "inplace" and op.returns else "\n")


def _arm(pattern: str, code: Code, pad: str) -> str:
    """One arm of a match: a line, a nested match, or a block."""
    line = f"{pad}{pattern} => {code(pad).strip()}"
    if "\n" not in line and len(line) < WIDTH:
        return line + ",\n"
    if code(pad).strip().startswith("match "):
        return line + "\n"
    return f"{pad}{pattern} => {{\n{code(pad + STEP)}\n{pad}}}\n"


def _by_kind(
    op: Op, form: str, overload: ScalarForm, scalars: dict[str, str], given: dict[str, str] | None = None
) -> Code:
    """A match over the kind of the host numbers. One that the op lacks goes to the next wider one."""
    values = list(scalars.values())
    is_plain = len(values) == 1 and not op.arg(next(iter(scalars))).type.optional
    which = f"{values[0]}.kind()" if is_plain else f"widest(&[{', '.join(values)}])"

    def code(pad: str) -> str:
        text, narrower = f"{pad}match {which} {{\n", []
        for kind, spelled in KINDS.items():
            narrower.append(f"Kind::{spelled}")
            if kind in op.scalar_kinds:
                chosen = _invoked(op, form, kind, overload, scalars, given)
                text += _arm(" | ".join(narrower), chosen, pad + STEP)
                narrower = []
        if narrower:
            text += f'{pad}{STEP}kind => unsupported("{op.name}", kind),\n'
        return text + f"{pad}}}"

    return code


def _by_operands(op: Op, form: str, names: list[str]) -> Code:
    """A match over every combination of tensor and number that has an overload."""
    which = names[0] if len(names) == 1 else f"({', '.join(names)})"
    arms: list[tuple[tuple[str, ...], Code]] = [((), _invoked(op, form, None, PLAIN, {}))]
    for overload in op.scalar:
        if set(overload.args) <= set(names):
            arms.append((overload.args, _by_kind(op, form, overload, {n: n for n in overload.args})))

    def code(pad: str) -> str:
        text = f"{pad}match {which} {{\n"
        for numbers, chosen in arms:
            patterns = [f"Operand::{'Scalar' if n in numbers else 'Tensor'}({n})" for n in names]
            pattern = patterns[0] if len(patterns) == 1 else f"({', '.join(patterns)})"
            text += _arm(pattern, chosen, pad + STEP)
        return text + f"{pad}}}"

    return code


def _by_optional_operands(op: Op, form: str, names: list[str], pad: str) -> str:
    """All of them numbers: the overload. Else numbers become tensors of the receiver's dtype."""
    overload = next(o for o in op.scalar if set(o.args) == set(names))
    listed, given = ", ".join(names), ", ".join(f"o.{n}" for n in names)
    numbers = _by_kind(op, form, overload, {n: n for n in names})
    tensors = _invoked(op, form, None, PLAIN, {}, {n: f"optional_raw(&{n})" for n in names})
    return (
        f"{pad}if let Some([{listed}]) = numbers([{given}]) {{\n{_judged(op, form, numbers, pad + STEP)}"
        f"{pad}}} else {{\n{pad}{STEP}let [{listed}] = tensors([{given}], self)?;\n"
        f"{_judged(op, form, tensors, pad + STEP)}{pad}}}\n"
    )
