# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""From a list of samples to a batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import _ops, _shared
from ..._core import TensorBase
from ..._dtypes import ALL, float32, int64
from ..._errors import ArgumentTypeError, InvalidValueError, ShapeError, TesseraError
from ..._interop import asarray
from . import worker_info

_SHARED_FROM = 1 << 16  # bytes; transport sends less through the pipe


def default_collate(samples: list[Any]) -> Any:
    """Stacks tensors, arrays and numbers, also inside tuples, lists and dicts; text is not changed."""
    first = samples[0]
    if isinstance(first, TensorBase):
        return stack_tensors(samples)
    if isinstance(first, (str, bytes)):  # NumPy's text is this, too
        return samples
    if isinstance(first, (np.ndarray, np.generic)):
        return stack_arrays(samples)
    if isinstance(first, int):
        return asarray(samples)  # bools, int64, or floats if one is among them
    if isinstance(first, float):
        return asarray(samples, dtype=float32)
    if isinstance(first, Mapping):
        return {key: default_collate([s[key] for s in samples]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(part)) for part in zip(*samples)))
    if isinstance(first, (tuple, list)):
        if others := {len(s) for s in samples} - {len(first)}:
            raise InvalidValueError(f"default_collate(): expected {len(first)} parts in each sample, got {min(others)} in one")
        parts = [default_collate(list(part)) for part in zip(*samples)]
        return tuple(parts) if isinstance(first, tuple) else parts
    raise ArgumentTypeError(f"cannot make a batch of {type(first).__name__}; give a collate_fn")


def default_convert(data: Any) -> Any:
    """The data with NumPy's arrays and numbers as tensors."""
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return asarray(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    return type(data)(map(default_convert, data)) if isinstance(data, (list, tuple)) else data


def stack_tensors(samples: Sequence[Any]) -> Any:
    """The samples along a new first axis; in a worker in shared memory, where the loader maps them without a copy."""
    first = samples[0]
    alike = all(s.dtype == first.dtype and not s.requires_grad and s.device.type == "cpu" for s in samples)
    place = _place((len(samples), *first.shape), first.dtype) if alike else None
    return _ops.stack(list(samples), axis=0) if place is None else _ops.stack(list(samples), axis=0, out=place)


def stack_arrays(samples: Sequence[Any]) -> Any:
    arrays = [np.asarray(s) for s in samples]
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape:
            raise ShapeError(f"cannot make a batch of arrays of shapes {first.shape} and {array.shape}; give a collate_fn")
    known = ALL.get(first.dtype.name) if first.dtype.isnative else None
    alike = known is not None and all(a.dtype == first.dtype for a in arrays)
    place = _place((len(arrays), *first.shape), known) if alike else None
    if place is None:
        return asarray(np.stack(arrays))
    np.stack(arrays, out=place.numpy())
    return place


def rows(tensor: Any, indices: Sequence[int]) -> Any:
    """The rows of a tensor with these indices."""
    place = None if tensor.requires_grad else _place((len(indices), *tensor.shape[1:]), tensor.dtype)
    if place is None or tensor.device.type != "cpu" or any(i < 0 for i in indices):
        return tensor[list(indices)]
    return _ops.index_select(tensor, 0, asarray(list(indices), dtype=int64), out=place)


def _place(shape: tuple[int, ...], dtype: Any) -> Any:
    """Shared memory for a batch; None in the main process, for a small batch, and when there is no such memory."""
    if worker_info.current is None or math.prod(shape) * dtype.itemsize < _SHARED_FROM:
        return None
    try:
        return _shared.empty_shared(shape, dtype, recycled=True)
    except TesseraError:
        return None
