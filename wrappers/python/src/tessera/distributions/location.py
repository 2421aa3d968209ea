# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions of a location and a scale: Uniform, Laplace, Cauchy, HalfCauchy and Gumbel."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _ops
from .._errors import InvalidValueError
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all, eps_of
from .distribution import Distribution
from .normal import LocScale

EULER = 0.57721566490153286


def _empty(shape: tuple[int, ...], like: Tensor) -> Tensor:
    return _ops.empty(shape, dtype=like.dtype, device=like.device)


class Uniform(Distribution):
    """All numbers in [low, high) are equally likely."""

    arg_constraints: ClassVar = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Value, high: Value, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    def _check_parameters(self) -> None:
        if not bool(_ops.all(self.low < self.high)):
            raise InvalidValueError("Uniform: high: expected values above low, got one that is not")

    @property
    def support(self) -> constraints.Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return _ops.full_like(self.low, math.nan)

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return _ops.square(self.high - self.low) / 12

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = _empty(self._extended_shape(sample_shape), self.low).uniform_()
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = _ops.logical_and(self.low <= value, value < self.high)
        return _ops.where(inside, -_ops.log(self.high - self.low), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.clip((value - self.low) / (self.high - self.low), 0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return _ops.log(self.high - self.low)


class Laplace(LocScale):
    """Density e^(-|x - loc| / scale) / (2 scale)."""

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    @property
    def variance(self) -> Tensor:
        return 2 * _ops.square(self.scale)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        # From (-1, 1), so that the logarithm of the rest is finite.
        u = _empty(self._extended_shape(sample_shape), self.loc).uniform_(eps_of(self.loc) - 1, 1)
        return self.loc - self.scale * _ops.sign(u) * _ops.log1p(-_ops.abs(u))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -_ops.log(2 * self.scale) - _ops.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = value - self.loc
        return 0.5 - 0.5 * _ops.sign(z) * _ops.expm1(-_ops.abs(z) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * _ops.sign(centred) * _ops.log1p(-2 * _ops.abs(centred))

    def entropy(self) -> Tensor:
        return 1 + _ops.log(2 * self.scale)


class Cauchy(LocScale):
    """Density 1 / (pi scale (1 + z^2)) with z = (x - loc) / scale; without mean and variance."""

    @property
    def mean(self) -> Tensor:
        return _ops.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return _ops.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.loc + self.scale * _empty(self._extended_shape(sample_shape), self.loc).cauchy_()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - _ops.log(self.scale) - _ops.log1p(_ops.square(z))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * _ops.tan(math.pi * (value - 0.5))

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + _ops.log(self.scale)


class HalfCauchy(Distribution):
    """The absolute value of Cauchy's numbers around 0."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale: Tensor

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _ops.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return _ops.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return _ops.full_like(self.scale, math.inf)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.scale * _ops.abs(_empty(self._extended_shape(sample_shape), self.scale).cauchy_())

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = math.log(2 / math.pi) - _ops.log(self.scale) - _ops.log1p(_ops.square(value / self.scale))
        return _ops.where(value >= 0, inside, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.atan(value / self.scale) * (2 / math.pi)

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * _ops.tan(value * (math.pi / 2))

    def entropy(self) -> Tensor:
        return math.log(2 * math.pi) + _ops.log(self.scale)


class Gumbel(LocScale):
    """The distribution e^(-e^(-z)) of largest values, with z = (x - loc) / scale."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return _ops.square(self.stddev)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = _empty(self._extended_shape(sample_shape), self.loc).exponential_()
        return self.loc - self.scale * _ops.log(drawn)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -z - _ops.exp(-z) - _ops.log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.exp(-_ops.exp((self.loc - value) / self.scale))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * _ops.log(-_ops.log(value))

    def entropy(self) -> Tensor:
        return _ops.log(self.scale) + (1 + EULER)
