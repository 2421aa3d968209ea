# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions of counts: Poisson, Geometric and Binomial."""

from __future__ import annotations

from typing import ClassVar

from .. import _ops
from .._creation import arange
from .._errors import InvalidValueError, NotSupportedError
from .._tensor import Tensor
from .._modes import no_grad
from . import constraints
from ._values import ShapeLike, Value, broadcast_all, tiny_of
from .categorical import _Chance
from .distribution import Distribution


class Poisson(Distribution):
    """How often something happens that is expected `rate` times: rate^k e^(-rate) / k!"""

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return _ops.floor(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            return _ops.poisson(_ops.broadcast_to(self.rate, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.xlogy(value, self.rate) - self.rate - _ops.lgamma(value + 1)


class Geometric(_Chance):
    """The failures before the first success: (1 - p)^k p for k = 0, 1, ..."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if "probs" in self.__dict__ and bool(_ops.any(self.probs == 0)):
            raise InvalidValueError("Geometric: probs: expected probabilities above 0, got one that is 0")

    @property
    def mean(self) -> Tensor:
        return _ops.reciprocal(self.probs) - 1

    @property
    def mode(self) -> Tensor:
        return _ops.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (_ops.reciprocal(self.probs) - 1) / self.probs

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            u = _ops.rand(shape, dtype=self.probs.dtype, device=self.probs.device)
            return _ops.floor(_ops.log(_ops.clip(u, tiny_of(u))) / _ops.log1p(-self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return _ops.xlog1py(value, -self.probs) + _ops.log(self.probs)

    def entropy(self) -> Tensor:
        p = self.probs
        return -(_ops.xlog1py(1 - p, -p) + _ops.xlogy(p, p)) / p


class Binomial(_Chance):
    """The successes in `total_count` trials, which may differ in the batch."""

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True
    total_count: Tensor

    def __init__(
        self, total_count: Value = 1, probs: Value | None = None, logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count = self._take_with_counts(probs, logits, total_count)
        super().__init__(self.total_count.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return _ops.minimum(_ops.floor((self.total_count + 1) * self.probs), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return _ops.binomial(_ops.broadcast_to(self.total_count, shape), _ops.broadcast_to(self.probs, shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n = self.total_count
        ways = _ops.lgamma(n + 1) - _ops.lgamma(value + 1) - _ops.lgamma(n - value + 1)
        return ways + value * self.logits - n * _ops.softplus(self.logits)

    def entropy(self) -> Tensor:
        every = self.enumerate_support(False)
        logarithm = self.log_prob(every)
        return -_ops.sum(_ops.exp(logarithm) * logarithm, 0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        most = int(_ops.max(self.total_count).item())
        if not bool(_ops.all(self.total_count == most)):
            raise NotSupportedError("Binomial: expected one total_count for the batch to list all values, got several")
        every = arange(most + 1, dtype=self._given.dtype, device=self._given.device)
        values = _ops.reshape(every, (most + 1,) + (1,) * len(self._batch_shape))
        return _ops.broadcast_to(values, (most + 1, *self._batch_shape)) if expand else values
