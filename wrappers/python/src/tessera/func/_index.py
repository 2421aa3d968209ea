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


class Plan:
    """How an index of samples becomes one of the batch.

    `key` is the index of the batch. The index arrays share `axes` axes in the result; `there` is where they are in the
    result of the batch (behind the axis of the batch or in place of it), `wanted` where a sample has them.
    """

    def __init__(self, tensor: Any, key: Any) -> None:
        items = _listed(key)
        self.level = level = _level([tensor, *items])
        items = _full(items, rank_of(tensor))
        arrays = [i for i, item in enumerate(items) if is_tensor(item)]
        self.moves: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        own = of_level(tensor, level)
        varying = any(of_level(item, level) for item in items)
        self.batch = physical(tensor) if own else tensor
        if not arrays:
            self.key: tuple[Any, ...] = (slice(None), *items)
            return
        # A number beside index arrays counts as one of them.
        together = [i for i, item in enumerate(items) if is_tensor(item) or _is_number(item)]
        adjacent = together == list(range(together[0], together[-1] + 1))
        axes = max(rank_of(items[i]) if not _is_mask(items[i]) else 1 for i in arrays)
        before = sum(1 for item in items[: together[0]] if not _is_number(item)) if adjacent else 0
        if not varying:
            self.key = (slice(None), *items)
            if not adjacent:  # the axes of the arrays come first, before that of the batch
                self._move(axes, 0)
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
            adjacent = together[0] == 0 and adjacent
            at = 0
        else:
            at = before if adjacent else 0
        self.key = tuple(made)
        # The result has the axis of the batch and then those of the arrays at `at`.
        there = tuple(range(at, at + 1 + axes))
        wanted = (0, *range(1 + before, 1 + before + axes))
        if there != wanted:
            self.moves = (there, wanted)

    def _move(self, place: int, target: int) -> None:
        if place != target:
            self.moves = ((place,), (target,))

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


def _is_mask(item: Any) -> bool:
    return is_tensor(item) and item.dtype.name == "bool"


def getitem(tensor: Any, key: Any) -> Any:
    if not of_any(tensor, key):
        return tensor[key]
    return Plan(tensor, key).get()


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
    Plan(tensor, key).set(value)

