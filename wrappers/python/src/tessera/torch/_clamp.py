# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.clamp: clip with PyTorch's derivative on a bound."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._errors import ArgumentTypeError, InvalidValueError
from ._adapters import number

__all__ = ["clamped", "clamped_here"]


def _alike(low: Any, high: Any) -> Any:
    """The bounds of clamp(), of which a tensor without axes beside a number counts as a number."""
    if low is None or high is None or isinstance(low, TensorBase) is isinstance(high, TensorBase):
        return low, high
    return tuple([number(bound) if isinstance(bound, TensorBase) and not bound.ndim else bound for bound in (low, high)])


def _bounds(low: Any, high: Any) -> tuple[float, float] | None:
    """Both bounds as numbers, NaN where there is none; None if they are tensors."""
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        if low is not None and high is not None and isinstance(low, TensorBase) is not isinstance(high, TensorBase):
            raise ArgumentTypeError("clamp(): expected two tensors or two numbers, got one of each")
        return None
    if low is None and high is None:
        raise InvalidValueError("clamp(): expected min or max, got neither")
    return math.nan if low is None else low, math.nan if high is None else high


def _of_hardtanh(low: Any, high: Any) -> bool:
    """Whether hardtanh does what clamp() does: a bound that is NaN limits nothing there and is the result here."""
    return bool(low == low if high is None else high == high if low is None else low <= high)


def clamped(input: Any, low: Any, high: Any, out: Any) -> Any:
    """clip with PyTorch's derivative on a bound: 0, or shared with a bound that is a tensor."""
    low, high = _alike(low, high)
    bounds = _bounds(low, high)
    if bounds is None:
        return _clamped_by_tensors(input, low, high, out)
    if out is None and input.dtype.is_floating_point and _of_hardtanh(low, high):
        return _ops.hardtanh(input, *bounds)
    return _ops.clip(input, low, high, out=out)


def _clamped_by_tensors(input: Any, low: Any, high: Any, out: Any) -> Any:
    if low is None or high is None:
        return _ops.minimum(input, high, out=out) if low is None else _ops.maximum(input, low, out=out)
    alike = low.dtype is input.dtype and high.dtype is input.dtype
    if out is None and (not alike or input.requires_grad or low.requires_grad or high.requires_grad):
        return _ops.minimum(_ops.maximum(input, low), high)
    return _ops.clip(input, low, high, out=out)


def clamped_here(input: Any, low: Any, high: Any) -> Any:
    low, high = _alike(low, high)
    bounds = _bounds(low, high)
    if bounds is not None and input.dtype.is_floating_point and _of_hardtanh(low, high):
        return _ops.hardtanh_(input, *bounds)
    if bounds is None and input.requires_grad:
        return input.copy_(clamped(_ops.clone(input), low, high, None))
    return TensorBase.clip_(input, low, high)
