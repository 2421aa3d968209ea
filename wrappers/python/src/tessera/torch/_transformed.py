# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions that PyTorch makes from another one by transforms. The library has formulas for them instead, so what programs
read from a TransformedDistribution, `base_dist` and `transforms`, is made here when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tessera import full_like, ones_like
from tessera.distributions._values import eps_of, tiny_of

from . import distributions as d

_Parts = tuple[Any, list[Any]]  # the distribution, and the transforms of its samples


def _gumbel(self: Any) -> _Parts:
    to_exponential = [d.ExpTransform().inv, d.AffineTransform(0, -ones_like(self.scale)), d.ExpTransform().inv]
    base = d.Uniform(full_like(self.loc, tiny_of(self.loc)), full_like(self.loc, 1 - eps_of(self.loc)))
    return base, [*to_exponential, d.AffineTransform(self.loc, -self.scale)]


def _kumaraswamy(self: Any) -> _Parts:
    one, two = 1 / self.concentration0, 1 / self.concentration1
    base = d.Uniform(full_like(one, 0), ones_like(one))
    return base, [d.PowerTransform(one), d.AffineTransform(1.0, -1.0), d.PowerTransform(two)]


def _pareto(self: Any) -> _Parts:
    return d.Exponential(self.alpha), [d.ExpTransform(), d.AffineTransform(0, self.scale)]


def _weibull(self: Any) -> _Parts:
    return d.Exponential(ones_like(self.scale)), [d.PowerTransform(1 / self.concentration), d.AffineTransform(0, self.scale)]


PARTS: dict[str, Callable[[Any], _Parts]] = {
    "Gumbel": _gumbel,
    "HalfCauchy": lambda self: (d.Cauchy(0, self.scale), [d.AbsTransform()]),
    "HalfNormal": lambda self: (d.Normal(0, self.scale), [d.AbsTransform()]),
    "InverseGamma": lambda self: (d.Gamma(self.concentration, self.rate), [d.PowerTransform(-ones_like(self.rate))]),
    "Kumaraswamy": _kumaraswamy,
    "Pareto": _pareto,
    "Weibull": _weibull,
}
