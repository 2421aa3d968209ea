# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the rows of the functions that make tensors call."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._creation import arange
from .._dtypes import bool_, dtype_of, float64, get_default_dtype, uint8
from .._errors import ArgumentTypeError, InvalidValueError
from ..func._batched import Batched, make
from ..func._dispatch import sample
from ._adapters import leaf, number, sizes
from ._tensor import made


def counting(start: Any, end: Any, step: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    first, last = (0, start) if end is None else (start, end)
    ends = [number(n) for n in (first, last, step)]
    if (ends[1] - ends[0]) * ends[2] < 0:
        raise InvalidValueError(f"arange(): expected a step towards the end, got {ends[0]}, {ends[1]} and the step {ends[2]}")
    return arange(*ends, dtype=dtype, device=device, requires_grad=requires_grad)


def closed(start: Any, end: Any, step: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """The deprecated torch.range, which contains its end."""
    first, last = (0, start) if end is None else (start, end)
    count = math.floor((last - first) / step) + 1
    kind = get_default_dtype() if dtype is None else dtype
    values = arange(count, dtype=float64) * step + first
    return leaf(values.to(dtype=kind, device=device), requires_grad)


def even(function: Any, start: Any, end: Any, *rest: Any, dtype: Any, **options: Any) -> Any:
    """linspace and logspace, whose ends inside vmap may have a value for each sample."""
    if not (isinstance(start, Batched) or isinstance(end, Batched)):
        return function(*ends_of(start, end, dtype), *rest, dtype=dtype, **options)
    level = max((e._level for e in (start, end) if isinstance(e, Batched)), key=lambda one: one.depth)
    rows = [even(function, sample(start, level, i), sample(end, level, i), *rest, dtype=dtype, **options) for i in range(level.samples)]
    return make(_ops.stack(rows, 0), level)


def ends_of(start: Any, end: Any, dtype: Any) -> tuple[Any, Any]:
    """The ends of linspace and logspace, which lose their fractions where the results are integers."""
    ends = number(start), number(end)
    if dtype is None or dtype_of(dtype).category in ("floating", "complex"):
        return ends
    return int(ends[0]), int(ends[1])


def between(low: Any, high: Any) -> tuple[Any, Any]:
    if low is None and high is None:
        raise ArgumentTypeError("randint_like(): expected high, got nothing")
    return (0, low) if high is None else (0 if low is None else low, high)


def whole(low: Any, high: Any, size: Any, generator: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """randint(high, size) and randint(low, high, size)."""
    if size is None:
        low, high, size = 0, low, high
    ends = between(low, high)
    made_as = {"generator": generator, "device": device, "requires_grad": requires_grad}
    if dtype is bool_:
        return _ops.astype(_ops.randint(*_of_truths(ends), sizes((size,)), dtype=uint8, **made_as), bool_)
    return _ops.randint(*ends, sizes((size,)), dtype=dtype, **made_as)


def whole_like(input: Any, low: Any, high: Any, generator: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """randint_like(input, high) and randint_like(input, low, high)."""
    return whole(*between(low, high), input.shape, generator, dtype or input.dtype, device or input.device, requires_grad)


def _of_truths(ends: tuple[Any, Any]) -> tuple[Any, Any]:
    if not 0 <= ends[0] < ends[1] <= 2:
        raise InvalidValueError(f"randint(): expected bounds between 0 and 2 for dtype bool, got {ends[0]} and {ends[1]}")
    return ends


def gaussian(mean: Any, std: Any, size: Any, generator: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    if size is None:
        return leaf(_ops.normal(mean, std, generator=generator), requires_grad)
    made_ = _ops.empty(sizes((size,)), dtype=dtype, device=device)
    return leaf(made_.normal_(mean, std, generator=generator), requires_grad)


def drawn(input: Any, p: Any, generator: Any) -> Any:
    if p is None:
        return _ops.bernoulli(input, generator=generator)
    return _ops.empty_like(input).bernoulli_(p, generator=generator)


def counts(input: Any, repeats: Any) -> tuple[Any, Any]:
    """The arguments of repeat_interleave(input, repeats), or of repeat_interleave(repeats): places of a vector."""
    if repeats is None:
        return made(arange(input.shape[0], device=input.device)), input
    return input, repeats


__all__ = [
    "between", "closed", "counting", "counts", "drawn", "ends_of", "even", "gaussian", "whole", "whole_like",
]
