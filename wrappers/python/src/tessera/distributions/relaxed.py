# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Continuous relaxations of Bernoulli and OneHotCategorical (Maddison, Mnih and Teh, "The concrete distribution", 2017)."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _ops
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, as_tensor, clamp_probs
from .categorical import _Chance, _Weighted
from .composed import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform


class LogitRelaxedBernoulli(_Chance):
    """The logits of RelaxedBernoulli."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    temperature: Tensor

    def __init__(
        self, temperature: Value, probs: Value | None = None, logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = as_tensor(temperature, "temperature")
        self._take(probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> LogitRelaxedBernoulli:
        made = super().expand(batch_shape)
        made.temperature = self.temperature
        return made

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(_ops.rand(shape, dtype=self._given.dtype, device=self._given.device))
        return (_ops.log(u) - _ops.log1p(-u) + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = self.logits - value * self.temperature
        return _ops.log(self.temperature) + z - 2 * _ops.softplus(z)


class _Relaxed(TransformedDistribution):
    """A function of a relaxed distribution, with the parameters of that one."""

    has_rsample = True
    base_dist: LogitRelaxedBernoulli | ExpRelaxedCategorical

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits


class RelaxedBernoulli(_Relaxed):
    """Numbers in (0, 1) that come near 0 and 1 as the temperature falls."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self, temperature: Value, probs: Value | None = None, logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_Weighted):
    """The logarithms of RelaxedOneHotCategorical."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    has_enumerate_support = False
    temperature: Tensor

    def __init__(
        self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = as_tensor(temperature, "temperature")
        self._take(probs, logits)
        shape = self._given.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> ExpRelaxedCategorical:
        made = super().expand(batch_shape)
        made.temperature = self.temperature
        return made

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = _ops.empty(shape, dtype=self._given.dtype, device=self._given.device).exponential_()
        scores = (self.logits - _ops.log(drawn)) / self.temperature
        return scores - _ops.logsumexp(scores, -1, keepdims=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        count = self._event_shape[0]
        score = self.logits - value * self.temperature
        score = _ops.sum(score - _ops.logsumexp(score, -1, keepdims=True), -1)
        return score + math.lgamma(count) + (count - 1) * _ops.log(self.temperature)


class RelaxedOneHotCategorical(_Relaxed):
    """Shares that come near one-hot vectors as the temperature falls."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    base_dist: ExpRelaxedCategorical

    def __init__(
        self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
