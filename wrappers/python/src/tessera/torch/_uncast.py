# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that autocast leaves alone, or computes in float32, although they are made of products here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _ops, linalg
from .._core import TensorBase
from .._dtypes import float32
from ..amp import autocast, is_autocast_enabled


def is_on() -> bool:
    """Whether autocast is on, for any device."""
    return is_autocast_enabled("cpu") or is_autocast_enabled("cuda")


def _widened(value: Any) -> Any:
    short = isinstance(value, TensorBase) and value.dtype.is_floating_point and value.dtype.itemsize == 2
    return _ops.astype(value, float32) if short else value


def uncast(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function outside of autocast."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not is_on():
            return function(*args, **options)
        with autocast("cpu", enabled=False), autocast("cuda", enabled=False):
            return function(*args, **options)

    return call


def in_full(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function outside of autocast which, where that is on, gets tensors of 16 bits as float32."""
    plain = uncast(function)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return plain(*(map(_widened, args) if is_on() else args), **options)

    return call


@functools.lru_cache(512)
def sums_products(equation: str, count: int) -> bool:
    """Whether an equation of einsum sums products of two operands, which autocast casts; what only multiplies or only sums it
    does not."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    if count < 2:
        return False
    parts = [set(term) for term in terms.split(",")]
    shared = {letter for place, part in enumerate(parts) for other in parts[:place] for letter in part & other if letter.isalpha()}
    return bool(shared - set(result)) if arrow else bool(shared)


def powers(input: Any, n: int, out: Any) -> Any:
    """torch.linalg.matrix_power: an inverse, and what is no product, are not cast."""
    if n > 1 or not is_on():
        return linalg.matrix_power(input, n, out=out)
    if n > -2:
        return uncast(linalg.matrix_power)(input, n, out=out)
    return linalg.matrix_power(linalg.inv(input), -n, out=out)


__all__ = ["in_full", "is_on", "powers", "sums_products", "uncast"]
