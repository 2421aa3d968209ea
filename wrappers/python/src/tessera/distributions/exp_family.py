# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The base of distributions of an exponential family, for classes of one's own."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._backward import grad
from .._modes import enable_grad
from .._tensor import Tensor
from .distribution import Distribution


class ExponentialFamily(Distribution):
    """Densities e^(<t(x), n> - F(n) + k(x)) with the natural parameters n.

    A class that states n, F and the mean of k has its entropy and its divergences from the gradient of F.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise self._missing("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """F"""
        raise self._missing("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The expectation of k."""
        raise self._missing("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        found: Tensor = tangent_at(self, self)[0] - self._mean_carrier_measure
        return found


def tangent_at(p: Any, q: Any) -> tuple[Tensor, Tensor]:
    """F(n) - <n, F'(n)> at the natural parameters n of p, and <n_q, F'(n)>."""
    given = p._natural_params
    with enable_grad():
        params = [n if n.requires_grad else _ops.detach(n).requires_grad_() for n in given]
        value = p._log_normalizer(*params)
        slopes = grad(_ops.sum(value), params, create_graph=True)
    if not any(n.requires_grad for n in given):
        value, slopes, params = _ops.detach(value), tuple(_ops.detach(s) for s in slopes), list(given)
    axes = len(p.batch_shape)

    def product(natural: Any) -> Any:
        return sum(_per_batch(n * s, axes) for n, s in zip(natural, slopes))

    return value - product(params), product(q._natural_params)


def _per_batch(terms: Tensor, batch_axes: int) -> Tensor:
    return terms if terms.ndim <= batch_axes else _ops.sum(terms, tuple(range(batch_axes, terms.ndim)))
