# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Mixtures: each value is drawn from one of several distributions of a kind."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._errors import ArgumentTypeError, ShapeError
from .._modes import no_grad
from .._tensor import Tensor
from ._values import ShapeLike, shape_of
from .categorical import Categorical
from .distribution import Distribution


class MixtureSameFamily(Distribution):
    """The rightmost axis of the batch of `component_distribution` are the components, whose probabilities
    `mixture_distribution` has."""

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical) or not isinstance(component, Distribution):
            raise ArgumentTypeError("MixtureSameFamily: expected a Categorical and a distribution")
        batch, count = component.batch_shape[:-1], mixture.probs.shape[-1]
        if not component.batch_shape or component.batch_shape[-1] != count:
            raise ShapeError(
                f"MixtureSameFamily: expected components along the last axis of the batch {component.batch_shape}, as many as "
                f"the {count} probabilities"
            )
        for wanted, size in zip(reversed(batch), reversed(mixture.batch_shape)):
            if 1 not in (wanted, size) and wanted != size:
                raise ShapeError(f"MixtureSameFamily: batches {mixture.batch_shape} and {batch} do not fit together")
        self._mixture_distribution, self._component_distribution = mixture, component
        self._num_component = count
        super().__init__(batch, component.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> Any:
        shape = shape_of(batch_shape, "batch_shape")
        made = self._copy(shape)
        made._component_distribution = self._component_distribution.expand((*shape, self._num_component))
        made._mixture_distribution = self._mixture_distribution.expand(shape)
        made._num_component = self._num_component
        return made

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    @property
    def support(self) -> Any:
        return self._component_distribution.support

    def _weights(self) -> Tensor:
        """The probabilities, with the axes of one value."""
        probs = self._mixture_distribution.probs
        return _ops.reshape(probs, (*probs.shape, *[1] * len(self._event_shape)))

    def _over_components(self, values: Tensor) -> Tensor:
        """The expectation over the components of what each has."""
        return _ops.sum(self._weights() * values, -1 - len(self._event_shape))

    def _with_components(self, value: Tensor) -> Tensor:
        return _ops.expand_dims(value, -1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self._over_components(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        component = self._component_distribution
        between = _ops.square(component.mean - self._with_components(self.mean))
        return self._over_components(component.variance + between)

    def cdf(self, value: Tensor) -> Tensor:
        own = self._component_distribution.cdf(self._with_components(value))
        return _ops.sum(own * self._mixture_distribution.probs, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        own = self._component_distribution.log_prob(self._with_components(value))
        weights = _ops.log_softmax(self._mixture_distribution.logits, -1)
        return _ops.logsumexp(own + weights, -1)

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        with no_grad():
            shape, events = shape_of(sample_shape), len(self._event_shape)
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(shape)
            drawn = self._component_distribution.sample(shape)
            axis = drawn.ndim - 1 - events
            places = _ops.reshape(chosen, (*chosen.shape, *[1] * (1 + events)))
            wide = _ops.broadcast_to(places, (*drawn.shape[:axis], 1, *self._event_shape))
            return _ops.squeeze(_ops.gather(drawn, axis, wide), axis)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
