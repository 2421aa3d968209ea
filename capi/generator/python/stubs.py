# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Type stubs of the Python package: the functions, and the methods of TensorBase."""

from __future__ import annotations

import textwrap

from ..schema.model import Arg, Op, Schema
from ..schema.types import entry
from ..template import Template
from ..text import banner, fill_call
from .model import (
    creates, enum_values, exports, exports_name, functions, methods, namespaces, operands, parameter_names, positional,
    spread,
)  # fmt: skip

TEMPLATE = Template(__file__, "stubs.pyi.in")
TYPES = {  # by schema type
    "tensor": "Tensor", "int64": "int", "f64": "float", "scalar": "_Complex", "bool": "bool", "dtype": "DType | type",
    "device": "Device | str", "str": "str", "generator": "Generator", "tensor[]": "Sequence[Tensor]",
    "tensor?[]": "Sequence[Tensor | None]", "int64[]": "int | Sequence[int]", "f64[]": "Sequence[float]",
}  # fmt: skip
COMPARISONS = {"__eq__", "__ne__"}


def ops_stub(schema: Schema, ops: list[Op]) -> str:
    text = banner("#", "Types of the functions of all ops.") + _imports(ops) + "\n"
    for op, form, name in functions(ops):
        text += _definitions(schema, op, form, name, False)
        text += "".join(f"{alias} = {name}\n" for alias in op.python.aliases)
    text += "\n" + exports("", ops)
    return text + "".join(f"{exports_name(n)}: list[str]\n" for n in namespaces(ops) if n)


def _imports(ops: list[Op]) -> str:
    names = ", ".join(sorted(o.result_name for o in ops if len(o.returns) > 1)) + ","
    return TEMPLATE("imports", results=textwrap.fill(names, 118, initial_indent="    ", subsequent_indent="    "))


def core_stub(schema: Schema, ops: list[Op]) -> str:
    text = banner("#", "Types of the C parts: TensorBase with its methods.") + _imports(ops) + TEMPLATE("core")
    for op, form, name in methods(ops):
        text += _definitions(schema, op, form, name, True, "    ")
    for op in ops:
        for dunder in op.python.operator:
            ignore = "  # type: ignore[override]" if dunder in COMPARISONS else ""
            if op.args[1:]:
                text += f"    def {dunder}(self, other: {_operand(op, dunder)}, /) -> Tensor: ...{ignore}\n"
            else:
                text += f"    def {dunder}(self) -> Tensor: ...\n"
    return text


def _operand(op: Op, dunder: str) -> str:
    """What stands on the other side of an operator."""
    if dunder in COMPARISONS:
        return "Any"
    if not op.scalar:
        return "Tensor | _Array"
    reflected = dunder.startswith("__r") and f"__{dunder[3:]}" in op.python.operator
    return "_Complex" if reflected else "_Operand"


def _definitions(schema: Schema, op: Op, form: str, name: str, method: bool, pad: str = "") -> str:
    """One definition, or one overload for each way to write the call."""
    result = _result(op, form)
    ways = [_plainly(schema, op, form, method)]
    if any(arg.required and parameter_names(op, arg)[1:] for arg in op.args):
        ways.append(_by_other_names(schema, op, form, method))
    if spread(op) >= 0:
        ways.append(_spreading(schema, op, form, method, spread(op)))
    mark = f"{pad}@overload\n" if len(ways) > 1 else ""
    text = ""
    for parts in ways:
        text += mark + fill_call(f"{pad}def {name}(", parts, f") -> {result}: ...", len(pad) + 8) + "\n"
    return text


def _plainly(schema: Schema, op: Op, form: str, method: bool) -> list[str]:
    """Every argument in its place under its first name; optional ones also under their other names."""
    parts, more, star = [], [], positional(op)
    for i, arg in enumerate(op.args):
        if i == star:
            parts.append("*")
        parts.append(_parameter(schema, op, form, arg, method and i == 0))
        if not arg.required:
            more += _under_other_names(schema, op, form, arg)
    return _with_keywords(parts, [*_out(op, form), *more])


def _by_other_names(schema: Schema, op: Op, form: str, method: bool) -> list[str]:
    """What stands before the first required argument of several names in place, the rest by name."""
    parts: list[str] = []
    keywords: list[str] = []
    for i, arg in enumerate(op.args):
        others = _under_other_names(schema, op, form, arg)
        if keywords or (arg.required and others):
            keywords += ([] if arg.required and others else [_parameter(schema, op, form, arg, False)]) + others
        else:
            parts.append(_parameter(schema, op, form, arg, method and i == 0))
    return _with_keywords(parts, [*keywords, *_out(op, form)])


def _spreading(schema: Schema, op: Op, form: str, method: bool, place: int) -> list[str]:
    """reshape(x, 2, 3): the numbers of a list one by one."""
    parts = [_parameter(schema, op, form, arg, method and i == 0) for i, arg in enumerate(op.args[:place])]
    parts.append(f"*{parameter_names(op, op.args[place])[0]}: int")
    return [*parts, *(_parameter(schema, op, form, arg, False) for arg in op.args[place + 1 :]), *_out(op, form)]


def _with_keywords(parts: list[str], keywords: list[str]) -> list[str]:
    star = [] if not keywords or "*" in parts else ["*"]
    return [*parts, *star, *keywords]


def _out(op: Op, form: str) -> list[str]:
    if creates(op, form):
        return ["requires_grad: bool = ..."]
    if form != "functional" or "out" not in op.forms:
        return []
    given = "Tensor" if len(op.returns) == 1 else f"tuple[{', '.join(['Tensor'] * len(op.returns))}]"
    return [f"out: {given} | None = ..."]


def _parameter(schema: Schema, op: Op, form: str, arg: Arg, is_self: bool) -> str:
    default = "" if arg.required else " = ..."
    return "self" if is_self else f"{parameter_names(op, arg)[0]}: {_type(schema, op, form, arg)}{default}"


def _under_other_names(schema: Schema, op: Op, form: str, arg: Arg) -> list[str]:
    return [f"{name}: {_type(schema, op, form, arg)} = ..." for name in parameter_names(op, arg)[1:]]


def _result(op: Op, form: str) -> str:
    if form == "inplace":
        return "Tensor"
    if not op.returns:
        return "None"
    if op.returns_list:
        return "tuple[Tensor, ...]"
    return "Tensor" if len(op.returns) == 1 else op.result_name


def result_types(ops: list[Op]) -> str:
    several = [op for op in ops if len(op.returns) > 1]
    classes = ""
    for op in several:
        names = op.python.fields or tuple(r.name for r in op.returns)
        fields = "".join(f"    {name}: Tensor\n" for name in names)
        classes += TEMPLATE("result", name=op.result_name, function=op.python.name, fields=fields)
    return TEMPLATE(
        "results",
        banner=banner("#", "The results of ops that have several, as named tuples."),
        classes=classes,
        rows="".join(f'    "{op.name}": {op.result_name},\n' for op in several),
    )


def _type(schema: Schema, op: Op, form: str, arg: Arg) -> str:
    if arg.type.base == "enum":
        text = f"Literal[{', '.join(repr(n) for n, _ in enum_values(schema.enum(str(arg.type.name))))}]"
    else:
        text = "Tensor | _Complex" if arg.name in operands(op, form) else entry(TYPES, arg.type)
        if arg.name == "padding" and any(a.name == "same" for a in op.args):
            text += ' | Literal["same", "valid"]'
    return text + " | None" if arg.type.optional or arg.default is None else text
