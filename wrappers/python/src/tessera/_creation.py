# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Creation functions whose rules depend on Python's kinds of numbers, and conversion to a dtype and a device."""

from __future__ import annotations

from typing import Any

from . import _core, _ops
from ._errors import InvalidValueError, as_int, as_list
from ._tensor import Tensor


def arange(
    start: float, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... before stop; arange(n) counts from 0. Integers give int64."""
    begin, end = (0, start) if stop is None else (start, stop)
    made: Tensor = _core.arange(begin, end, step, dtype, device)
    if requires_grad:
        made.requires_grad = True
    return made


def astype(input: Tensor, dtype: Any, *, copy: bool = True, device: Any = None) -> Tensor:
    """The values in another dtype, also on another device; complex to real is refused."""
    made = _ops.astype(input, dtype, copy=copy)
    return made if device is None else made.to(device)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all shapes broadcast to."""
    result: list[int] = []
    for given in shapes:
        shape = [as_int(n, "broadcast_shapes()") for n in as_list(given, "broadcast_shapes()")]
        sizes = [1] * (len(result) - len(shape)) + list(shape)
        result = [1] * (len(sizes) - len(result)) + result
        for i, (a, b) in enumerate(zip(result, sizes)):
            if a != b and 1 not in (a, b):
                raise InvalidValueError(f"broadcast_shapes(): {', '.join(map(str, shapes))} do not broadcast")
            result[i] = b if a == 1 else a
    return tuple(result)
