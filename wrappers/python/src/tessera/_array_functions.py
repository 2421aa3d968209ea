# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors (ADR 0038): some have a function of ours that means the same, and give tensors with gradients;
all others compute with arrays on the tensors' memory, and give what they give for arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _ops
from ._core import TensorBase
from ._dtypes import dtype_of
from ._errors import ArgumentTypeError, MemoryAccessError
from ._interop import asarray

def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None, *, keepdims: bool = False, **options: Any) -> Any:
        return function(x, axis, keepdims=keepdims, **options)

    return call


def _ptp(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _ops.amax(x, axis, keepdims=keepdims) - _ops.amin(x, axis, keepdims=keepdims)


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        return function(x, axis, correction=ddof, keepdims=keepdims)

    return call


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(dtype_of(dtype))
        return function(x.reshape(-1), axis=0) if axis is None else function(x, axis=axis)

    return call


def _array_split(x: Any, parts: Any, axis: int = 0) -> list[Any]:
    if isinstance(parts, int):
        return list(_ops.tensor_split_sections(x, parts, axis))
    return list(_ops.tensor_split_at(x, [int(part) for part in parts], axis))


def _split(x: Any, parts: Any, axis: int = 0) -> list[Any]:
    if isinstance(parts, int) and x.shape[axis] % parts:
        raise TypeError("NumPy says what is wrong")
    return _array_split(x, parts, axis)


def _squeeze(x: Any, axis: Any = None) -> Any:
    return _ops.squeeze(x, [i for i, n in enumerate(x.shape) if n == 1] if axis is None else axis)


# The functions of the same meaning. No methods, which differ between Tensor and the class of tessera.torch.
_OURS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _reduction(_ops.sum), np.prod: _reduction(_ops.prod), np.mean: _reduction(_ops.mean),
    np.max: _reduction(_ops.amax), np.amax: _reduction(_ops.amax), np.min: _reduction(_ops.amin), np.amin: _reduction(_ops.amin),
    np.any: _reduction(_ops.any), np.all: _reduction(_ops.all), np.argmax: _reduction(_ops.argmax),
    np.argmin: _reduction(_ops.argmin), np.ptp: _ptp, np.std: _spread(_ops.std), np.var: _spread(_ops.var),
    np.cumsum: _running(_ops.cumulative_sum), np.cumprod: _running(_ops.cumulative_prod), np.nonzero: _ops.nonzero,
    np.clip: _ops.clip, np.flip: _ops.flip, np.repeat: _ops.repeat, np.moveaxis: _ops.moveaxis, np.swapaxes: _ops.swapaxes,
    np.squeeze: _squeeze, np.split: _split, np.array_split: _array_split, np.take_along_axis: _ops.take_along_axis,
    np.shape: lambda x: tuple(x.shape), np.ndim: lambda x: x.ndim, np.size: lambda x: x.numel(),
    np.put_along_axis: np.put_along_axis._implementation,  # type: ignore[attr-defined]  # assigns to x[...]
}  # fmt: skip

# They write into their first argument, whose version would not change.
_WRITERS: frozenset[Callable[..., Any]] = frozenset({np.copyto, np.put, np.place, np.putmask, np.fill_diagonal})


def call(function: Any, types: Iterable[type], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The implementation of __array_function__."""
    if not all(issubclass(kind, (TensorBase, np.ndarray)) for kind in types):
        return NotImplemented
    name = f"np.{function.__name__}"
    if function in _WRITERS and args and isinstance(args[0], TensorBase):
        raise ArgumentTypeError(
            f"{name}(): expected an array to write into, got a Tensor; write t[...] = values, or {name} of tensor.numpy()"
        )
    if isinstance(out := options.get("out"), TensorBase):
        rest = {key: value for key, value in options.items() if key != "out"}
        out.copy_(asarray(call(function, types, args, rest)))
        return out
    if (ours := _OURS.get(function)) is not None:
        try:
            return ours(*args, **options)
        except (TypeError, AttributeError):
            pass  # an argument that only NumPy knows, or a list of tensors
    try:
        plain, named = _arrays(args), _arrays(options)
    except MemoryAccessError as error:
        raise MemoryAccessError(f"{name}(): Tensors have no function that means the same; {error}") from None
    result = function(*plain, **named)
    # Without a tensor among the arguments one was given as like=.
    return result if _has_tensor(args, options) else asarray(result)


def _arrays(value: Any) -> Any:
    """The value with arrays in place of the tensors in it."""
    if isinstance(value, TensorBase):
        return value.numpy()
    if type(value) in (list, tuple):
        return type(value)(_arrays(item) for item in value)
    if type(value) is dict:
        return {key: _arrays(item) for key, item in value.items()}
    return value


def _has_tensor(*values: Any) -> bool:
    return any(
        isinstance(value, TensorBase)
        or (isinstance(value, (list, tuple)) and _has_tensor(*value))
        or (isinstance(value, dict) and _has_tensor(*value.values()))
        for value in values
    )
