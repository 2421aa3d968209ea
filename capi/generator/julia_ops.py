# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Julia methods of one op: every form and overload, and their documentation."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from .julia_names import DEFAULTS, MIRRORED, NAMES, argument, home, is_keyword, is_position, qualified
from .model import REQUIRED, Arg, CFunction, Op, Schema
from .text import wrap_call

SCALARS = {"f64": "Real", "i64": "Integer", "c128": "Complex", "bool": "Bool"}


def op_text(schema: Schema, op: Op) -> str:
    text, documented = "", {qualified(op) if "functional" in op.forms else qualified(op, bang=True)}
    for function in op.functions:
        name = qualified(op, bang=function.form != "functional")
        if not text:
            text = _documentation(op)
        elif name not in documented:
            plain = qualified(op).split(".")[-1]
            text += f'\n"Writes the result to its first argument; see [`{plain}`](@ref)."\n'
            documented.add(name)
        else:
            text += "\n"
        text += _method(schema, op, function)
    return text + _mirrored(op) + _mixed(op)


@dataclass
class _Call:
    """How the arguments of one method reach C."""

    positional: list[str] = field(default_factory=list)
    keyword: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)  # lists to preserve during the call
    passed: list[str] = field(default_factory=list)


def operands(op: Op) -> set[str]:
    """Arguments that may be a tensor or a number: dispatch needs them by position."""
    return {n for form in op.scalar for n in form.args}


# ---- Arguments ----


def _argument(schema: Schema, op: Op, function: CFunction, arg: Arg, call: _Call) -> None:
    name = argument(op, arg)
    annotation = _annotation(function, arg)
    if is_keyword(op, arg, operands(op)):
        default = _default(schema, op, arg)
        call.keyword.append(f"{name}{_keyword_type(arg)}" + ("" if default is None else f"={default}"))
    else:
        call.positional.append(f"{name}{annotation}")
    _pass(op, function, arg, name, call)


def _annotation(function: CFunction, arg: Arg) -> str:
    kind = arg.type
    if kind.base == "scalar":
        number = SCALARS[function.scalar_kind or "f64"]
        return f"::Union{{Nothing,{number}}}" if kind.optional else f"::{number}"
    if kind.base == "tensor":
        if kind.is_list:
            return "::TensorList"
        return "::Union{Nothing,Tensor}" if kind.optional else "::Tensor"
    if kind.is_list:
        return "::Dimensions"
    if kind.optional or kind.base in ("dtype", "device", "generator"):
        return ""
    return {"int64": "::Integer", "f64": "::Real", "bool": "::Bool"}.get(kind.base, "")


def _keyword_type(arg: Arg) -> str:
    return "::Bool" if arg.type.base == "bool" and not arg.type.optional else ""


def _default(schema: Schema, op: Op, arg: Arg) -> str | None:
    if (op.name, arg.name) in DEFAULTS:
        return DEFAULTS[op.name, arg.name]
    if arg.name == "keepdims":
        return "keeps(dims)"
    if arg.default is REQUIRED:
        return None
    if is_position(op, arg):
        if arg.default is None:
            return "(:)" if arg.name in ("axes", "axis") else "nothing"
        return "nothing" if arg.default < 0 else str(arg.default + 1)
    if arg.default is None:
        return "nothing"
    if isinstance(arg.default, bool):
        return str(arg.default).lower()
    if isinstance(arg.default, str):
        return f'"{arg.default}"'
    return repr(arg.default)


def _pass(op: Op, function: CFunction, arg: Arg, name: str, call: _Call) -> None:
    """Adds the C arguments of `name`."""
    kind, add = arg.type, call.passed.append
    if kind.base == "scalar":
        _pass_scalar(function, arg, name, call)
    elif kind.base == "tensor" and kind.is_list:
        call.before.append(f"{name}_list = handles({name})")
        call.keep.append(name)
        call.passed += [f"{name}_list", f"length({name}_list)"]
    elif kind.is_list:
        convert = "zero_based_list" if is_position(op, arg) else "int_list"
        call.before.append(f"{name}_list = {convert}({name})")
        call.passed += [f"{name}_list", f"list_count({name}_list)"]
    elif is_position(op, arg):
        negative = arg.default is not REQUIRED and arg.default is not None and arg.default < 0
        add(f"zero_based({name}, {arg.default})" if negative else f"zero_based({name})")
    elif kind.base == "int64" and kind.optional:
        add(f"something({name}, NONE)")
    elif kind.base == "f64" and kind.optional:
        call.passed += [f"something({name}, 0.0)", f"{name} !== nothing"]
    elif kind.base == "bool" and kind.optional:
        add(f"something({name}, -1)")
    elif kind.base == "dtype":
        add(f"dtype_bits({name})")
    elif kind.base == "device":
        call.passed += [f"device_type({name})", f"device_index({name})"]
    elif kind.base == "str":
        call.before.append(f"{name}_text = String({name})")
        call.passed += [f"{name}_text", f"sizeof({name}_text)"]
    else:
        add(name)


def _pass_scalar(function: CFunction, arg: Arg, name: str, call: _Call) -> None:
    value = f"something({name}, 0)" if arg.type.optional else name
    call.passed += [f"real({value})", f"imag({value})"] if function.scalar_kind == "c128" else [value]
    if arg.type.optional:
        call.passed.append(f"{name} !== nothing")


# ---- Methods ----


def _signature(op: Op, function: CFunction, call: _Call, outs: list[str]) -> str:
    # In the forms that write, the number of arguments tells them apart: none may be left out.
    parts = ", ".join([f"{o}::Tensor" for o in outs] + call.positional)
    if call.keyword:
        parts += "; " + ", ".join(call.keyword)
    return f"{qualified(op, bang=function.form != 'functional')}({parts})"


def _method(schema: Schema, op: Op, function: CFunction) -> str:
    call = _Call()
    count = len(op.args)
    for arg in function.args[:count]:
        _argument(schema, op, function, arg, call)
    outs: list[str] = []
    if function.form == "out":
        outs = ["dst"] if len(op.returns) == 1 else [r.name for r in op.returns]
    lines = list(call.before)
    lines += _body(op, function, call, outs)
    head = f"function {_signature(op, function, call, outs)}"
    if len(head) > 92:
        head = _fold(head)
    return head + "\n" + "".join(f"    {line}\n" for line in lines) + "end\n"


def _fold(head: str) -> str:
    return "\n".join(textwrap.wrap(head, 92, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False))


def _checked(call: _Call, target: str, parts: list[str]) -> str:
    keep = f"GC.@preserve {' '.join(call.keep)} " if call.keep else ""
    return wrap_call(f"{keep}check(C.{target}(", parts, "))", indent=8, width=88)


def _body(op: Op, function: CFunction, call: _Call, outs: list[str]) -> list[str]:
    if function.form != "functional":
        target = outs or [argument(op, op.args[0])]
        result = target[0] if len(target) == 1 else f"({', '.join(target)})"
        return [_checked(call, function.name, call.passed + outs), f"return {result}"]
    if not op.returns:
        return [_checked(call, function.name, call.passed), "return nothing"]
    if op.returns_list:
        parts = ", ".join([*call.passed, "out", "capacity", "found"])
        keep = f"GC.@preserve {' '.join(call.keep)} " if call.keep else ""
        return [f"return {keep}many((out, capacity, found) -> C.{function.name}({parts}))"]
    names = ["out"] if len(op.returns) == 1 else [r.name for r in op.returns]
    lines = [f"{n} = Ref{{tsr_tensor}}()" for n in names]
    lines.append(_checked(call, function.name, call.passed + names))
    wrapped = [f"wrap({n}[])" for n in names]
    return [*lines, f"return {wrapped[0]}" if len(wrapped) == 1 else f"return ({', '.join(wrapped)})"]


def _mirrored(op: Op) -> str:
    """`f(number, tensor)` for ops whose C functions take the number on the right only."""
    if op.name not in MIRRORED:
        return ""
    other = home(NAMES.get(MIRRORED[op.name], MIRRORED[op.name]))
    return f"\n{qualified(op)}(input::Number, other::Tensor) = {other}(other, input)\n"


def _mixed(op: Op) -> str:
    """What dispatch leaves open between the overloads."""
    text = ""
    name = qualified(op)
    for form in op.scalar:
        if len(form.args) == 2 and op.arg(form.args[0]).type.optional:
            bang = qualified(op, bang=True)
            text += f"\n{name}(input::Tensor, ::Nothing, ::Nothing) = clone(input)\n"
            text += f"{bang}(input::Tensor, ::Nothing, ::Nothing) = input\n"
            text += f"{bang}(dst::Tensor, input::Tensor, ::Nothing, ::Nothing) = copyto!(dst, input)\n"
        elif len(form.args) == 2:
            first = ", ".join(f"{a.name}::Tensor" for a in op.args if a.name not in form.args)
            names = ", ".join(a.name for a in op.args if a.name not in form.args)
            a, b = form.args
            text += f"\n{name}({first}, {a}::Number, {b}::Number) = {name}({names}, promote({a}, {b})...)\n"
    return text


# ---- Documentation ----


def _documentation(op: Op) -> str:
    positional, keyword = [], []
    for arg in op.args:
        name = argument(op, arg)
        (keyword if is_keyword(op, arg, operands(op)) else positional).append(name)
    tail = f"; {', '.join(keyword)}" if keyword else ""
    name = qualified(op).split(".")[-1]
    lines = []
    if "functional" in op.forms:
        lines.append(f"    {name}({', '.join(positional)}{tail})")
    bang = qualified(op, bang=True).split(".")[-1]
    if "inplace" in op.forms:
        lines.append(f"    {bang}({', '.join(positional)}{tail})")
    if "out" in op.forms and not op.returns_list:
        outs = ["dst"] if len(op.returns) == 1 else [r.name for r in op.returns]
        lines.append(f"    {bang}({', '.join(outs + positional)}{tail})")
    lines.append("")
    body = f"{op.doc} {op.notes}".strip()
    lines += textwrap.wrap(body, 92)
    notes = [(argument(op, a), a.doc.replace(", negative ones count from the end", "")) for a in op.args if a.doc]
    lines += [""] if notes else []
    for name_, doc in notes:
        lines += textwrap.wrap(f"- `{name_}`: {doc}", 92, subsequent_indent="  ")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"""\n{text}\n"""\n'
