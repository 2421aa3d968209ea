# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Probability distributions with PyTorch's names: random values, densities, moments, divergences.

Formulas are those of Johnson, Kotz and Balakrishnan, "Univariate Discrete" and "Continuous Univariate Distributions",
where a class names no other source.
"""

from . import constraints, kl_bounded, kl_table, transforms
from .categorical import Bernoulli, Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .composed import Independent, LogNormal, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .continuous_bernoulli import ContinuousBernoulli
from .counts import Binomial, Geometric, Poisson
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Beta, Chi2, Dirichlet, Exponential, Gamma, StudentT
from .kl import kl_divergence, register_kl
from .location import Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from .matrices import LKJCholesky, Wishart
from .mixture import MixtureSameFamily
from .multivariate import LowRankMultivariateNormal, MultivariateNormal
from .normal import HalfNormal, Normal
from .relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical
from .tails import (
    FisherSnedecor,
    GeneralizedPareto,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    NegativeBinomial,
    Pareto,
    Weibull,
)
from .transforms import *  # noqa: F403
from .von_mises import VonMises

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "ExpRelaxedCategorical", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma",
    "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LogitRelaxedBernoulli",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial",
    "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart",
    "biject_to", "constraints", "kl_divergence", "register_kl", "transform_to", "transforms",
]  # fmt: skip
__all__ += transforms.__all__
