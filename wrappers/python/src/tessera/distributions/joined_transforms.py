# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Several transforms beside each other along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _ops
from .._errors import ArgumentTypeError, InvalidValueError, ShapeError
from .._tensor import Tensor
from . import constraints
from ._transform import Transform
from ._values import sum_rightmost


def _transforms(tseq: Sequence[Transform], cache_size: int, kind: str) -> list[Transform]:
    for t in tseq:
        if not isinstance(t, Transform):
            raise ArgumentTypeError(f"{kind}: tseq: expected transforms, got {type(t).__name__}")
    return [t.with_cache(cache_size) if cache_size else t for t in tseq]


class StackTransform(Transform):
    """A transform for each item along an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = _transforms(tseq, cache_size, "StackTransform"), dim
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.stack([t.domain for t in self.transforms], dim)
        self.codomain = constraints.stack([t.codomain for t in self.transforms], dim)

    def _each(self, tensor: Tensor, apply: Callable[[Transform, Tensor], Tensor]) -> Tensor:
        if tensor.shape[self.dim] != len(self.transforms):
            raise ShapeError(
                f"StackTransform: expected {len(self.transforms)} items along axis {self.dim}, got shape {tensor.shape}"
            )
        items = _ops.unstack(tensor, self.dim)
        return _ops.stack([apply(t, item) for t, item in zip(self.transforms, items)], self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._each(x, lambda t, item: t(item))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each(y, lambda t, item: t._inv_call(item))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        outputs = iter(_ops.unstack(y, self.dim))
        return self._each(x, lambda t, item: t.log_abs_det_jacobian(item, next(outputs)))

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _same(self, other: Any) -> bool:
        return bool(self.transforms == other.transforms and self.dim == other.dim)

    __hash__ = Transform.__hash__


class CatTransform(Transform):
    """A transform for each part along an axis; `lengths` are those of the parts, 1 if not given."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = _transforms(tseq, cache_size, "CatTransform"), dim
        self.lengths = [1] * len(self.transforms) if lengths is None else [int(n) for n in lengths]
        if len(self.lengths) != len(self.transforms):
            raise InvalidValueError(
                f"CatTransform: lengths: expected {len(self.transforms)} of them, one for each transform, got "
                f"{len(self.lengths)}"
            )
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.cat([t.domain for t in self.transforms], dim, self.lengths)
        self.codomain = constraints.cat([t.codomain for t in self.transforms], dim, self.lengths)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    def _parts(self, tensor: Tensor) -> list[Tensor]:
        if not -tensor.ndim <= self.dim < tensor.ndim or tensor.shape[self.dim] != self.length:
            raise ShapeError(f"CatTransform: expected {self.length} items along axis {self.dim}, got shape {tensor.shape}")
        return list(_ops.split_with_sizes(tensor, self.lengths, self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return _ops.concat([t(part) for t, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.concat([t._inv_call(part) for t, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        event = self.domain.event_dim
        found = [
            sum_rightmost(t.log_abs_det_jacobian(one, two), event - t.domain.event_dim)
            for t, one, two in zip(self.transforms, self._parts(x), self._parts(y))
        ]
        axis = (self.dim if self.dim < 0 else self.dim - x.ndim) + event
        if axis < 0:
            return _ops.concat(found, axis)
        total: Any = sum(found)  # the axis belongs to one event
        result: Tensor = total
        return result

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _same(self, other: Any) -> bool:
        return bool(
            self.transforms == other.transforms and self.dim == other.dim and self.lengths == other.lengths
        )

    __hash__ = Transform.__hash__
