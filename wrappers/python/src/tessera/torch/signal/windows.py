# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.signal.windows: the window functions, computed in float64 and rounded to the dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import _ops
from ..._creation import arange
from ..._dtypes import float64, get_default_dtype
from ..._errors import InvalidValueError
from .. import _rows
from .._adapters import leaf
from .._namespace import lookup
from .._tensor import made


def _window(
    M: Any, sym: bool, dtype: Any, device: Any, requires_grad: bool, function: Callable[[Any, int], Any]
) -> Any:
    """What a function gives for the places from 0 to M - 1 and the period: M - 1 where the window is symmetric, M where not."""
    kind = get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise InvalidValueError(f"M: expected a length that is not negative, got {M}")
    if not kind.is_floating_point:
        raise InvalidValueError(f"dtype: expected a floating dtype, got {kind}")
    places = arange(M, dtype=float64, device=device)
    values = function(places, M - 1 if sym else M) if M > 1 else _ops.ones_like(places)
    return leaf(made(values.to(kind)), requires_grad)


def _positive(value: Any, name: str) -> Any:
    if value <= 0:
        raise InvalidValueError(f"{name}: expected a positive number, got {value}")
    return value


def _cosines(places: Any, period: int, weights: Any) -> Any:
    """The weighted sum of cosines of whole multiples of the angle, with alternating signs."""
    if not len(weights):
        raise InvalidValueError("a: expected at least one weight, got none")
    angle = places * (2 * math.pi / period)
    total = _ops.zeros_like(places)
    for n, weight in enumerate(weights):
        total = total + _ops.cos(angle * n) * ((-1) ** n * weight)
    return total


def _centre_of(period: int, center: Any, sym: bool) -> Any:
    if sym and center is not None:
        raise InvalidValueError("center: expected None for a symmetric window")
    return period / 2 if center is None else center


def _shape_of(beta: Any) -> Any:
    if beta < 0:
        raise InvalidValueError(f"beta: expected a number that is not negative, got {beta}")
    return beta


_ARGUMENTS = "sym=True, dtype=None, layout=None, device=None, requires_grad=False"
_WINDOWS = """
bartlett(M, *, ARGS) = FOR(lambda k, n: 1 - abs((k * 2 - n) / n))
blackman(M, *, ARGS) = FOR(lambda k, n: cosines(k, n, (0.42, 0.5, 0.08)))
cosine(M, *, ARGS) = FOR(lambda k, n: sin((k + 0.5) * (pi / (n + 1))))
exponential(M, *, center=None, tau=1.0, ARGS)
    = FOR(lambda k, n: exp(-abs((k - centre_of(n, center, sym)) / positive(tau, "tau"))))
gaussian(M, *, std=1.0, ARGS) = FOR(lambda k, n: exp(-square((k - n / 2) / positive(std, "std")) / 2))
general_cosine(M, *, a, ARGS) = FOR(lambda k, n: cosines(k, n, a))
general_hamming(M, *, alpha=0.54, ARGS) = FOR(lambda k, n: cosines(k, n, (alpha, 1 - alpha)))
hamming(M, *, ARGS) = FOR(lambda k, n: cosines(k, n, (0.54, 0.46)))
hann(M, *, ARGS) = FOR(lambda k, n: cosines(k, n, (0.5, 0.5)))
kaiser(M, *, beta=12.0, ARGS)
    = FOR(lambda k, n: i0(sqrt(1 - square((k * 2 - n) / n)) * shape_of(beta)) / i0(full((), beta, dtype=float64)))
nuttall(M, *, ARGS) = FOR(lambda k, n: cosines(k, n, (0.3635819, 0.4891775, 0.1365995, 0.0106411)))
"""
_SPACE = {
    **{name: getattr(_ops, name) for name in ("abs", "sin", "exp", "square", "sqrt", "i0", "full")}, "pi": math.pi, "float64": float64,
    "cosines": _cosines, "centre_of": _centre_of, "positive": _positive, "shape_of": _shape_of, "window": _window,
}  # fmt: skip
_TABLE: dict[str, Any] = dict(_rows.functions(
    _WINDOWS.replace("ARGS", _ARGUMENTS).replace("FOR(", "window(M, sym, dtype, device, requires_grad, "), _SPACE,
    "tessera.torch.signal.windows",
))  # fmt: skip
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
