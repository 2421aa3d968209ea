# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions made of others: Independent, TransformedDistribution and LogNormal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops
from .._errors import ArgumentTypeError, NotSupportedError, ShapeError
from .._tensor import Tensor
from .._modes import no_grad
from . import constraints
from ._values import ShapeLike, Value, shape_of, sum_rightmost
from .distribution import Distribution
from .normal import Normal
from .transforms import ComposeTransform, ExpTransform, IndependentTransform, Transform, _widened


class Independent(Distribution):
    """Another distribution, whose last axes of the batch are axes of one value, so that log_prob adds them up."""

    base_dist: Distribution

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise ShapeError(
                f"Independent: reinterpreted_batch_ndims: expected a number in [0, {len(batch)}], got "
                f"{reinterpreted_batch_ndims}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> Independent:
        shape = shape_of(batch_shape, "batch_shape")
        base = self.base_dist.expand(shape + self._event_shape[: self.reinterpreted_batch_ndims])
        return Independent(base, self.reinterpreted_batch_ndims, self._validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> constraints.Constraint:
        support: constraints.Constraint = self.base_dist.support
        return _widened(support, support.event_dim + self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotSupportedError("Independent: the values of several axes together are not listed")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """What transforms, one after the other, make of the values of a distribution."""

    base_dist: Distribution
    transforms: list[Transform]

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ArgumentTypeError("TransformedDistribution: transforms: expected transforms")
        whole = ComposeTransform(self.transforms)
        base = base_distribution
        if len(base.batch_shape + base.event_shape) < whole.domain.event_dim:
            raise ShapeError(
                f"TransformedDistribution: expected a base distribution of at least {whole.domain.event_dim} axes, got "
                f"{base.batch_shape + base.event_shape}"
            )
        extra = whole.domain.event_dim - len(base.event_shape)
        self.base_dist = Independent(base, extra) if extra > 0 else base
        before = self.base_dist.batch_shape + self.base_dist.event_shape
        shape = whole.forward_shape(before)
        event = whole.codomain.event_dim + max(-extra, 0) if self.transforms else len(base.event_shape)
        grown = whole.inverse_shape(shape)
        if grown != before:  # parameters of the transforms broadcast the batch
            self.base_dist = self.base_dist.expand(grown[: len(grown) - len(self.base_dist.event_shape)])
        cut = len(shape) - event
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> Any:
        shape = shape_of(batch_shape, "batch_shape")
        made = self._copy(shape)
        made.transforms = self.transforms
        inner = ComposeTransform(self.transforms).inverse_shape(shape + self._event_shape)
        made.base_dist = self.base_dist.expand(inner[: len(inner) - len(self.base_dist.event_shape)])
        return made

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        return _widened(codomain, len(self._event_shape))

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        event = len(self._event_shape)
        stretch: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            event += transform.domain.event_dim - transform.codomain.event_dim
            own = transform.log_abs_det_jacobian(x, y)
            stretch = stretch + sum_rightmost(own, event - transform.domain.event_dim)
            y = x
        inner = sum_rightmost(self.base_dist.log_prob(y), event - len(self.base_dist.event_shape))
        density: Tensor = inner - stretch
        return density

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotone(value)))

    def _monotone(self, probability: Tensor) -> Tensor:
        """1 - p where the transforms together fall."""
        sign = ComposeTransform(self.transforms).sign
        if isinstance(sign, (int, float)):
            return probability if sign == 1 else 1 - probability
        turned: Tensor = sign * (probability - 0.5) + 0.5
        return turned

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.transforms!r})"


class LogNormal(TransformedDistribution):
    """e to normal numbers."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return _ops.exp(self.loc + 0.5 * _ops.square(self.scale))

    @property
    def mode(self) -> Tensor:
        return _ops.exp(self.loc - _ops.square(self.scale))

    @property
    def variance(self) -> Tensor:
        square = _ops.square(self.scale)
        return _ops.expm1(square) * _ops.exp(2 * self.loc + square)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


__all__ = ["Independent", "IndependentTransform", "LogNormal", "TransformedDistribution"]
