# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions around the normal one, of single numbers: Normal and HalfNormal; LogNormal is in composed.py."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _ops
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all
from .distribution import Distribution

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def standard_normal(shape: tuple[int, ...], like: Tensor) -> Tensor:
    return _ops.randn(shape, dtype=like.dtype, device=like.device)


class LocScale(Distribution):
    """Base class of the distributions on the real line with a centre and a width."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(LocScale):
    """Density e^(-z^2 / 2) / (scale sqrt(2 pi)) with z = (x - loc) / scale."""

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return _ops.square(self.scale)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.loc + self.scale * standard_normal(self._extended_shape(sample_shape), self.loc)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * _ops.square(z) - _ops.log(self.scale) - HALF_LOG_TWO_PI

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.ndtr((value - self.loc) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * _ops.ndtri(value)

    def entropy(self) -> Tensor:
        return 0.5 + HALF_LOG_TWO_PI + _ops.log(self.scale)


class HalfNormal(Distribution):
    """The absolute value of normal numbers around 0."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale: Tensor

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return _ops.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return _ops.square(self.scale) * (1 - 2 / math.pi)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.scale * _ops.abs(standard_normal(self._extended_shape(sample_shape), self.scale))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = math.log(2) - HALF_LOG_TWO_PI - 0.5 * _ops.square(value / self.scale) - _ops.log(self.scale)
        return _ops.where(value >= 0, inside, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.erf(value / (self.scale * math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * _ops.ndtri((value + 1) / 2)

    def entropy(self) -> Tensor:
        return 0.5 + HALF_LOG_TWO_PI - math.log(2) + _ops.log(self.scale)
