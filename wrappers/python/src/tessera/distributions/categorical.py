# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions over a few outcomes: Bernoulli, Categorical, OneHotCategorical and Multinomial.

Each is given by probabilities or by logits; the other of the two is computed at its first use.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .. import _ops
from .._creation import arange
from .._dtypes import finfo, int64
from .._errors import InvalidArgumentError, InvalidValueError, ShapeError, as_int
from .._tensor import Tensor
from .._variadic import broadcast_tensors
from .._modes import no_grad
from . import constraints
from ._values import (
    Shape,
    ShapeLike,
    Value,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    parameter,
    probs_to_logits,
    shape_of,
)
from .distribution import Distribution


def exactly_one(kind: type, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise InvalidArgumentError(f"{kind.__name__}: expected either probs or logits, got {'both' if logits is not None else 'none'}")


class _Chance(Distribution):
    """A distribution with the probability `probs` of a success, or its log-odds `logits`."""

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameters."""
        shape: Shape = self._given.shape
        return shape

    @property
    def _given(self) -> Tensor:
        given: Tensor = self.__dict__.get("probs", self.__dict__.get("logits"))
        return given

    def _take(self, probs: Value | None, logits: Value | None) -> None:
        exactly_one(type(self), probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        elif logits is not None:
            (self.logits,) = broadcast_all(logits)

    def _take_with_counts(self, probs: Value | None, logits: Value | None, counts: Value) -> Tensor:
        """Takes the chances and returns the counts, both of one shape and dtype."""
        self._take(probs, logits)
        name = "probs" if "probs" in self.__dict__ else "logits"
        given, found = broadcast_all(self._given, counts)
        setattr(self, name, given)
        return _ops.astype(found, given.dtype)


class Bernoulli(_Chance):
    """1 with the probability `probs`, else 0."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likely = _ops.astype(self.probs >= 0.5, self.probs.dtype)
        return _ops.where(self.probs == 0.5, math.nan, likely)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            return _ops.bernoulli(_ops.broadcast_to(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        return value * logits - _ops.softplus(logits)

    def entropy(self) -> Tensor:
        return _ops.softplus(self.logits) - self.probs * self.logits

    def enumerate_support(self, expand: bool = True) -> Tensor:
        both = arange(2, dtype=self._given.dtype, device=self._given.device)
        values = _ops.reshape(both, (2,) + (1,) * len(self._batch_shape))
        return _ops.broadcast_to(values, (2, *self._batch_shape)) if expand else values


class _Weighted(Distribution):
    """A distribution over the positions of the last axis of its weights. Weights become probabilities, logits
    logarithms of such."""

    has_enumerate_support = True

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits)

    @property
    def _given(self) -> Tensor:
        given: Tensor = self.__dict__.get("probs", self.__dict__.get("logits"))
        return given

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameters."""
        shape: Shape = self._given.shape
        return shape

    def _take(self, probs: Tensor | None, logits: Tensor | None) -> None:
        exactly_one(type(self), probs, logits)
        given = parameter(probs, "probs") if probs is not None else parameter(logits, "logits")  # type: ignore[arg-type]
        if given.ndim < 1 or given.shape[-1] < 1:
            raise ShapeError(
                f"{type(self).__name__}: expected weights with at least one axis and one outcome, got shape {given.shape}"
            )
        if probs is not None:
            # Weights below 0 stay so, and are refused: a sum below 0 would make probabilities of them.
            self.probs = given / _ops.abs(_ops.sum(given, -1, keepdims=True))
        else:
            self.logits = given - _ops.logsumexp(given, -1, keepdims=True)


class Categorical(_Weighted):
    """The number of one outcome of several."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._given.shape[:-1], validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        return self._given.shape[-1]

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return _ops.full(self._batch_shape, math.nan, dtype=self._given.dtype, device=self._given.device)

    @property
    def mode(self) -> Tensor:
        return _ops.argmax(self._given, -1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = shape_of(sample_shape)
        draws = math.prod(shape)
        if draws == 0 or 0 in self._batch_shape:
            return _ops.empty(shape + self._batch_shape, dtype=int64, device=self._given.device)
        with no_grad():
            rows = _ops.reshape(self.probs, (-1, self._num_events))
            drawn = _ops.multinomial(rows, draws, True)
            return _ops.reshape(_ops.matrix_transpose(drawn), shape + self._batch_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        index = _ops.expand_dims(_ops.astype(value, int64), -1)
        shape = broadcast_tensors(index, self.logits[..., :1])[0].shape
        logits = _ops.broadcast_to(self.logits, (*shape[:-1], self._num_events))
        return _ops.squeeze(_ops.gather(logits, -1, _ops.broadcast_to(index, shape)), -1)

    def entropy(self) -> Tensor:
        # An outcome of probability 0 adds nothing, whatever its logarithm.
        lowest = -float(finfo(self.logits.dtype).max)
        return -_ops.sum(self.probs * _ops.clip(self.logits, lowest), -1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._num_events
        every = arange(count, dtype=int64, device=self._given.device)
        values = _ops.reshape(every, (count,) + (1,) * len(self._batch_shape))
        return _ops.broadcast_to(values, (count, *self._batch_shape)) if expand else values


class OneHotCategorical(_Weighted):
    """One outcome of several, as a vector with a 1 at its place."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        shape = self._given.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def _categorical(self) -> Categorical:
        given = {name: self.__dict__[name] for name in ("probs", "logits") if name in self.__dict__}
        name, value = next(iter(given.items()))
        return Categorical(**{name: value}, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(_ops.argmax(value, -1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._event_shape[0]
        unit = _ops.eye(count, dtype=self._given.dtype, device=self._given.device)
        values = _ops.reshape(unit, (count, *(1,) * len(self._batch_shape), count))
        return _ops.broadcast_to(values, (count, *self._batch_shape, count)) if expand else values

    def _one_hot(self, index: Tensor) -> Tensor:
        return one_hot_of(index, self._event_shape[0], self._given)


def one_hot_of(index: Tensor, count: int, like: Tensor) -> Tensor:
    every = arange(count, dtype=int64, device=like.device)
    return _ops.astype(_ops.expand_dims(index, -1) == every, like.dtype)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As OneHotCategorical; gradients pass to the probabilities as if the sample were they (Bengio and others 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - _ops.detach(self.probs))


class Multinomial(_Weighted):
    """How often each outcome came in `total_count` draws."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = False
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count = as_int(total_count, "Multinomial: total_count")
        if self.total_count < 0:
            raise InvalidValueError(f"Multinomial: total_count: expected at least 0, got {self.total_count}")
        self._take(probs, logits)
        shape = self._given.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> Multinomial:
        made = super().expand(batch_shape)
        made.total_count = self.total_count
        return made

    @property
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def _categorical(self) -> Categorical:
        return Categorical(logits=self.logits, validate_args=False)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = shape_of(sample_shape)
        drawn = self._categorical().sample((self.total_count, *shape))
        return _ops.sum(one_hot_of(drawn, self._event_shape[0], self._given), 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        terms = _ops.where(value == 0, 0.0, value * logits)
        ways = _ops.lgamma(_ops.sum(value, -1) + 1) - _ops.sum(_ops.lgamma(value + 1), -1)
        return ways + _ops.sum(terms, -1)

    def entropy(self) -> Tensor:
        # Of the draws in their order, less what the orders of the same counts hide.
        n = self.total_count
        counts = arange(1, n + 1, dtype=self._given.dtype, device=self._given.device)
        counts = _ops.reshape(counts, (n,) + (1,) * self.probs.ndim)
        ways = math.lgamma(n + 1) - _ops.lgamma(counts + 1) - _ops.lgamma(n - counts + 1)
        chance = _ops.exp(ways + _ops.xlogy(counts, self.probs) + _ops.xlog1py(n - counts, -self.probs))
        hidden = _ops.sum(chance * _ops.lgamma(counts + 1), (0, -1))
        return n * self._categorical().entropy() - math.lgamma(n + 1) + hidden
