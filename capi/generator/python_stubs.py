# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Type stubs of the Python package: the functions, and the methods of TensorBase."""

from __future__ import annotations

from .model import REQUIRED, Arg, Op, Schema
from .text import banner, wrap_call

IMPORTS = """
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ._device import Device
from ._dtypes import DType
from ._random import Generator
from ._results import {results}
from ._tensor import Tensor
"""
PROPERTIES = """
_T = TypeVar("_T", bound="TensorBase")
table: dict[str, Any]
ffi: Any
lib: Any

class TensorBase:
    def __new__(cls: type[_T], other: TensorBase) -> _T: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def _strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def _offset(self) -> int: ...
    @property
    def _data_address(self) -> int: ...
    @property
    def _contiguous(self) -> bool: ...
    @property
    def _read_only(self) -> bool: ...
    @property
    def _inference(self) -> bool: ...
    @property
    def _view(self) -> bool: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def _dtype_bits(self) -> int: ...
    @property
    def device(self) -> Device: ...
    requires_grad: bool
    grad: Tensor | None
    @property
    def grad_fn(self) -> Any: ...
    @property
    def is_leaf(self) -> bool: ...
    @property
    def retains_grad(self) -> bool: ...
    @property
    def _version(self) -> int: ...
    @property
    def _address(self) -> int: ...
    def item(self) -> Any: ...
    def numpy(self) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
"""
COMPARISONS = {"__eq__", "__ne__"}


def ops_stub(schema: Schema, ops: list[Op]) -> str:
    from .python import _is_function, exports_text, function_names, public_forms

    text = banner("#", "Types of the functions of all ops.") + _imports(ops) + "\n"
    for op in ops:
        for form, name in public_forms(op):
            if _is_function(op, form):
                text += f"def {name}" + _signature(schema, op, form, False) + "\n"
                text += "".join(f"{alias} = {name}\n" for alias in op.python.aliases)
    text += "\n" + exports_text("", [n for n, _ in function_names([o for o in ops if not o.python.namespace])])
    names = sorted({o.python.namespace for o in ops} - {""})
    return text + "".join(f"{n.replace('.', '_').upper()}: list[str]\n" for n in names)


def _imports(ops: list[Op]) -> str:
    return IMPORTS.format(results=", ".join(sorted(result_name(o) for o in ops if len(o.returns) > 1)))


def core_stub(schema: Schema, ops: list[Op]) -> str:
    from .python import _methods, public_forms

    text = banner("#", "Types of the C parts: TensorBase with its methods.") + _imports(ops) + PROPERTIES
    thunks = [(op, form, name) for op in ops for form, name in public_forms(op)]
    for op, form, name in _methods(thunks):
        text += f"    def {name}" + _signature(schema, op, form, True) + "\n"
    for op in ops:
        for dunder in op.python.operator:
            ignore = "  # type: ignore[override]" if dunder in COMPARISONS else ""
            if op.args[1:]:
                text += f"    def {dunder}(self, other: Any, /) -> Tensor: ...{ignore}\n"
            else:
                text += f"    def {dunder}(self) -> Tensor: ...\n"
    return text


def _signature(schema: Schema, op: Op, form: str, method: bool) -> str:
    from .python import parameter_names, positional

    parts, star = [], positional(op)
    for i, arg in enumerate(op.args):
        if i == 0 and method:
            parts.append("self")
            continue
        if i == star and star < len(op.args):
            parts.append("*")
        name = parameter_names(op, arg).split("|")[0]
        default = "" if arg.required else " = ..."
        parts.append(f"{name}: {_type(schema, op, arg)}{default}")
    result = _result(op, form)
    if form == "functional" and "out" in op.forms:
        given = result if len(op.returns) == 1 else f"tuple[{', '.join(['Tensor'] * len(op.returns))}]"
        parts += ([] if "*" in parts else ["*"]) + [f"out: {given} | None = ..."]
    aliased = any("|" in parameter_names(op, a) for a in op.args) or _spreads(op)
    if aliased:
        parts = [p for p in parts if p == "self"] + ["*args: Any", "**kwargs: Any"] if _spreads(op) else [*parts, "**alias: Any"]
    return wrap_call("(", parts, f") -> {result}: ...", indent=8)


def _spreads(op: Op) -> bool:
    from .python import _vararg, positional

    return _vararg(op, positional(op)) >= 0


def _result(op: Op, form: str) -> str:
    if form == "inplace":
        return "Tensor"
    if not op.returns:
        return "None"
    if op.returns_list:
        return "tuple[Tensor, ...]"
    return "Tensor" if len(op.returns) == 1 else result_name(op)


def result_name(op: Op) -> str:
    """The named tuple of an op with several results."""
    return "".join(part.capitalize() for part in op.name.split("_")) + "Result"


def result_types(ops: list[Op]) -> str:
    text = banner("#", "The results of ops that have several, as named tuples.")
    text += "\nfrom __future__ import annotations\n\nfrom typing import TYPE_CHECKING, Any, NamedTuple\n\n"
    text += "if TYPE_CHECKING:\n    from ._tensor import Tensor\n"
    several = [op for op in ops if len(op.returns) > 1]
    for op in several:
        fields = "".join(f"    {r.name}: Tensor\n" for r in op.returns)
        text += f'\n\nclass {result_name(op)}(NamedTuple):\n    """What {op.python.name}() gives."""\n\n{fields}'
    rows = "".join(f'    "{op.name}": {result_name(op)},\n' for op in several)
    return text + f"\n\nRESULTS: dict[str, type[tuple[Any, ...]]] = {{\n{rows}}}\n"


def _type(schema: Schema, op: Op, arg: Arg) -> str:
    from .python import enum_values

    kind = arg.type
    plain = {
        "tensor": "Tensor", "int64": "int", "f64": "float", "scalar": "complex", "bool": "bool", "dtype": "DType | type",
        "device": "Device | str", "str": "str", "generator": "Generator",
    }  # fmt: skip
    if kind.base == "enum":
        text = f"Literal[{', '.join(repr(n) for n, _ in enum_values(schema.enum(str(kind.name))))}]"
    elif kind.is_list:
        item = "Tensor | None" if kind.holes else plain[kind.base]
        text = f"Sequence[{item}]" if kind.base != "int64" else "int | Sequence[int]"
    elif any(arg.name in f.args for f in op.scalar):
        text = "Tensor | complex"
    else:
        text = plain[kind.base]
    absent = kind.optional or (arg.default is None and arg.default is not REQUIRED)
    return text + " | None" if absent else text
