# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.masked: reductions and normalisations of the elements for which a mask is true. There are no masked tensors."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._dtypes import bool_, float32, iinfo
from .._errors import DTypeError, InvalidValueError, OutOfRangeError
from . import _rows, _table_modules
from ._adapters import middle
from ._namespace import lookup, space
from ._numeric import log_of_sum


def _selects(input: Any, mask: Any) -> Any:
    """A mask as the library takes it."""
    if mask is None:
        return None
    if mask.ndim > input.ndim:
        raise OutOfRangeError(f"mask: expected at most {input.ndim} axes, as the input has, got shape {mask.shape}")
    return mask.to(bool_)


def _cast(result: Any, dtype: Any) -> Any:
    return result if dtype is None or result.dtype is dtype else TensorBase.to(result, dtype)


def _or(mask: Any, input: Any, value: float) -> Any:
    """The input, with a value where the mask leaves something out."""
    return input if mask is None else _ops.where(mask, input, value)


def _floating(name: str, input: Any, dtype: Any) -> Any:
    kind = input.dtype if dtype is None else dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise DTypeError(f"masked.{name}: dtype: expected a floating or complex dtype, got {kind}")
    return _cast(input, kind)


def _logarithm(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    if input.dtype.is_floating_point:
        return _ops.masked_logsumexp(input, mask, dim, keepdims=keepdim)
    least = -math.inf if input.dtype.is_complex else iinfo(input.dtype).min
    return log_of_sum(_or(mask, input, least), range(input.ndim) if dim is None else dim, keepdim, None)


def _of_length_one(input: Any, power: float, dim: int, eps: float, mask: Any) -> Any:
    norm = _ops.masked_norm(input, mask, power, dim, keepdims=True)
    return _ops.divide(_or(mask, input, 0), _ops.clip(norm, eps, None))


def _variance(input: Any, mask: Any, dim: Any, **options: Any) -> Any:
    if not input.dtype.is_complex:
        return _ops.masked_var(input, mask, dim, **options)
    parts = [_ops.masked_var(part(input), mask, dim, **options) for part in (_ops.real, _ops.imag)]
    return _ops.add(*parts).to(input.dtype)


def _spread(input: Any, mask: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, root: bool) -> Any:
    """var and std, which keep a complex dtype."""
    if unbiased is not None and correction is not None:
        raise InvalidValueError("masked.var: correction: expected it or unbiased, got both")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    kind = dtype or (input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else float32)
    given = _cast(input, kind if kind.is_floating_point or kind.is_complex else float32)
    found = _cast(_variance(given, mask, dim, correction=correction, keepdims=bool(keepdim)), kind)
    return _ops.sqrt(found) if root else found


def _median(input: Any, dim: int, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The lower median; integers become float32 on the way, where NaN stands for what is left out."""
    given = input if input.dtype.is_floating_point else input.to(float32)
    found = middle("nanmedian", _or(mask, given, math.nan), dim, keepdim).values
    if given is input:
        return found
    if bool(_ops.any(_ops.isnan(found))):
        raise InvalidValueError("masked.median: mask: expected an element in each row, because integers have no NaN, got a row without one")
    return _cast(found, dtype or input.dtype)


_TABLE: dict[str, Any] = _rows.functions(
    _table_modules.MASKED,
    space(
        selects=_selects, cast=_cast, floating=_floating, infinity=math.inf, logarithm=_logarithm, lower_median=_median,
        of_length_one=_of_length_one, or_=_or, spread_of=_spread,
    ),  # fmt: skip
    "tessera.torch.masked",
)
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
