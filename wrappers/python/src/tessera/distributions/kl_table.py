# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The formulas of kl_divergence. Where a pair has no shorter one: minus the entropy of p, minus the expectation of log q."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops, linalg
from .._errors import NotSupportedError, ShapeError
from .._tensor import Tensor
from ._values import sum_rightmost
from .categorical import Bernoulli, Categorical, OneHotCategorical
from .composed import Independent, TransformedDistribution
from .counts import Binomial, Geometric, Poisson
from .distribution import Distribution
from .gamma import Beta, Dirichlet, Exponential, Gamma
from .kl import kl_divergence, register_kl
from .location import EULER, Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from .matrices import Wishart
from .multivariate import LowRankMultivariateNormal, MultivariateNormal, half_log_det, mahalanobis
from .normal import HALF_LOG_TWO_PI, HalfNormal, Normal
from .tails import InverseGamma

# ---- outcomes ----


def _relative(p: Tensor, q: Tensor) -> Tensor:
    """p log(p / q), 0 where p is 0 and infinite where only q is. There the gradient leaves out the logarithm, whose own would
    make all gradients NaN."""
    terms = p * (_ops.log(_ops.where(p == 0, 1.0, p)) - _ops.log(_ops.where(q == 0, 1.0, q)))
    terms = _ops.where(p == 0, p, terms)
    return _ops.where(_ops.logical_and(q == 0, p > 0), math.inf, terms)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    return _relative(p.probs, q.probs) + _relative(1 - p.probs, 1 - q.probs)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool(_ops.any(p.total_count < q.total_count)):
        raise NotSupportedError("kl_divergence(): expected Binomial p with at least the total_count of q, got fewer")
    one = _relative(p.probs, q.probs) + _relative(1 - p.probs, 1 - q.probs)
    return _ops.where(p.total_count > q.total_count, math.inf, p.total_count * one)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = _ops.where(_ops.logical_and(q.probs == 0, p.probs > 0), math.inf, terms)
    return _ops.sum(_ops.where(p.probs == 0, 0.0, terms), -1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - _ops.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return _ops.xlogy(p.rate, p.rate) - _ops.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * _ops.log(q.rate) - q.rate)


# ---- one family ----


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = _ops.square(p.scale / q.scale)
    return 0.5 * (ratio + _ops.square((p.loc - q.loc) / q.scale) - 1 - _ops.log(ratio))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    ratio = _ops.square(p.scale / q.scale)
    return 0.5 * (ratio - 1 - _ops.log(ratio))


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    distance = _ops.abs(p.loc - q.loc)
    shared = p.scale * _ops.exp(-distance / p.scale) + distance
    return _ops.log(q.scale / p.scale) + shared / q.scale - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    # Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions", 2019
    spread = _ops.square(p.scale + q.scale) + _ops.square(p.loc - q.loc)
    return _ops.log(spread) - _ops.log(4 * p.scale * q.scale)


@register_kl(HalfCauchy, HalfCauchy)
def _half_cauchy(p: HalfCauchy, q: HalfCauchy) -> Tensor:
    return 2 * _ops.log(p.scale + q.scale) - _ops.log(4 * p.scale * q.scale)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    shift = (q.loc - p.loc) / q.scale
    moved = _ops.exp(shift + _ops.lgamma(1 + ratio))
    return -_ops.log(ratio) - shift + ratio * EULER + moved - (1 + EULER)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - _ops.log(ratio)


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return (
        b * _ops.log(p.rate / q.rate) + _ops.lgamma(b) - _ops.lgamma(a) + (a - b) * _ops.digamma(a)
        + (q.rate - p.rate) * (a / p.rate)
    )  # fmt: skip


register_kl(InverseGamma, InverseGamma)(_gamma)  # the divergence of the numbers is that of their reciprocals


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    parts = (a - b) * (_ops.digamma(a) - _ops.digamma(p._total))
    return q._log_beta() - p._log_beta() + _ops.sum(parts, -1)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    outside = _ops.logical_or(q.low > p.low, q.high < p.high)
    return _ops.where(outside, math.inf, _ops.log((q.high - q.low) / (p.high - p.low)))


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    size = p.event_shape[-1]
    if p.event_shape != q.event_shape:
        raise ShapeError(f"kl_divergence(): expected matrices of one size, got {p.event_shape} and {q.event_shape}")
    trace = p.df * _ops.sum(q.precision_matrix * p.covariance_matrix, (-2, -1))
    return q._log_factor() - p.entropy() - 0.5 * ((q.df - size - 1) * p.expected_log_det() - trace)


def _low_rank(p: Any, q: Any) -> Tensor:
    """Of normal vectors, one of which has a covariance of low rank."""
    if p.event_shape != q.event_shape:
        raise ShapeError(f"kl_divergence(): expected vectors of one length, got {p.event_shape} and {q.event_shape}")
    trace = _ops.sum(q.precision_matrix * p.covariance_matrix, (-2, -1))
    shift, low = q.loc - p.loc, isinstance(q, LowRankMultivariateNormal)
    distance = q.mahalanobis(shift) if low else mahalanobis(q.scale_tril, shift)
    halves = [d.half_log_det() if hasattr(d, "half_log_det") else half_log_det(d.scale_tril) for d in (p, q)]
    found: Tensor = halves[1] - halves[0] + 0.5 * (trace + distance - p.event_shape[0])
    return found


register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)(_low_rank)
register_kl(LowRankMultivariateNormal, MultivariateNormal)(_low_rank)
register_kl(MultivariateNormal, LowRankMultivariateNormal)(_low_rank)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ShapeError(f"kl_divergence(): expected vectors of one length, got {p.event_shape} and {q.event_shape}")
    size = p.event_shape[0]
    batch = _ops.broadcast_tensors([p.scale_tril, q.scale_tril])[0].shape
    own, other = (_ops.broadcast_to(d.scale_tril, batch) for d in (p, q))
    trace = _ops.sum(_ops.square(linalg.solve_triangular(other, own, upper=False)), (-2, -1))
    distance = mahalanobis(q.scale_tril, q.loc - p.loc)
    return half_log_det(q.scale_tril) - half_log_det(p.scale_tril) + 0.5 * (trace + distance - size)


# ---- made of others ----


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotSupportedError("kl_divergence(): expected Independent distributions of as many axes, got others")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotSupportedError("kl_divergence(): expected distributions with the same transforms, got others")
    inner = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(inner, len(p.event_shape) - len(p.base_dist.event_shape))


# ---- other families: by entropy, mean and variance of p ----


def _at_normal(p: Distribution, q: Normal) -> Tensor:
    square = (p.variance + _ops.square(p.mean - q.loc)) / _ops.square(q.scale)
    return -p.entropy() + 0.5 * square + _ops.log(q.scale) + HALF_LOG_TWO_PI


def _at_exponential(p: Distribution, q: Exponential) -> Tensor:
    return -p.entropy() + q.rate * p.mean - _ops.log(q.rate)


for _kind in (Beta, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_kind, Normal)(_at_normal)
for _kind in (Beta, Gamma):
    register_kl(_kind, Exponential)(_at_exponential)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return _gamma(Gamma(_ops.ones_like(p.rate), p.rate, validate_args=False), q)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    logarithm = _ops.digamma(p.concentration1) - _ops.digamma(p.concentration1 + p.concentration0)
    scale = _ops.xlogy(q.concentration, q.rate) - _ops.lgamma(q.concentration)
    return -p.entropy() - scale - (q.concentration - 1) * logarithm + q.rate * p.mean


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    return _ops.where(p.low < 0, math.inf, _at_exponential(p, q))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    # The mean of |x - b| for normal x (Leone, Nelson and Nottingham, "The folded normal distribution", 1961).
    z = (p.loc - q.loc) / p.scale
    bell = math.sqrt(2 / math.pi) * p.scale * _ops.exp(-0.5 * _ops.square(z))
    distance = bell + p.scale * z * _ops.erf(z * math.sqrt(0.5))
    return -p.entropy() + _ops.log(2 * q.scale) + distance / q.scale


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    z = (p.loc - q.loc) / q.scale
    moved = _ops.exp(-z + 0.5 * _ops.square(p.scale / q.scale))
    return -p.entropy() + _ops.log(q.scale) + z + moved


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    scaled = p.rate * q.scale
    moved = _ops.exp(q.loc / q.scale) * scaled / (scaled + 1)
    return -p.entropy() + _ops.log(q.scale) + (1 / p.rate - q.loc) / q.scale + moved


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    scaled = p.rate * q.scale
    moved = _ops.exp(q.loc / q.scale - p.concentration * _ops.log1p(1 / scaled))
    return -p.entropy() + _ops.log(q.scale) + (p.mean - q.loc) / q.scale + moved


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    """p has values that q excludes."""
    either = _ops.add(p.mean, q.mean)  # of the shape, the dtype and the device that a formula's result has
    return _ops.full_like(either.detach(), math.inf)


_LINE: tuple[type[Distribution], ...] = (Normal, Laplace, Gumbel, Cauchy)
for _p in _LINE:
    for _q in (Beta, Exponential, Gamma, Uniform):
        register_kl(_p, _q)(_infinite)
for _p in (Exponential, Gamma):
    for _q in (Beta, Uniform):
        register_kl(_p, _q)(_infinite)
register_kl(Poisson, Bernoulli)(_infinite)
register_kl(Poisson, Binomial)(_infinite)
