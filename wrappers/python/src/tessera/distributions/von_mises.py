# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution of von Mises: the normal one's counterpart for angles."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _ops
from .._dtypes import float64
from .._modes import no_grad
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, broadcast_all
from .distribution import Distribution

ALMOST_NORMAL = 1e6  # from this concentration on an angle differs from a normal number by less than its rounding
ALMOST_UNIFORM = 1e-5


def _log_i0(x: Tensor) -> Tensor:
    """log I0(x) of positive x, without overflow."""
    return _ops.log(_ops.i0e(x)) + x


class VonMises(Distribution):
    """Density e^(concentration cos(x - loc)) / (2 pi I0(concentration)) of angles.

    Values are angles modulo 2 pi; samples lie in [-pi, pi). Mean and variance are those of directions.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def _resultant(self) -> Tensor:
        """The length of the mean of unit vectors in the directions of the angles."""
        return _ops.i1e(self.concentration) / _ops.i0e(self.concentration)

    @property
    def variance(self) -> Tensor:
        return 1 - self._resultant

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            turned = _around_zero(_ops.astype(self.concentration, float64), shape) + _ops.astype(self.loc, float64)
            angle = _ops.remainder(turned + math.pi, 2 * math.pi) - math.pi
            return _ops.astype(angle, self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        peak = self.concentration * _ops.cos(value - self.loc)
        return peak - _log_i0(self.concentration) - math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        return math.log(2 * math.pi) + _log_i0(self.concentration) - self.concentration * self._resultant


def _around_zero(kappa: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Angles around 0: Best and Fisher, "Efficient simulation of the von Mises distribution", 1979.

    They reject wrapped Cauchy numbers. In float64, because `r` loses its digits in float32.
    """
    kappa = _ops.broadcast_to(kappa, shape)
    tau = 1 + _ops.sqrt(1 + 4 * _ops.square(kappa))
    rho = (tau - _ops.sqrt(2 * tau)) / (2 * kappa)
    r = _ops.where(kappa < ALMOST_UNIFORM, 1 / kappa + kappa, (1 + _ops.square(rho)) / (2 * rho))
    normal = kappa > ALMOST_NORMAL
    angle = _ops.randn(shape, dtype=float64, device=kappa.device) / _ops.sqrt(kappa)
    # A concentration that is no positive number gives NaN and needs no trial.
    done = _ops.logical_or(normal, _ops.logical_not(kappa > 0))
    angle = _ops.where(kappa > 0, angle, math.nan)
    while not bool(_ops.all(done)):
        u, v, side = _ops.unstack(_ops.rand((3, *shape), dtype=float64, device=kappa.device), 0)
        z = _ops.cos(math.pi * u)
        cosine = (1 + r * z) / (r + z)
        c = kappa * (r - cosine)
        fits = _ops.logical_or(c * (2 - c) > v, _ops.log(c / v) + 1 >= c)
        found = _ops.sign(side - 0.5) * _ops.acos(_ops.clip(cosine, -1, 1))
        angle = _ops.where(_ops.logical_and(fits, _ops.logical_not(done)), found, angle)
        done = _ops.logical_or(done, fits)
    return angle
