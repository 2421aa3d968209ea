# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Invertible functions of tensors, with the logarithm of the determinant by which they stretch volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _ops
from .._creation import broadcast_shapes
from .._errors import ShapeError
from .._tensor import Tensor
from . import constraints
from ._transform import Transform
from ._values import Shape, ShapeLike, Value, clamp_probs, eps_of, shape_of, sum_rightmost, tiny_of
from .distribution import Distribution
from .joined_transforms import CatTransform, StackTransform
from .matrix_transforms import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        self.bijective = all(part.bijective for part in self.parts)
        if self.parts:
            self.domain, self.codomain = self._ends()

    def _ends(self) -> tuple[constraints.Constraint, constraints.Constraint]:
        """Domain and codomain, with as many axes of an event as the widest part needs."""
        parts = self.parts
        before = parts[-1].codomain.event_dim
        for part in reversed(parts):
            before = max(before + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        after = parts[0].domain.event_dim
        for part in parts:
            after = max(after + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(parts[0].domain, before), _widened(parts[-1].codomain, after)

    @property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return _ops.zeros_like(x)
        total: Any = 0.0
        event = self.domain.event_dim
        for number, part in enumerate(self.parts):
            then = y if number + 1 == len(self.parts) else part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, then), event - part.domain.event_dim)
            event += part.codomain.event_dim - part.domain.event_dim
            x = then
        result: Tensor = total
        return result

    def forward_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        for part in self.parts:
            found = part.forward_shape(found)
        return found

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        for part in reversed(self.parts):
            found = part.inverse_shape(found)
        return found

    def _same(self, other: Any) -> bool:
        return bool(self.parts == other.parts)

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


def _widened(constraint: constraints.Constraint, event_dim: int) -> constraints.Constraint:
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


class IndependentTransform(Transform):
    """Another transform, whose last axes of a batch become axes of an event."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: ShapeLike) -> Shape:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        return self.base_transform.inverse_shape(shape)

    def _same(self, other: Any) -> bool:
        count = self.reinterpreted_batch_ndims
        return bool(self.base_transform == other.base_transform and count == other.reinterpreted_batch_ndims)

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Another shape of the last axes."""

    bijective = True

    def __init__(self, in_shape: ShapeLike, out_shape: ShapeLike, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = shape_of(in_shape, "in_shape"), shape_of(out_shape, "out_shape")
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ShapeError(f"ReshapeTransform: expected shapes of the same size, got {self.in_shape} and {self.out_shape}")
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return _ops.reshape(x, self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.reshape(y, self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(_ops.zeros_like(x), len(self.in_shape))

    def forward_shape(self, shape: ShapeLike) -> Shape:
        return _replaced(shape_of(shape, "shape"), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        return _replaced(shape_of(shape, "shape"), self.out_shape, self.in_shape)

    def _same(self, other: Any) -> bool:
        return bool(self.in_shape == other.in_shape and self.out_shape == other.out_shape)

    __hash__ = Transform.__hash__


def _replaced(shape: Shape, old: Shape, new: Shape) -> Shape:
    cut = len(shape) - len(old)
    if cut < 0 or shape[cut:] != old:
        raise ShapeError(f"ReshapeTransform: expected a shape that ends in {old}, got {shape}")
    return shape[:cut] + new


class _Increasing(Transform):
    bijective = True

    @property
    def sign(self) -> Any:
        return 1


class ExpTransform(_Increasing):
    """y = e^x"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return _ops.exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _with_parameters(shape: ShapeLike, *values: Value) -> Shape:
    """The shape that broadcasting with parameters gives."""
    return tuple(broadcast_shapes(shape_of(shape, "shape"), *(v.shape for v in values if isinstance(v, Tensor))))


class PowerTransform(_Increasing):
    """y = x^exponent of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Value, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        return _ops.sign(self.exponent) if isinstance(self.exponent, Tensor) else math.copysign(1, self.exponent)

    def forward_shape(self, shape: ShapeLike) -> Shape:
        return _with_parameters(shape, self.exponent)

    inverse_shape = forward_shape

    def _call(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _ops.log(_ops.abs(self.exponent * y / x))

    def _same(self, other: Any) -> bool:
        return _same_value(self.exponent, other.exponent)

    __hash__ = Transform.__hash__


class SigmoidTransform(_Increasing):
    """y = 1 / (1 + e^-x)"""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        y = _ops.sigmoid(x)
        return _ops.clip(y, tiny_of(y), 1 - eps_of(y))

    def _inverse(self, y: Tensor) -> Tensor:
        inside = _ops.clip(y, tiny_of(y), 1 - eps_of(y))
        return _ops.log(inside) - _ops.log1p(-inside)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -_ops.softplus(-x) - _ops.softplus(x)


class SoftplusTransform(_Increasing):
    """y = log(1 + e^x)"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return _ops.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.log(-_ops.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -_ops.softplus(-x)


class TanhTransform(_Increasing):
    """y = tanh x; near the ends the inverse is only exact with a cache."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return _ops.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)^2) without cancellation
        return 2.0 * (math.log(2.0) - x - _ops.softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; the inverse takes the positive number."""

    codomain = constraints.nonnegative

    def _call(self, x: Tensor) -> Tensor:
        return _ops.abs(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """y = loc + scale x, with `event_dim` axes of an event."""

    bijective = True

    def __init__(self, loc: Value, scale: Value, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        self.domain = self.codomain = _widened(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return _ops.sign(self.scale)
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def forward_shape(self, shape: ShapeLike) -> Shape:
        return _with_parameters(shape, self.loc, self.scale)

    inverse_shape = forward_shape

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            stretch = _ops.log(_ops.abs(self.scale))
        else:
            stretch = _ops.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(_ops.broadcast_to(stretch, x.shape), self.event_dim)

    def _same(self, other: Any) -> bool:
        return _same_value(self.loc, other.loc) and _same_value(self.scale, other.scale)

    __hash__ = Transform.__hash__


def _same_value(one: Value, other: Value) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one is other or (one.shape == other.shape and bool(_ops.all(one == other)))
    return not isinstance(one, Tensor) and not isinstance(other, Tensor) and one == other


class SoftmaxTransform(Transform):
    """Shares from unconstrained numbers; not bijective, because a common summand is lost."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return _ops.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.log(y)


class StickBreakingTransform(Transform):
    """n + 1 shares from n numbers: each breaks its share off what is left of a stick."""

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        z = clamp_probs(_ops.sigmoid(x - self._offset(x)))
        left = _ops.cumulative_prod(1 - z, -1)
        return _ops.pad(z, [0, 1], value=1.0) * _ops.pad(left, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        left = _ops.clip(1 - _ops.cumulative_sum(shares, -1), tiny_of(y))
        return _ops.log(shares) - _ops.log(left) + self._offset(shares)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        z = x - self._offset(x)
        return _ops.sum(-_ops.softplus(z) + _ops.log(y[..., :-1]), -1)

    def _offset(self, x: Tensor) -> Tensor:
        """The logarithms of n, n - 1, ..., 1, so that zeros become equal shares."""
        ones = _ops.ones(x.shape[-1:], dtype=x.dtype, device=x.device)
        return _ops.log(x.shape[-1] + 1 - _ops.cumulative_sum(ones, -1))

    def forward_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        return (*found[:-1], found[-1] + 1)

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        return (*found[:-1], found[-1] - 1)


class CumulativeDistributionTransform(_Increasing):
    """The distribution function of a distribution of single numbers."""

    codomain = constraints.unit_interval

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution
        self.domain = distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def _same(self, other: Any) -> bool:
        return self.distribution is other.distribution

    __hash__ = Transform.__hash__


identity_transform = ComposeTransform([])
