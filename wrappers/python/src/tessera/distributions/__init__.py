# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Probability distributions with PyTorch's names: random values, densities, moments, divergences.

Formulas are those of Johnson, Kotz and Balakrishnan, "Univariate Discrete" and "Continuous Univariate Distributions",
where a class names no other source.
"""

from . import constraints, kl_table, transforms
from .categorical import Bernoulli, Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .composed import Independent, LogNormal, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .counts import Binomial, Geometric, Poisson
from .distribution import Distribution
from .gamma import Beta, Chi2, Dirichlet, Exponential, Gamma, StudentT
from .kl import kl_divergence, register_kl
from .location import Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from .multivariate import MultivariateNormal
from .normal import HalfNormal, Normal
from .relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical
from .transforms import *  # noqa: F403

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution",
    "ExpRelaxedCategorical", "Exponential", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "Laplace", "LogNormal", "LogitRelaxedBernoulli", "Multinomial", "MultivariateNormal", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
    "TransformedDistribution", "Uniform", "biject_to", "constraints", "kl_divergence", "register_kl", "transform_to",
    "transforms",
]  # fmt: skip
__all__ += transforms.__all__
