# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The continuous Bernoulli distribution of Loaiza-Ganem and Cunningham (2019), for pixels between black and white.

With the logit n its density is e^(n x) / Z(n) on [0, 1], where Z(n) = (e^n - 1) / n. So the mean is the derivative of
log Z and the variance the second one. Near n = 0 their closed forms cancel, and series take their place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from .. import _ops
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all, clamp_probs
from .categorical import _Chance
from .exp_family import ExponentialFamily

NEAR = 1.0  # logits for which the series are taken


def _series() -> list[float]:
    """c[k] of log Z(n) = n / 2 + the sum of c[k] n^(2 k + 2): the Bernoulli numbers B(m) / (m m!) with m = 2 k + 2."""
    numbers = [Fraction(1)]
    for m in range(1, 23):
        numbers.append(-sum((math.comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0)) / (m + 1))
    return [float(numbers[m] / (m * math.factorial(m))) for m in range(2, 23, 2)]


SERIES = _series()


def _even_polynomial(coefficients: list[float], x: Tensor) -> Tensor:
    square, total = _ops.square(x), _ops.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * square + c
    return total


class ContinuousBernoulli(_Chance, ExponentialFamily):
    """Numbers of [0, 1] with a density proportional to probs^x (1 - probs)^(1 - x).

    `probs` is no probability and no mean. `lims` is PyTorch's and changes nothing: results are exact for all `probs`.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Value | None = None, logits: Value | None = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        (given,) = broadcast_all(self._given)
        setattr(self, "probs" if "probs" in self.__dict__ else "logits", given)
        self._lims = lims
        super().__init__(given.shape, validate_args=validate_args)
        if "probs" in self.__dict__:
            self.probs = clamp_probs(self.probs)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where logits are near 0, and the logits with 0 and with NEAR in place of those on the other side."""
        n = self.logits
        near = _ops.abs(n) < NEAR
        return near, _ops.where(near, n, 0.0), _ops.where(near, NEAR, n)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (n,) = natural_params
        near = _ops.abs(n) < NEAR
        inside, outside = _ops.where(near, n, 0.0), _ops.abs(_ops.where(near, NEAR, n))
        series = _even_polynomial(SERIES, inside) * _ops.square(inside)
        closed = 0.5 * outside + _ops.log1p(-_ops.exp(-outside)) - _ops.log(outside)
        return 0.5 * n + _ops.where(near, series, closed)

    @property
    def mean(self) -> Tensor:
        near, inside, outside = self._parts()
        slopes = [(2 * k + 2) * c for k, c in enumerate(SERIES)]
        closed = -1 / _ops.expm1(-outside) - 1 / outside
        return _ops.where(near, 0.5 + inside * _even_polynomial(slopes, inside), closed)

    @property
    def variance(self) -> Tensor:
        near, inside, outside = self._parts()
        bends = [(2 * k + 2) * (2 * k + 1) * c for k, c in enumerate(SERIES)]
        size = _ops.abs(outside)
        closed = 1 / _ops.square(size) - _ops.exp(-size) / _ops.square(_ops.expm1(-size))
        return _ops.where(near, _even_polynomial(bends, inside), closed)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(_ops.rand(shape, dtype=self.logits.dtype, device=self.logits.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.logits * value - self._log_normalizer(self.logits)

    def _falling(self) -> tuple[Tensor, Tensor, Tensor]:
        """Whether the density rises, the logit of its mirror image that falls, and where it is flat."""
        n = self.logits
        flat = n == 0
        return n > 0, -_ops.abs(_ops.where(flat, 1.0, n)), flat

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rises, n, flat = self._falling()
        x = _ops.clip(value, 0, 1)
        share = _ops.expm1(n * x) / _ops.expm1(n)
        return _ops.where(flat, x, _ops.where(rises, _ops.exp(n * (1 - x)) * share, share))

    def icdf(self, value: Tensor) -> Tensor:
        rises, n, flat = self._falling()
        found = _ops.log1p(_ops.where(rises, 1 - value, value) * _ops.expm1(n)) / n
        return _ops.clip(_ops.where(flat, value, _ops.where(rises, 1 - found, found)), 0, 1)

    def entropy(self) -> Tensor:
        return self._log_normalizer(self.logits) - self.logits * self.mean

    def _copy(self, batch_shape: tuple[int, ...]) -> Any:
        made = super()._copy(batch_shape)
        made._lims = self._lims
        return made
