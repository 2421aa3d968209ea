# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The divergence of Kullback and Leibler, by a table of functions for pairs of kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .._errors import ArgumentTypeError, NotSupportedError
from .._tensor import Tensor
from .distribution import Distribution

Function = TypeVar("Function", bound=Callable[..., Tensor])
_TABLE: dict[tuple[type, type], Callable[..., Tensor]] = {}
_FOUND: dict[tuple[type, type], Callable[..., Tensor]] = {}  # of pairs that have been asked for


def register_kl(type_p: type, type_q: type) -> Callable[[Function], Function]:
    """A decorator: the function computes kl_divergence for these kinds and what derives from them."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise ArgumentTypeError(f"register_kl(): expected classes of distributions, got {kind!r}")

    def keep(function: Function) -> Function:
        _TABLE[type_p, type_q] = function
        _FOUND.clear()
        return function

    return keep


def unknown_pair(type_p: type, type_q: type) -> NotSupportedError:
    return NotSupportedError(f"kl_divergence(): no formula for {type_p.__name__} and {type_q.__name__}")


def _nearest(type_p: type, type_q: type) -> Callable[..., Tensor]:
    """The function of the nearest kinds: p's decides, then q's."""
    fitting = [pair for pair in _TABLE if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not fitting:
        raise unknown_pair(type_p, type_q)
    return _TABLE[min(fitting, key=lambda pair: (type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1])))]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The expectation under p of log p(x) - log q(x)."""
    pair = type(p), type(q)
    if pair not in _FOUND:
        _FOUND[pair] = _nearest(*pair)
    return _FOUND[pair](p, q)
