# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Julia methods of one op: every form and overload, and their documentation."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from ..literals import Words
from ..schema.model import REQUIRED, Arg, CFunction, DType, Op
from ..schema.types import entry, passed
from ..text import fill_call
from .names import DEFAULTS, EXTRA_KEYWORDS, MIRRORED, NAMES, argument, home, is_keyword, is_position, qualified
from .text import docstring

WIDTH = 92
COMPLEX = {"complex64": "ComplexF32", "complex128": "ComplexF64"}
ANNOTATIONS = {  # by schema type
    "tensor": "::Tensor", "tensor?": "::Union{Nothing,Tensor}", "tensor[]": "::TensorList", "f64[]": "::Numbers", "[]": "::Dimensions",
    "int64": "::Integer", "int64?": "", "f64": "::Real", "f64?": "", "bool": "::Bool", "bool?": "", "dtype": "", "device": "",
    "str": "", "generator": "", "enum": "", "scalar": "::Number", "scalar?": "::Union{Nothing,Number}",
}  # fmt: skip
PASSED = {  # the same types as arguments of C
    "tensor": "{0}", "scalar": "host_number({0})", "tensor[]": ("{0}_list", "length({0}_list)"),
    "[]": ("{0}_list", "list_count({0}_list)"), "int64": "{0}", "int64?": "something({0}, NONE)", "f64": "{0}",
    "f64?": ("something({0}, 0.0)", "{0} !== nothing"), "bool": "{0}", "bool?": "something({0}, -1)",
    "dtype": "dtype_bits({0})", "device": ("device_type({0})", "device_index({0})"),
    "str": ("{0}_text", "sizeof({0}_text)"), "generator": "{0}", "enum": "{0}",
}  # fmt: skip


def julia_dtype(dtype: DType) -> str:
    name = dtype.name
    return COMPLEX.get(name) or {"uint": "UInt", "bflo": "BFlo"}.get(name[:4], name[:4].capitalize()) + name[4:]


WORDS = Words(
    "nothing", julia_dtype, nan="NaN", infinities=("-Inf", "Inf"), pair="complex({}, {})", absent="typemin(Int64)",
    cpu="CPU", fence=("(", ")"), one=",", escaped="$",
)  # fmt: skip


def op_text(op: Op) -> str:
    text, documented = "", {qualified(op) if "functional" in op.forms else qualified(op, bang=True)}
    for function in op.functions:
        name = qualified(op, bang=function.form != "functional")
        if not text:
            text = _documentation(op)
        elif name not in documented:
            plain = qualified(op).split(".")[-1]
            text += f'"Writes the result to its first argument; see [`{plain}`](@ref)."\n'
            documented.add(name)
        text += _method(op, function)
    return text + _mirrored(op) + _mixed(op)


@dataclass
class _Call:
    """How the arguments of one method reach C."""

    positional: list[str] = field(default_factory=list)
    keyword: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)  # lists to preserve during the call
    passed: list[str] = field(default_factory=list)


# ---- Arguments ----


def _argument(op: Op, function: CFunction, arg: Arg, call: _Call) -> None:
    name = argument(op, arg)
    if is_keyword(op, arg):
        default = _default(op, arg, function.form)
        if (op.name, arg.name) in EXTRA_KEYWORDS:
            call.keyword.append(EXTRA_KEYWORDS[op.name, arg.name])
        kind = "::Bool" if arg.type.text == "bool" else ""
        call.keyword.append(f"{name}{kind}" + ("" if default is None else f"={default}"))
    else:
        call.positional.append(f"{name}{entry(ANNOTATIONS, arg.type)}")
    _pass(op, arg, name, call)


def _default(op: Op, arg: Arg, form: str) -> str | None:
    if (op.name, arg.name) in DEFAULTS:
        return DEFAULTS[op.name, arg.name]
    if arg.name == "keepdims" and any(argument(op, other) == "dims" for other in op.args):
        return "keeps(dims)"
    # As sum! of Julia: reduces the axes that have size 1 in the destination.
    if arg.name == "axes" and form == "out" and "." in qualified(op, bang=True) and any(a.name == "keepdims" for a in op.args):
        return "reduced(dst, input)"
    if arg.default is REQUIRED:
        return None
    if not is_position(op, arg):
        return WORDS.literal(arg.default)
    if arg.default is None:
        return "(:)" if arg.name in ("axes", "axis") else "nothing"
    return "nothing" if arg.default < 0 else str(arg.default + 1)


def _pass(op: Op, arg: Arg, name: str, call: _Call) -> None:
    """Adds the C arguments of `name`."""
    kind = arg.type
    if is_position(op, arg) and not kind.is_list:
        negative = arg.default is not REQUIRED and arg.default is not None and arg.default < 0
        call.passed.append(f"zero_based({name}, {arg.default})" if negative else f"zero_based({name})")
    else:
        call.passed += passed(PASSED, kind, name)
    if kind.is_tensor_list:
        call.before.append(f"{name}_list = handles({name})")
        call.keep.append(name)
    elif kind.text == "f64[]":
        call.before.append(f"{name}_list = collect(Float64, {name})")
    elif kind.is_list:
        call.before.append(f"{name}_list = {'zero_based_list' if is_position(op, arg) else 'int_list'}({name})")
    elif kind.base == "str":
        call.before.append(f"{name}_text = String({name})")


# ---- Methods ----


def _outs(op: Op) -> list[str]:
    return ["dst"] if len(op.returns) == 1 else [r.name for r in op.returns]


def _signature(op: Op, function: CFunction, call: _Call, outs: list[str]) -> str:
    # In the forms that write, the number of arguments tells them apart: none may be left out.
    parts = ", ".join([f"{o}::Tensor" for o in outs] + call.positional)
    if call.keyword:
        parts += "; " + ", ".join(call.keyword)
    return f"{qualified(op, bang=function.form != 'functional')}({parts})"


def _method(op: Op, function: CFunction) -> str:
    call = _Call()
    count = len(op.args)
    for arg in function.args[:count]:
        _argument(op, function, arg, call)
    outs = _outs(op) if function.form == "out" else []
    body = _body(op, function, call, outs)
    signature = _signature(op, function, call, outs)
    if not call.before and len(body) == 1 and len(signature) <= WIDTH - 2:
        value = body[0].removeprefix("return ")
        one = f"{signature} = {value}"
        if "\n" not in value:
            return (one if len(one) <= WIDTH else f"{signature} =\n    {value}") + "\n"
    head = _fold(f"function {signature}")
    return head + "\n" + "".join(f"    {line}\n" for line in [*call.before, *body]) + "end\n"


def _fold(head: str) -> str:
    return "\n".join(textwrap.wrap(head, WIDTH, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False))


def _called(call: _Call, head: str, parts: list[str], tail: str = ")") -> str:
    """A call of one of the functions of arguments.jl, which call C."""
    keep = f"GC.@preserve {' '.join(call.keep)} " if call.keep else ""
    head = f"return {keep}{head[7:]}" if head.startswith("return ") else keep + head
    return fill_call(head, parts, tail, indent=8, width=WIDTH - 4)


def _body(op: Op, function: CFunction, call: _Call, outs: list[str]) -> list[str]:
    target, passed = f"C.{function.name}", call.passed
    if function.form == "out" and len(outs) == 1:
        return [_called(call, "return written(", [outs[0], target, *passed])]
    if function.form == "out":
        return [_called(call, f"check({target}(", passed + outs, "))"), f"return ({', '.join(outs)})"]
    if function.form == "inplace":
        return [_called(call, "return changed(", [argument(op, op.args[0]), target, *passed[1:]])]
    if not op.returns:
        return [_called(call, f"check({target}(", passed, "))"), "return nothing"]
    if op.returns_list:
        return [_called(call, "return many(", [target, *passed])]
    if len(op.returns) == 1:
        return [_called(call, "return fresh(", [target, *passed])]
    names = [r.name for r in op.returns]
    lines = [f"{n} = Ref{{tsr_tensor}}()" for n in names]
    lines.append(_called(call, f"check({target}(", passed + names, "))"))
    return [*lines, f"return ({', '.join(f'wrap({n}[])' for n in names)})"]


def _mirrored(op: Op) -> str:
    """`f(number, tensor)` for ops whose C functions take the number on the right only."""
    if op.name not in MIRRORED:
        return ""
    plain = NAMES.get(MIRRORED[op.name], MIRRORED[op.name])
    text = f"{qualified(op)}(input::Number, other::Tensor) = {home(plain)}(other, input)\n"
    if "out" in op.forms:
        bang = qualified(op, bang=True)
        text += f"{bang}(dst::Tensor, input::Number, other::Tensor) = {home(plain + '!')}(dst, other, input)\n"
    return text


def _mixed(op: Op) -> str:
    """What dispatch leaves open between the overloads."""
    text = ""
    name = qualified(op)
    for form in op.scalar:
        if len(form.args) == 2 and op.arg(form.args[0]).type.optional:
            bang = qualified(op, bang=True)
            text += f"{name}(input::Tensor, ::Nothing, ::Nothing) = clone(input)\n"
            text += f"{bang}(input::Tensor, ::Nothing, ::Nothing) = input\n"
            text += f"{bang}(dst::Tensor, input::Tensor, ::Nothing, ::Nothing) = copyto!(dst, input)\n"
    return text


# ---- Documentation ----


def _from_one(text: str) -> str:
    """The axes that a text names count from 0 in the schema: "axis 1", "absent: 0 and 1"."""
    return re.sub(r"\baxis \d+|\babsent: \d+ and \d+", lambda m: re.sub(r"\d+", lambda n: str(int(n[0]) + 1), m[0]), text)


def _documentation(op: Op) -> str:
    positional: list[str] = []
    keyword: list[str] = []
    for arg in op.args:
        name = argument(op, arg)
        (keyword if is_keyword(op, arg) else positional).append(name)
    tail = f"; {', '.join(keyword)}" if keyword else ""
    name = qualified(op).split(".")[-1]
    lines = []
    if "functional" in op.forms:
        lines.append(f"    {name}({', '.join(positional)}{tail})")
    bang = qualified(op, bang=True).split(".")[-1]
    if "inplace" in op.forms:
        lines.append(f"    {bang}({', '.join(positional)}{tail})")
    if "out" in op.forms and not op.returns_list:
        lines.append(f"    {bang}({', '.join(_outs(op) + positional)}{tail})")
    lines.append("")
    body = _from_one(f"{op.doc} {op.notes}".strip())
    lines += textwrap.wrap(body, 92)
    notes = [(argument(op, a), _from_one(a.doc.replace(", negative ones count from the end", ""))) for a in op.args if a.doc]
    lines += [""] if notes else []
    for name_, doc in notes:
        lines += textwrap.wrap(f"- `{name_}`: {doc}", 92, subsequent_indent="  ")
    return docstring(lines)
