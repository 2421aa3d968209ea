# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the Rust op methods do: choose the C function by which arguments are numbers, and call it."""

from __future__ import annotations

from collections.abc import Callable

from ..schema.model import PLAIN, Arg, Op, ScalarForm
from ..schema.types import passed
from .model import operands, receiver, required, rust_name
from .text import call

# Schema type -> arguments of C, of what a function takes by position and of its options.
REQUIRED = {
    "tensor": "{0}.raw()", "scalar": "&number({0})", "int64": "{0}", "f64": "{0}", "bool": "i32::from({0})", "dtype": "{0} as i32",
    "device": ("{0}.kind as i32", "{0}.index"), "str": ("{0}.as_ptr().cast()", "{0}.len() as i64"),
    "[]": ("{0}.as_ptr()", "count({0}.len())"),
}  # fmt: skip
OPTIONAL = REQUIRED | {
    "scalar": "&{0}.number()",
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
    if not names:
        return text + _judged(op, form, _invoked(op, form, PLAIN), pad)
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
    text = f"{pad}let {number} = {number}.into();\n"
    return text + _judged(op, "functional", _invoked(op, "functional", overload, {tensor: "self.raw()"}), pad)


def _converted(op: Op, arg: Arg, pad: str) -> str:
    if arg.type.base == "tensor" and arg.type.is_list:
        maker = "sparse_handles" if arg.type.holes else "handles"
        return f"{pad}let {arg.name} = {maker}({arg.name});\n"
    if arg.name in operands(op):
        return f"{pad}let {arg.name} = {arg.name}.into();\n"
    if arg.type.base == "scalar" and op.returns_list:  # the call may have to be repeated with more room
        return f"{pad}let {arg.name}: Scalar = {arg.name}.into();\n"
    return ""


# ---- The C arguments ----


def c_args(op: Op, until: str = "", behind: str = "") -> list[str]:
    """Of all arguments, of those before one, or of those behind one."""
    names = [a.name for a in op.args]
    first = names.index(behind) + 1 if behind else 0
    last = names.index(until) if until else len(names)
    parts: list[str] = []
    for arg in op.args[first:last]:
        if arg is receiver(op):
            parts.append("self.raw()")
        else:
            parts += passed(REQUIRED if arg.required else OPTIONAL, arg.type, arg.name if arg.required else f"o.{arg.name}")
    return parts


def _c_args(op: Op, overload: ScalarForm, given: dict[str, str]) -> list[str]:
    """`given` are expressions of arguments that are known to the caller."""
    parts: list[str] = []
    for arg in op.args:
        if arg.name in given:
            parts.append(given[arg.name])
        elif arg.name in overload.args:
            parts.append(f"&{arg.name}.number()")
        elif arg is receiver(op):
            parts.append("self.raw()")
        else:
            parts += passed(REQUIRED if arg.required else OPTIONAL, arg.type, arg.name if arg.required else f"o.{arg.name}")
    return parts


def _outs(op: Op, form: str) -> list[str]:
    if form == "inplace" or not op.returns:
        return []
    if form == "out":
        return [f"{place}.raw()" for place in _places(op).values()]
    if op.returns_list:
        return ["out", "capacity", "found"]
    return ["out"] if len(op.returns) == 1 else [f"out{i}" for i in range(len(op.returns))]


# ---- Calls ----


def _invoked(op: Op, form: str, overload: ScalarForm, given: dict[str, str] | None = None) -> Code:
    args = _c_args(op, overload, given or {}) + _outs(op, form)
    return lambda pad: call("sys::" + op.c_name(form, overload), args, "", pad)


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
        maker = "many" if op.returns_list else ("one", "two", "three", "four")[len(op.returns) - 1]
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


def _by_operands(op: Op, form: str, names: list[str]) -> Code:
    """A match over every combination of tensor and number that has an overload."""
    which = names[0] if len(names) == 1 else f"({', '.join(names)})"
    arms: list[tuple[tuple[str, ...], Code]] = [((), _invoked(op, form, PLAIN))]
    arms += [(overload.args, _invoked(op, form, overload)) for overload in op.scalar if set(overload.args) <= set(names)]

    def code(pad: str) -> str:
        text = f"{pad}match {which} {{\n"
        for numbers, chosen in arms:
            patterns = [f"Operand::{'Scalar' if n in numbers else 'Tensor'}({n})" for n in names]
            pattern = patterns[0] if len(patterns) == 1 else f"({', '.join(patterns)})"
            text += _arm(pattern, chosen, pad + STEP)
        return text + f"{pad}}}"

    return code


def _by_optional_operands(op: Op, form: str, names: list[str], pad: str) -> str:
    """Bounds: all of them numbers, all tensors, or one of each, which are two calls."""
    overload = next(o for o in op.scalar if set(o.args) == set(names))
    listed, given = ", ".join(names), ", ".join(f"o.{n}" for n in names)
    numbers = _invoked(op, form, overload, {n: f"optional_number(&{n})" for n in names})
    tensors = _invoked(op, form, PLAIN, {n: f"{n}.map_or(null_mut(), Tensor::raw)" for n in names})
    inner = pad + STEP * 2
    text = f"{pad}match bounds({given}) {{\n"
    for variant, code in (("Numbers", numbers), ("Tensors", tensors)):
        text += f"{pad}{STEP}Bounds::{variant}({listed}) => {{\n{_judged(op, form, code, inner)}{pad}{STEP}}}\n"
    return f"{text}{pad}{STEP}Bounds::Mixed({listed}) => {{\n{_one_by_one(op, form, names, inner)}{pad}{STEP}}}\n{pad}}}\n"


def _one_by_one(op: Op, form: str, names: list[str], pad: str) -> str:
    """One bound after the other."""
    limited = f"limited(self, {', '.join(names)})"
    if form == "functional":
        return f"{pad}{limited}\n"
    outs = ", ".join(["value.raw()", *_outs(op, form)])
    copied = f"sys::tsr_clone_out({outs})" if form == "out" else "sys::tsr_copy_inplace(self.raw(), value.raw(), 0)"
    return f"{pad}let value = {limited}?;\n{_judged(op, form, lambda inner: inner + copied, pad)}"
