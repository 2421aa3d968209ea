# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions of positive numbers and of proportions that others are made into: Pareto, GeneralizedPareto, Weibull,
InverseGamma, FisherSnedecor, Kumaraswamy and LogisticNormal; and NegativeBinomial, a mixture of Poisson's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .. import _ops
from .._modes import no_grad
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all, eps_of, tiny_of
from .categorical import _Chance
from .composed import TransformedDistribution
from .distribution import Distribution
from .gamma import gamma_numbers
from .location import EULER
from .normal import Normal
from .transforms import StickBreakingTransform


class _OfTwo(Distribution):
    """Two parameters that broadcast; the names are those of arg_constraints, the first of them the first argument."""

    has_rsample = True

    def __init__(self, first: Value, second: Value, validate_args: bool | None = None) -> None:
        one, two = self.arg_constraints
        values = broadcast_all(first, second)
        self.__dict__.update({one: values[0], two: values[1]})
        super().__init__(values[0].shape, validate_args=validate_args)

    def _exponential(self, sample_shape: ShapeLike, like: Tensor) -> Tensor:
        drawn = _ops.empty(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device)
        return drawn.exponential_()


class Pareto(_OfTwo):
    """Density alpha scale^alpha / x^(alpha + 1) from the scale on."""

    arg_constraints: ClassVar = {"scale": constraints.positive, "alpha": constraints.positive}
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Value, alpha: Value, validate_args: bool | None = None) -> None:
        super().__init__(scale, alpha, validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = _ops.clip(self.alpha, 1)  # infinite below
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = _ops.clip(self.alpha, 2)
        return _ops.square(self.scale) * a / (_ops.square(a - 1) * (a - 2))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.scale * _ops.exp(self._exponential(sample_shape, self.scale) / self.alpha)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.log(self.alpha) + self.alpha * _ops.log(self.scale) - (self.alpha + 1) * _ops.log(value)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - (self.scale / value) ** self.alpha

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (1 - value) ** (-1 / self.alpha)

    def entropy(self) -> Tensor:
        return _ops.log(self.scale / self.alpha) + (1 + _ops.reciprocal(self.alpha))


class GeneralizedPareto(Distribution):
    """P(X > x) = (1 + concentration z)^(-1 / concentration) with z = (x - loc) / scale; e^-z for the concentration 0.

    The tails of other distributions beyond a high threshold `loc` come close to it (Coles, "An Introduction to
    Statistical Modeling of Extreme Values", 2001).
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip
    has_rsample = True
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Value, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, _ops.where(self.concentration < 0, end, math.inf))

    def _below(self, bound: float, moment: Any) -> Tensor:
        """A moment that exists for concentrations below a bound."""
        exists = self.concentration < bound
        return _ops.where(exists, moment(_ops.where(exists, self.concentration, 0.0)), math.nan)

    @property
    def mean(self) -> Tensor:
        return self._below(1.0, lambda c: self.loc + self.scale / (1 - c))

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._below(0.5, lambda c: _ops.square(self.scale / (1 - c)) / (1 - 2 * c))

    def _split(self) -> tuple[Tensor, Tensor]:
        """Where the tail is exponential, and concentrations with 1 in these places."""
        flat = _ops.abs(self.concentration) < tiny_of(self.concentration)
        return flat, _ops.where(flat, 1.0, self.concentration)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = _ops.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self._where_left(-drawn.exponential_())

    def _where_left(self, log_left: Tensor) -> Tensor:
        """The value beyond which so much probability lies."""
        flat, c = self._split()
        return self.loc + self.scale * _ops.where(flat, -log_left, _ops.expm1(-c * log_left) / c)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        flat, c = self._split()
        z = (value - self.loc) / self.scale
        # At the concentration -1 all densities are equal, also at the end, where the logarithm is infinite.
        tail = _ops.xlog1py(1 + 1 / c, c * z)
        return -_ops.log(self.scale) - _ops.where(flat, z, tail)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of more than each value."""
        self._validate_sample(value)
        flat, c = self._split()
        z = (value - self.loc) / self.scale
        return -_ops.where(flat, z, _ops.log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        return _ops.log(self.cdf(value))

    def cdf(self, value: Tensor) -> Tensor:
        return -_ops.expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._where_left(_ops.log1p(-value))

    def entropy(self) -> Tensor:
        return _ops.log(self.scale) + self.concentration + 1


class Weibull(_OfTwo):
    """P(X > x) = e^-(x / scale)^concentration."""

    arg_constraints: ClassVar = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        super().__init__(scale, concentration, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * _ops.exp(_ops.lgamma(1 + 1 / self.concentration))

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * (_ops.clip(k - 1, 0) / k) ** (1 / k)

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return _ops.square(self.scale) * (_ops.exp(_ops.lgamma(1 + 2 / k)) - _ops.exp(2 * _ops.lgamma(1 + 1 / k)))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.scale * self._exponential(sample_shape, self.scale) ** (1 / self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        k, ratio = self.concentration, value / self.scale
        return _ops.log(k / self.scale) + (k - 1) * _ops.log(ratio) - ratio**k

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -_ops.expm1(-((value / self.scale) ** self.concentration))

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-_ops.log1p(-value)) ** (1 / self.concentration)

    def entropy(self) -> Tensor:
        k = self.concentration
        return EULER * (1 - 1 / k) + _ops.log(self.scale / k) + 1


class InverseGamma(_OfTwo):
    """The reciprocals of the numbers of Gamma(concentration, rate)."""

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        super().__init__(concentration, rate, validate_args)

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return _ops.where(a > 1, self.rate / (a - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return _ops.where(a > 2, _ops.square(self.rate) / (_ops.square(a - 1) * (a - 2)), math.inf)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.rate / gamma_numbers(self.concentration, self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a = self.concentration
        return a * _ops.log(self.rate) - _ops.lgamma(a) - (a + 1) * _ops.log(value) - self.rate / value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.igammac(self.concentration, self.rate / value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + _ops.log(self.rate) + _ops.lgamma(a) - (1 + a) * _ops.digamma(a)


class FisherSnedecor(_OfTwo):
    """The quotient of two chi-squared numbers, each divided by its degrees of freedom."""

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Value, df2: Value, validate_args: bool | None = None) -> None:
        super().__init__(df1, df2, validate_args)

    @property
    def mean(self) -> Tensor:
        return _ops.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        top = (self.df1 - 2) / self.df1
        return _ops.where(self.df1 > 2, top * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, self.df2
        inside = 2 * _ops.square(b) * (a + b - 2) / (a * _ops.square(b - 2) * (b - 4))
        return _ops.where(b > 4, inside, math.nan)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        one, two = (gamma_numbers(df / 2, shape) / df for df in (self.df1, self.df2))
        return _ops.clip(one / two, tiny_of(one))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        scale = _ops.lgamma(a + b) - _ops.lgamma(a) - _ops.lgamma(b)
        return scale + a * _ops.log(ratio) + (a - 1) * _ops.log(value) - (a + b) * _ops.log1p(ratio * value)


class Kumaraswamy(_OfTwo):
    """P(X > x) = (1 - x^a)^b for x in (0, 1)."""

    arg_constraints: ClassVar = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        super().__init__(concentration1, concentration0, validate_args)

    def _moment(self, n: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        logarithm = _ops.log(b) + _ops.lgamma(1 + n / a) + _ops.lgamma(b) - _ops.lgamma(1 + n / a + b)
        return _ops.exp(logarithm)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        inside = ((a - 1) / (a * b - 1)) ** (1 / a)
        return _ops.where(_ops.logical_or(a < 1, b < 1), math.nan, inside)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - _ops.square(self._moment(1))

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        # The number that an exponential one leaves: 1 - u^(1 / b) without loss near 0.
        left = -_ops.expm1(-self._exponential(sample_shape, self.concentration0) / self.concentration0)
        drawn = left ** (1 / self.concentration1)
        return _ops.clip(drawn, tiny_of(drawn), 1 - eps_of(drawn) / 2)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return _ops.log(a * b) + (a - 1) * _ops.log(value) + (b - 1) * _ops.log1p(-(value**a))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -_ops.expm1(self.concentration0 * _ops.log1p(-(value**self.concentration1)))

    def icdf(self, value: Tensor) -> Tensor:
        return (-_ops.expm1(_ops.log1p(-value) / self.concentration0)) ** (1 / self.concentration1)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = _ops.digamma(b + 1) + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - _ops.log(a * b)


class LogisticNormal(TransformedDistribution):
    """Proportions: normal numbers through StickBreakingTransform, one proportion more than numbers."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Tensor, scale: Tensor, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base if base.batch_shape else base.expand((1,)), StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        found: Tensor = self.base_dist.base_dist.loc  # type: ignore[attr-defined]
        return found

    @property
    def scale(self) -> Tensor:
        found: Tensor = self.base_dist.base_dist.scale  # type: ignore[attr-defined]
        return found


class NegativeBinomial(_Chance):
    """The successes of probability `probs` before `total_count` failures, which need not be whole."""

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative, "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer
    total_count: Tensor

    def __init__(
        self, total_count: Value, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None
    ) -> None:
        self.total_count = self._take_with_counts(probs, logits, total_count)
        super().__init__(self.total_count.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * _ops.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return _ops.clip(_ops.floor((self.total_count - 1) * _ops.exp(self.logits)), 0)

    @property
    def variance(self) -> Tensor:
        return self.mean / _ops.sigmoid(-self.logits)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            drawn = gamma_numbers(self.total_count, self._extended_shape(sample_shape))
            return _ops.poisson(drawn * _ops.exp(self.logits))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n = self.total_count
        chances = -n * _ops.softplus(self.logits) - value * _ops.softplus(-self.logits)
        ways = _ops.lgamma(n + value) - _ops.lgamma(1 + value) - _ops.lgamma(n)
        return chances + _ops.where(n + value == 0, 0.0, ways)
