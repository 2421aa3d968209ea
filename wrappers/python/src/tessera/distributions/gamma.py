# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions made of gamma numbers: Exponential, Gamma, Chi2, Beta, Dirichlet and StudentT."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _ops
from .._errors import ShapeError
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all, clamp_probs, parameter, tiny_of
from .distribution import Distribution
from .normal import standard_normal


def gamma_numbers(concentration: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Gamma numbers of rate 1, none of them 0."""
    drawn = _ops.standard_gamma(_ops.broadcast_to(concentration, shape))
    return _ops.clip(drawn, tiny_of(drawn))


class Exponential(Distribution):
    """Density rate e^(-rate x) for x >= 0."""

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    rate: Tensor

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _ops.reciprocal(self.rate)

    @property
    def mode(self) -> Tensor:
        return _ops.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return _ops.reciprocal(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate**-2

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = _ops.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype, device=self.rate.device)
        return drawn.exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.log(self.rate) - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -_ops.expm1(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -_ops.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - _ops.log(self.rate)


class Gamma(Distribution):
    """Density rate^a x^(a - 1) e^(-rate x) / gamma(a) with the concentration a."""

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return _ops.clip(self.concentration - 1, 0) / self.rate

    @property
    def variance(self) -> Tensor:
        return self.concentration / _ops.square(self.rate)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = gamma_numbers(self.concentration, self._extended_shape(sample_shape)) / self.rate
        return _ops.clip(drawn, tiny_of(drawn))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        scale = _ops.xlogy(self.concentration, self.rate) - _ops.lgamma(self.concentration)
        return scale + _ops.xlogy(self.concentration - 1, value) - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - _ops.log(self.rate) + _ops.lgamma(a) + (1.0 - a) * _ops.digamma(a)


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    arg_constraints: ClassVar = {"df": constraints.positive}
    df: Tensor

    def __init__(self, df: Value, validate_args: bool | None = None) -> None:
        (self.df,) = broadcast_all(df)
        self._halve()
        Distribution.__init__(self, self.df.shape, validate_args=validate_args)

    def _halve(self) -> None:
        self.concentration, self.rate = broadcast_all(0.5 * self.df, 0.5)

    def expand(self, batch_shape: ShapeLike) -> Chi2:
        made = super().expand(batch_shape)
        made._halve()
        return made


class StudentT(Distribution):
    """Student's t: a normal number over the root of an independent mean of `df` squares of such."""

    arg_constraints: ClassVar = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support = constraints.real
    has_rsample = True
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Value, loc: Value = 0.0, scale: Value = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _ops.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = _ops.square(self.scale) * self.df / (self.df - 2)
        undefined = _ops.where(self.df > 1, _ops.full_like(self.df, math.inf), math.nan)
        return _ops.where(self.df > 2, finite, undefined)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        half = gamma_numbers(0.5 * self.df, shape)
        return self.loc + self.scale * standard_normal(shape, self.loc) * _ops.rsqrt(2 * half / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        tail = 0.5 * (self.df + 1) * _ops.log1p(_ops.square(z) / self.df)
        return -tail - _ops.log(self.scale) - self._log_factor()

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        rise = _ops.digamma(half) - _ops.digamma(0.5 * self.df)
        return half * rise + _ops.log(self.scale) + self._log_factor()

    def _log_factor(self) -> Tensor:
        """log(sqrt(df) B(df / 2, 1 / 2))"""
        beta = _ops.lgamma(0.5 * self.df) - _ops.lgamma(0.5 * (self.df + 1)) + 0.5 * math.log(math.pi)
        return 0.5 * _ops.log(self.df) + beta


class Dirichlet(Distribution):
    """Shares that add up to 1: gamma numbers of the concentrations, divided by their sum."""

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    concentration: Tensor

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        self.concentration = parameter(concentration, "concentration")
        if self.concentration.ndim < 1:
            raise ShapeError("Dirichlet: concentration: expected at least one axis, got shape ()")
        shape = self.concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def _total(self) -> Tensor:
        return _ops.sum(self.concentration, -1, keepdims=True)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self._total

    @property
    def mode(self) -> Tensor:
        # Where all concentrations are below 1 the density has no largest value: the corner of the largest one.
        above = _ops.clip(self.concentration - 1, 0)
        inside = above / _ops.sum(above, -1, keepdims=True)
        largest = self.concentration == _ops.amax(self.concentration, -1, keepdims=True)
        first = _ops.logical_and(largest, _ops.cumulative_sum(largest, -1) == 1)
        corner = _ops.all(self.concentration < 1, -1, keepdims=True)
        return _ops.where(corner, _ops.astype(first, self.concentration.dtype), inside)

    @property
    def variance(self) -> Tensor:
        total, a = self._total, self.concentration
        return a * (total - a) / (_ops.square(total) * (total + 1))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = gamma_numbers(self.concentration, self._extended_shape(sample_shape))
        return drawn / _ops.sum(drawn, -1, keepdims=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.sum(_ops.xlogy(self.concentration - 1, value), -1) - self._log_beta()

    def entropy(self) -> Tensor:
        a, total = self.concentration, self._total
        parts = (a - 1) * (_ops.digamma(a) - _ops.digamma(total))
        return self._log_beta() - _ops.sum(parts, -1)

    def _log_beta(self) -> Tensor:
        """The logarithm of the factor of the density, the beta function of several variables."""
        return _ops.sum(_ops.lgamma(self.concentration), -1) - _ops.lgamma(_ops.sum(self.concentration, -1))


class Beta(Distribution):
    """Density x^(a - 1) (1 - x)^(b - 1) / B(a, b): the first share of a Dirichlet distribution of two."""

    arg_constraints: ClassVar = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (_ops.square(total) * (total + 1))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return clamp_probs(self._dirichlet.rsample(sample_shape)[..., 0])

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        density = _ops.xlogy(self.concentration1 - 1, value) + _ops.xlog1py(self.concentration0 - 1, -value)
        return density - self._dirichlet._log_beta()

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _dirichlet(self) -> Dirichlet:
        return Dirichlet(_ops.stack([self.concentration1, self.concentration0], -1), validate_args=False)
