# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Probability distributions with PyTorch's names: random values, densities, moments, divergences."""

from . import constraints
from .categorical import Bernoulli, Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .distribution import Distribution
from .kl import kl_divergence, register_kl
from .normal import HalfNormal, Normal

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "HalfNormal", "Multinomial", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "constraints", "kl_divergence", "register_kl",
]  # fmt: skip
