# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data._utils.collate: batches from samples, by a table of types that programs may extend."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....._core import TensorBase
from ....._dtypes import float64
from ....._interop import asarray
from .....utils import data as _data
from .....utils.data.collate import stack_arrays, stack_tensors
from ...._tensor import retyped


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """One batch of samples: those of a type in the map by its function, also inside sequences and mappings, which keep their
    types; a tuple becomes a list."""
    first, known = batch[0], collate_fn_map or {}
    kind = type(first)
    made = known.get(kind) or next((known[wanted] for wanted in known if isinstance(first, wanted)), None)
    if made is not None:
        return made(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        found = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        if kind is dict:
            return found
        return _like(first, found, MutableMapping, lambda clone: clone.update(found))
    if not isinstance(first, Sequence):
        raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch)]
    if hasattr(first, "_fields"):
        return kind(*parts)
    if isinstance(first, tuple) or kind is list:
        return parts
    return _like(first, parts, MutableSequence, lambda clone: clone.__setitem__(slice(None), parts))


def _like(first: Any, found: Any, changeable: type, change: Callable[[Any], Any]) -> Any:
    """The results in a container of the samples' type, or as they are if that cannot be made."""
    try:
        if not isinstance(first, changeable):
            return type(first)(found)
        clone = copy.copy(first)
        change(clone)
        return clone
    except TypeError:
        return found


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    if any(not isinstance(sample, TensorBase) for sample in batch):
        raise TypeError("default_collate: expected tensors only after a tensor")
    return retyped(stack_tensors(batch))


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in "SUOV":
        raise TypeError(f"default_collate: batch must contain arrays of numbers; found {batch[0].dtype}")
    return retyped(stack_arrays(batch))


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return retyped(stack_arrays(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return retyped(asarray(list(batch), dtype=float64))


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return retyped(asarray(list(batch)))


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    TensorBase: collate_tensor_fn, np.ndarray: collate_numpy_array_fn, float: collate_float_fn, int: collate_int_fn,
    str: collate_str_fn, bytes: collate_str_fn, (np.bool_, np.number): collate_numpy_scalar_fn,
}  # fmt: skip


def default_collate(batch: Any) -> Any:
    """One batch of samples: tensors, arrays and numbers are stacked, also inside sequences and dicts."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """The data with arrays as tensors; a tuple becomes a list."""
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return [default_convert(item) for item in data]
    if isinstance(data, list):
        return [default_convert(item) for item in data]
    return retyped(_data.default_convert(data))


__all__ = [
    "collate", "collate_float_fn", "collate_int_fn", "collate_numpy_array_fn", "collate_numpy_scalar_fn", "collate_str_fn",
    "collate_tensor_fn", "default_collate", "default_collate_fn_map", "default_convert",
]  # fmt: skip
