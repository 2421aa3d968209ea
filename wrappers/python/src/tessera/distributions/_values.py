# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the distributions: parameters that broadcast, probabilities and their logarithms, lazy attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, Union, overload

from .. import _ops
from .._dtypes import finfo
from .._errors import ArgumentTypeError, as_int, as_list
from .._tensor import Tensor
from .._variadic import broadcast_tensors
from .._modes import enable_grad

Shape = tuple[int, ...]
ShapeLike = Union[int, Sequence[int]]
Value = Union[Tensor, float]
T = TypeVar("T")


class lazy_property(Generic[T]):
    """An attribute that is computed at its first use, with gradients whatever the mode is, and then kept."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[T] | T:
        if instance is None:
            return self
        with enable_grad():
            value = self.compute(instance)
        instance.__dict__[self.name] = value
        return value


def shape_of(shape: ShapeLike, what: str = "sample_shape") -> Shape:
    """A shape as a tuple of ints."""
    if hasattr(shape, "__index__"):
        return (as_int(shape, what),)
    return tuple(as_int(n, what) for n in as_list(shape, what))


def broadcast_all(*values: Value) -> tuple[Tensor, ...]:
    """The values as tensors of one shape; numbers take dtype and device of the tensors."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    made = []
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ArgumentTypeError(f"expected tensors and numbers as parameters, got {type(value).__name__}")
        if isinstance(value, Tensor):
            made.append(value)
        elif tensors:
            made.append(_ops.full((), float(value), dtype=floating(tensors[0]), device=tensors[0].device))
        else:
            made.append(_ops.full((), float(value)))
    return tuple(broadcast_tensors(*made))


def floating(tensor: Tensor) -> Any:
    """The dtype for results beside the tensor: its own, or the default one beside integers."""
    return tensor.dtype if tensor.dtype.category == "real floating" else None


def as_tensor(value: Value, name: str) -> Tensor:
    return value if isinstance(value, Tensor) else parameter(value, name)


def parameter(value: Value, name: str) -> Tensor:
    """A tensor parameter; a number becomes one without axes."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{name}: expected a tensor or a number, got {type(value).__name__}")
    return _ops.full((), float(value))


def eps_of(tensor: Tensor) -> float:
    return float(finfo(tensor.dtype).eps)


def tiny_of(tensor: Tensor) -> float:
    return float(finfo(tensor.dtype).smallest_normal)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved away from 0 and 1 by one unit of their dtype."""
    return _ops.clip(probs, eps_of(probs), 1 - eps_of(probs))


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    return _ops.sigmoid(logits) if is_binary else _ops.softmax(logits, -1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    inside = clamp_probs(probs)
    return _ops.log(inside) - _ops.log1p(-inside) if is_binary else _ops.log(inside)


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """The sum over the last `count` axes."""
    return value if count == 0 else _ops.sum(value, tuple(range(-count, 0)))


def all_rightmost(value: Tensor, count: int) -> Tensor:
    """Whether all elements of the last `count` axes are true."""
    return value if count == 0 else _ops.all(value, tuple(range(-count, 0)))
