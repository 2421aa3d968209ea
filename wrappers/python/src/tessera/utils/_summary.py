# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""summary: the layers of a module with the shapes, parameters, multiply-adds and memory of a call."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._dtypes import DType, float32
from .._errors import InvalidValueError
from .._tensor import Tensor
from .._modes import no_grad
from ..nn import attention, bags, conv, layers, recurrent
from ..nn.module import Module

__all__ = ["Layer", "Summary", "summary"]

_COLUMNS = ("Layer", "Input", "Output", "Parameters", "Multiply-adds")


@dataclass
class Layer:
    """One call of a module; a module that is called twice has two."""

    name: str  # its path in the summarised module, "" for that module
    kind: str  # the name of its class
    depth: int
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...] = ()
    parameters: int = 0  # its own and those of its children
    trainable: int = 0
    multiply_adds: int = 0  # its own and those of its children
    output_bytes: int = 0
    again: bool = False  # an earlier row has counted its parameters
    leaf: bool = True  # has no children


@dataclass
class Summary:
    """What summary() returns; str() of it is a table."""

    layers: list[Layer] = field(default_factory=list)
    parameters: int = 0
    trainable: int = 0
    parameter_bytes: int = 0
    multiply_adds: int = 0
    input_bytes: int = 0
    output_bytes: int = 0  # of all layers without children: what a forward makes

    @property
    def total_bytes(self) -> int:
        """Inputs, outputs twice (a backward makes gradients of the same sizes), and parameters."""
        return self.input_bytes + 2 * self.output_bytes + self.parameter_bytes

    def _rows(self, depth: int) -> Iterator[tuple[str, ...]]:
        for layer in self.layers:
            if layer.depth > depth:
                continue
            last = layer.name.rpartition(".")[2]
            yield (
                "  " * layer.depth + (f"{layer.kind} ({last})" if last else layer.kind),
                _shapes(layer.inputs),
                _shapes(layer.outputs),
                "(again)" if layer.again else f"{layer.parameters:,}" if layer.parameters else "-",
                f"{layer.multiply_adds:,}" if layer.multiply_adds else "-",
            )

    def table(self, depth: int = 3) -> str:
        """The table, with layers down to a depth."""
        rows = [_COLUMNS, *self._rows(depth)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
        lines = [_line(row, widths) for row in rows]
        rule = "=" * max(sum(widths) + 2 * (len(widths) - 1), 50)
        return "\n".join([rule, lines[0], rule, *lines[1:], rule, *self._totals(), rule])

    def _totals(self) -> list[str]:
        return [
            f"Parameters: {self.parameters:,} ({self.trainable:,} trainable)",
            f"Multiply-adds: {self.multiply_adds:,}",
            f"Inputs: {_megabytes(self.input_bytes)}",
            f"Outputs of a forward and their gradients: {_megabytes(2 * self.output_bytes)}",
            f"Parameters: {_megabytes(self.parameter_bytes)}",
            f"All: {_megabytes(self.total_bytes)}",
        ]

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(width) if column < 3 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths))]
    return "  ".join(cells).rstrip()


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes) or "-"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB"


def _tensors(value: Any) -> list[Tensor]:
    """The tensors in a value of lists, tuples and dictionaries, in order."""
    if isinstance(value, TensorBase):
        return [value]  # type: ignore[list-item]
    if isinstance(value, Mapping):
        value = list(value.values())
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _nbytes(tensors: Sequence[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)


def _own_multiply_adds(module: Module, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> int:
    """The multiply-adds of a call of a module without those of its children: products of matrices and convolutions.
    Other layers count as none."""
    if not inputs or not outputs:
        return 0
    given, made = inputs[0], outputs[0]
    if isinstance(module, layers.Linear):
        return made.numel() * module.weight.shape[1]
    if isinstance(module, bags.Bilinear):
        return made.numel() * math.prod(module.weight.shape[1:])
    if isinstance(module, conv._ConvTranspose):
        return given.numel() * math.prod(module.weight.shape[1:])
    if isinstance(module, conv._Conv):
        return made.numel() * math.prod(module.weight.shape[1:])
    weights = sum(p.numel() for name, p in module.named_parameters(recurse=False) if "weight" in name)
    if isinstance(module, recurrent._Recurrent):
        steps = given.numel() // module.input_size
        return steps * weights
    if isinstance(module, recurrent._Cell):
        return (given.numel() // module.input_size) * weights
    if isinstance(module, attention.MultiheadAttention):
        return _attention_multiply_adds(module, inputs)
    return 0


def _attention_multiply_adds(module: attention.MultiheadAttention, inputs: Sequence[Tensor]) -> int:
    """The projections of query, key, value and result, and the two products of each head."""
    query, key = inputs[0], inputs[1] if len(inputs) > 1 else inputs[0]
    size = query.shape[-1]
    tokens, keys = query.numel() // size, key.numel() // key.shape[-1]
    batch = math.prod(query.shape[:-1]) // query.shape[1 if module.batch_first else 0] if query.ndim == 3 else 1
    products = 2 * (tokens // batch) * (keys // batch) * size * batch
    return tokens * size * size * 2 + keys * key.shape[-1] * size * 2 + products


class _Recorder:
    """Collects a Layer for each call of a module or its children."""

    def __init__(self, module: Module) -> None:
        self.found: list[Layer] = []
        self._open: list[Layer] = []
        self._seen: set[int] = set()
        self._handles = []
        for name, part in module.named_modules():
            self._handles.append(part.register_forward_pre_hook(self._opener(name)))
            self._handles.append(part.register_forward_hook(self._close))

    def _opener(self, name: str) -> Any:
        def begin(module: Module, args: tuple[Any, ...]) -> None:
            parameters = list(module.parameters())
            shapes = tuple(tensor.shape for tensor in _tensors(args))
            layer = Layer(name, type(module).__name__, len(self._open), shapes)
            layer.parameters = sum(p.numel() for p in parameters)
            layer.trainable = sum(p.numel() for p in parameters if p.requires_grad)
            layer.again = id(module) in self._seen and layer.parameters > 0
            layer.leaf = next(iter(module.children()), None) is None
            self._seen.add(id(module))
            self.found.append(layer)
            self._open.append(layer)

        return begin

    def _close(self, module: Module, args: tuple[Any, ...], result: Any) -> None:
        layer, outputs = self._open.pop(), _tensors(result)
        layer.outputs = tuple(tensor.shape for tensor in outputs)
        layer.output_bytes = _nbytes(outputs)
        # A module of ours counts itself and its children; what its children count is not added again.
        own = _own_multiply_adds(module, _tensors(args), outputs)
        layer.multiply_adds = own or layer.multiply_adds
        if self._open:
            self._open[-1].multiply_adds += layer.multiply_adds

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


def _made_inputs(input_size: Any, dtype: DType, module: Module) -> tuple[Tensor, ...]:
    sizes = list(input_size)
    several = bool(sizes) and all(isinstance(size, (tuple, list)) for size in sizes)
    device = next((p.device for p in module.parameters()), None)
    return tuple(_ops.rand(tuple(size), dtype=dtype, device=device) for size in (sizes if several else [sizes]))


def summary(module: Module, *inputs: Any, input_size: Any = None, dtype: DType = float32, **keywords: Any) -> Summary:
    """Calls a module once, without recording, and describes its layers.

    Give the inputs of the call, or `input_size`: a shape with the batch, or a list of shapes, of which random inputs of
    `dtype` are made. The table has for each layer the shapes that go in and out, its parameters, and the multiply-adds of
    its matrix products and convolutions; below it are the totals and the memory that they need. Buffers may change, as in
    any call; in evaluation mode none of the library's layers changes them.
    """
    if (input_size is None) == (not inputs and not keywords):
        raise InvalidValueError("summary(): expected inputs or input_size, got " + ("both" if inputs else "neither"))
    given = inputs if input_size is None else _made_inputs(input_size, dtype, module)
    recorder = _Recorder(module)
    try:
        with no_grad():
            module(*given, **keywords)
    finally:
        recorder.remove()
    parameters = list(module.parameters())
    top = recorder.found[0]
    return Summary(
        layers=recorder.found,
        parameters=top.parameters,
        trainable=top.trainable,
        parameter_bytes=_nbytes(parameters),
        multiply_adds=top.multiply_adds,
        input_bytes=_nbytes(_tensors([given, keywords])),
        output_bytes=sum(layer.output_bytes for layer in recorder.found if layer.leaf),
    )
