# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Formulas of kl_divergence where a distribution has an end: ContinuousBernoulli, Uniform, Beta, Pareto. Each is minus the
entropy of p, minus the expectation under p of log q."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._tensor import Tensor
from .continuous_bernoulli import ContinuousBernoulli
from .distribution import Distribution
from .exp_family import ExponentialFamily, tangent_at
from .gamma import Beta, Exponential, Gamma
from .kl import register_kl, unknown_pair
from .kl_table import _at_exponential, _at_normal, _infinite
from .location import Gumbel, Laplace, Uniform
from .normal import Normal
from .tails import Pareto


@register_kl(ExponentialFamily, ExponentialFamily)
def _one_family(p: Any, q: Any) -> Tensor:
    if type(p) is not type(q):
        raise unknown_pair(type(p), type(q))
    own, other = tangent_at(p, q)
    found: Tensor = q._log_normalizer(*q._natural_params) - own - other
    return found


# ---- p on an interval ----


def _at_continuous_bernoulli(p: Distribution, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - q.logits * p.mean + q._log_normalizer(q.logits)


def _at_uniform(p: Distribution, q: Uniform) -> Tensor:
    """p has all of [0, 1]."""
    outside = _ops.logical_or(q.low > 0, q.high < 1)
    return _ops.where(outside, math.inf, _ops.log(q.high - q.low) - p.entropy())


for _kind in (ContinuousBernoulli, Beta):
    register_kl(_kind, ContinuousBernoulli)(_at_continuous_bernoulli)
    register_kl(_kind, Uniform)(_at_uniform)
register_kl(ContinuousBernoulli, Normal)(_at_normal)
register_kl(ContinuousBernoulli, Exponential)(_at_exponential)


def _mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log x for x between two numbers."""
    return (_ops.xlogy(high, high) - _ops.xlogy(low, low)) / (high - low) - 1


def _leaves_unit(p: Uniform) -> Tensor:
    return _ops.logical_or(p.low < 0, p.high > 1)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    return _ops.where(_leaves_unit(p), math.inf, _at_continuous_bernoulli(p, q))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    below = (q.concentration1 - 1) * _mean_log(p.low, p.high)
    above = (q.concentration0 - 1) * _mean_log(1 - p.high, 1 - p.low)
    inside = q._dirichlet._log_beta() - p.entropy() - below - above
    return _ops.where(_leaves_unit(p), math.inf, inside)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    ends = [_ops.exp((q.loc - x) / q.scale) for x in (p.low, p.high)]
    moved = q.scale * (ends[0] - ends[1]) / (p.high - p.low)
    return -p.entropy() + _ops.log(q.scale) + (p.mean - q.loc) / q.scale + moved


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    factor = _ops.log(q.alpha) + _ops.xlogy(q.alpha, q.scale)
    inside = (q.alpha + 1) * _mean_log(p.low, p.high) - factor - p.entropy()
    return _ops.where(p.low < q.scale, math.inf, inside)


# ---- p on a half-line ----


def _at_gamma(p: Distribution, q: Gamma, mean_log: Tensor) -> Tensor:
    factor = _ops.xlogy(q.concentration, q.rate) - _ops.lgamma(q.concentration)
    return -p.entropy() - factor - (q.concentration - 1) * mean_log + q.rate * p.mean


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    return _ops.where(p.low < 0, math.inf, _at_gamma(p, q, _mean_log(p.low, p.high)))


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    return _at_gamma(p, q, _ops.log(p.scale) + 1 / p.alpha)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    inside = q.alpha * _ops.log(p.scale / q.scale) - _ops.log(ratio) + ratio - 1
    return _ops.where(p.scale < q.scale, math.inf, inside)


register_kl(Pareto, Exponential)(_at_exponential)
register_kl(Pareto, Normal)(_at_normal)

# ---- p has values that q excludes ----

for _kind in (Exponential, Gamma, Pareto, Gumbel, Laplace, Normal):
    register_kl(_kind, ContinuousBernoulli)(_infinite)
for _kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal):
    register_kl(_kind, Pareto)(_infinite)
for _q in (Beta, Uniform):
    register_kl(Pareto, _q)(_infinite)
