# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tensor[index] and tensor[index] = value where the tensor, the index or the value varies with the samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _interop, _ops
from .._core import TensorBase, arange, is_tensor
from .._errors import NotSupportedError
from ._batched import Batched, make, of_level, physical
from ._dispatch import refuse_write
from ._levels import Level
from ._rules import padded, rank_of


def _level(items: list[Any]) -> Level:
    found = [item._level for item in items if isinstance(item, Batched)]
    return max(found, key=lambda level: level.depth)


def _listed(key: Any) -> list[Any]:
    """The items of an index, with lists and arrays as tensors."""
    items = list(key) if isinstance(key, tuple) else [key]
    for place, item in enumerate(items):
        if isinstance(item, (list, np.ndarray)) and not is_tensor(item):
            if isinstance(item, list) and any(isinstance(i, Batched) for i in item):
                items[place] = _ops.stack([i if is_tensor(i) else _interop.tensor(i) for i in item])
            else:
                items[place] = _interop.to_index(item)
        elif isinstance(item, (bool, np.bool_)):
            items[place] = _interop.to_index(item)
        if isinstance(items[place], Batched) and items[place].dtype.name == "bool":
            raise NotSupportedError(
                "vmap: an index of bools that varies with the samples gives results of different shapes; use where()"
            )
    return items


def _takes(item: Any) -> int:
    """How many axes an item of an index takes."""
    if item is None or item is Ellipsis:
        return 0
    return rank_of(item) if is_tensor(item) and item.dtype.name == "bool" else 1


def _full(items: list[Any], rank: int) -> list[Any]:
    """The index with slices in place of the ellipsis, one item for every axis."""
    rest = [slice(None)] * max(rank - sum(map(_takes, items)), 0)
    place = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return items[:place] + rest + items[place + 1 :]


def _is_dialect(tensor: Any, key: Any) -> bool:
    items = [tensor, *(key if isinstance(key, (tuple, list)) else (key,))]
    return any(getattr(type(item), "_weak_without_axes", False) for item in items)


def _is_single(item: Any) -> bool:
    """Whether an item is a number or a tensor of integers without axes."""
    return _is_number(item) or is_tensor(item) and rank_of(item) == 0 and not _is_mask(item)


def _steps(tensor: Any, key: Any) -> tuple[Any, Any]:
    """In a dialect, the part that the integers of an index select and the rest of the index (Note [Integers before lists] in
    native/indexing.c); else both as they are. Integers that vary with the samples stay: they select no view."""
    items = _full(_listed(key), rank_of(tensor)) if _is_dialect(tensor, key) else []
    taken = [_is_single(item) and not isinstance(item, Batched) for item in items]
    if not any(taken) or not any(is_tensor(item) for item, first in zip(items, taken) if not first):
        return tensor, key
    first: list[Any] = []
    for item, one in zip(items, taken):
        first += [item] if one else [slice(None)] * _takes(item)
    return getitem(tensor, tuple(first)), tuple(item for item, one in zip(items, taken) if not one)


def _place_of_arrays(items: list[Any]) -> int | None:
    """Before which axis of the result those of the index arrays stand; None if the arrays are apart, and theirs come first."""
    places = [i for i, item in enumerate(items) if _is_index(item)]
    if places and places != list(range(places[0], places[-1] + 1)):
        return None
    return sum(1 for item in items[: places[0] if places else 0] if not _is_number(item))


class Plan:
    """How an index of samples becomes one of the batch.

    `key` is the index of the batch. The index arrays share `axes` axes in the result; `there` is where they are in the
    result of the batch (behind the axis of the batch or in place of it), `wanted` where a sample has them.
    """

    def __init__(self, tensor: Any, key: Any) -> None:
        items = _listed(key)
        self.level = level = _level([tensor, *items])
        dialect = _is_dialect(tensor, items)
        # Outside dialects an ellipsis separates the indices beside it, also if it takes no axes.
        mark = next((place for place, item in enumerate(items) if item is Ellipsis and not dialect), 0)
        divided = any(map(_is_index, items[:mark])) and any(map(_is_index, items[mark:]))
        items = _full(items, rank_of(tensor))
        arrays = [i for i, item in enumerate(items) if is_tensor(item)]
        self.moves: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        own = of_level(tensor, level)
        varying = any(of_level(item, level) for item in items)
        self.batch = physical(tensor) if own else tensor
        if not arrays:
            self.key: tuple[Any, ...] = (slice(None), *items)
            return
        axes = max(rank_of(items[i]) if not _is_mask(items[i]) else 1 for i in arrays)
        # A number beside index arrays counts as one of them, but in a dialect.
        own_items = [item for item in items if not (dialect and _is_single(item))]
        batch_items = [item for item in items if not (dialect and _is_single(item)) or of_level(item, level)]
        at = _place_of_arrays(batch_items)
        before = 0 if divided else _place_of_arrays(own_items) or 0
        if not varying:
            self.key = (slice(None), *items)
            if at is None:  # the axes of the arrays come before that of the batch
                self._move((axes,), (0,))
            else:
                self._move(tuple(range(1 + at, 1 + at + axes)), tuple(range(1 + before, 1 + before + axes)))
            return
        made: list[Any] = []
        for item in items:
            if of_level(item, level):
                made.append(padded(physical(item), axes))
            else:
                made.append(item)
        if own:
            rows = arange(0, level.samples, 1, None, None)
            made.insert(0, _ops.reshape(rows, (level.samples, *(1,) * axes)))
        self.key = tuple(made)
        # The axis of the batch is the first of those of the arrays.
        start = 0 if own or at is None else at
        self._move(tuple(range(start, start + 1 + axes)), (0, *range(1 + before, 1 + before + axes)))

    def _move(self, there: tuple[int, ...], wanted: tuple[int, ...]) -> None:
        if there != wanted:
            self.moves = (there, wanted)

    def get(self) -> Any:
        result = self.batch[self.key]
        if self.moves is not None:
            result = _ops.moveaxis(result, *self.moves)
        return make(result, self.level)

    def fitted(self, value: Any) -> Any:
        """A value as the batch takes it at the index."""
        if not of_level(value, self.level):
            if self.moves is None or not is_tensor(value) or rank_of(value) == 0:
                return value
            value = _ops.expand(value, (self.level.samples, *value.shape))
        else:
            value = physical(value)
        value = padded(value, self.batch[self.key].ndim - 1)
        return value if self.moves is None else _ops.moveaxis(value, self.moves[1], self.moves[0])

    def set(self, value: Any) -> None:
        self.batch[self.key] = self.fitted(value)


def _is_number(item: Any) -> bool:
    return hasattr(item, "__index__") and not isinstance(item, (TensorBase, bool, np.bool_))


def _is_index(item: Any) -> bool:
    """Whether an item counts as an index array beside others."""
    return is_tensor(item) or _is_number(item)


def _is_mask(item: Any) -> bool:
    return is_tensor(item) and item.dtype.name == "bool"


def getitem(tensor: Any, key: Any) -> Any:
    if not of_any(tensor, key):
        return tensor[key]
    tensor, key = _steps(tensor, key)
    return Plan(tensor, key).get() if of_any(tensor, key) else tensor[key]


def of_any(tensor: Any, key: Any) -> bool:
    items = key if isinstance(key, (tuple, list)) else (key,)
    return isinstance(tensor, Batched) or any(
        isinstance(item, Batched) or isinstance(item, list) and any(isinstance(i, Batched) for i in item) for item in items
    )


def setitem(tensor: Any, key: Any, value: Any) -> None:
    items = _listed(key)
    level = _level([tensor, value, *items])
    if not of_level(tensor, level):
        refuse_write("tensor[index] = value")
    if isinstance(value, (list, np.ndarray)):
        value = _interop.tensor(value, dtype=tensor.dtype)
    Plan(*_steps(tensor, key)).set(value)

