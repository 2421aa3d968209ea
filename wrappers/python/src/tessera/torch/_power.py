# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Powers of integers, of which PyTorch knows those with negative exponents if these are a tensor."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._core import TensorBase
from .._dtypes import bool_
from .._errors import DTypeError, InvalidValueError


def powered(input: Any, exponent: Any, out: Any = None) -> Any:
    """pow. A negative power of an integer is cut to 0, but for those of 1 and -1; a number as such an exponent is refused."""
    try:
        return _ops.pow(input, exponent, out=out)
    except InvalidValueError:
        if not isinstance(exponent, TensorBase):
            raise
    return _ops.where(*_cut(input, exponent), out=out)


def _cut(input: Any, exponent: Any) -> tuple[Any, Any, Any]:
    """Where the exponent is negative, the results there, and those elsewhere."""
    negative, odd = _ops.less(exponent, 0), _ops.remainder(exponent, 2)
    base = _ops.pow(input, _ops.where(negative, 1, exponent))  # where the exponent is negative
    unit = _ops.where(_ops.equal(base, 1), 1, _ops.where(_ops.equal(base, -1), 1 - 2 * odd, 0))
    return negative, _ops.astype(unit, base.dtype), base


def powered_here(input: Any, exponent: Any) -> Any:
    """pow_."""
    if isinstance(exponent, TensorBase) and not (input.dtype.is_floating_point or input.dtype.is_complex):
        return input.copy_(powered(input, exponent))
    return TensorBase.pow_(input, exponent)


def itself(input: Any) -> Any:
    """positive, and the operator +."""
    if input.dtype is bool_:
        raise DTypeError("positive(): input: expected a numeric dtype, got bool")
    return input
