# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Images of another size in bytes, by Lanczos's filter, and cubic samples of volumes, which are several of the library's
operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _ops
from .._creation import arange
from .._dtypes import bfloat16, float16, float32, float64, int32, int64, uint8
from .._errors import InvalidValueError
from ..nn.functional import interpolate

# ---- another size ----


def _triangle(x: Any) -> Any:
    return _ops.clip(1 - x, 0, None)


def _cubic(a: float) -> Any:
    """Keys's cubic with a slope of its own, for distances from 0 on."""

    def weight(x: Any) -> Any:
        near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
        return _ops.where(x < 1, near, _ops.where(x < 2, far, 0.0))

    return weight


def _lanczos(x: Any) -> Any:
    return _ops.where(x < 3, _ops.sinc(x) * _ops.sinc(x / 3), 0.0)


def _taps(count: int, size: int, factor: float | None, mode: str, align_corners: bool, antialias: bool, device: Any) -> Any:
    """For each of `size` elements made of `count`: the elements that it is a sum of, and their weights."""
    width, filter_ = {"bilinear": (2, _triangle), "bicubic": (4, _cubic(-0.5 if antialias else -0.75)), "lanczos": (6, _lanczos)}[mode]
    if align_corners:
        scale = (count - 1) / (size - 1) if size > 1 else 0.0
    else:
        scale = count / size if factor is None else 1 / factor
    stretch = max(scale, 1.0) if antialias else 1.0
    half = 0.0 if align_corners and not antialias else 0.5
    center = (arange(size, dtype=float64, device=device) + half) * scale
    if not antialias:
        steps = arange(width, dtype=float64, device=device)
        places = _ops.floor(center - width / 2 + 1 - half)[:, None] + steps
        weights = filter_(_ops.abs(places + half - center[:, None]))
        # The element at the end takes the weights of those beyond it.
        first = _ops.clip(places[:, :1], 0, max(count - width, 0)) + steps
        same = _ops.equal(first[:, :, None], _ops.clip(places, 0, count - 1)[:, None])
        return _ops.clip(first, 0, count - 1).to(int64), _ops.sum(_ops.where(same, weights[:, None], 0.0), -1)
    support = width / 2 * stretch
    first = _ops.clip(_ops.trunc(center - support + half), 0, None)
    places = first[:, None] + arange(2 * math.ceil(support) + 1, dtype=float64, device=device)
    inside = places < _ops.trunc(center + support + half)[:, None]
    weights = _ops.where(inside, filter_(_ops.abs(places + half - center[:, None]) / stretch), 0.0)
    weights = _ops.where(places < count, weights, 0.0)
    return _ops.clip(places, 0, count - 1).to(int64), weights / _ops.sum(weights, 1, keepdims=True)


def _sum_of_taps(start: Any, input: Any, axis: int, places: Any, weights: Any) -> Any:
    shape = [-1 if i == axis else 1 for i in range(input.ndim)]
    for tap in range(places.shape[1]):
        start = start + _ops.take(input, places[:, tap], axis) * _ops.reshape(weights[:, tap], shape)
    return start


def _resized(input: Any, axis: int, places: Any, weights: Any) -> Any:
    """One axis in its new size; bytes by weights that are integers of 16 bits, as exact as these can be."""
    if input.dtype is not uint8:
        return _sum_of_taps(0, input, axis, places, weights.to(input.dtype))
    largest, bits = _ops.max(weights).item(), 0
    while bits < 22 and int(0.5 + largest * 2 ** (bits + 1)) < 2**15:
        bits += 1
    whole = _ops.trunc(weights * 2**bits + _ops.copysign(0.5, weights)).to(int32)
    total = _sum_of_taps(2 ** (bits - 1), input.to(int32), axis, places, whole)
    return _ops.clip(_ops.bitwise_right_shift(total, bits), 0, 255).to(uint8)


def of_size(
    input: Any, size: Any, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None, recompute: Any = None,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """interpolate, also of bytes and by Lanczos's filter."""
    lanczos = mode == "lanczos"
    if not lanczos and (input.dtype is not uint8 or mode not in ("bilinear", "bicubic")):
        return interpolate(input, size, scale_factor, mode, align_corners, recompute, antialias)
    if lanczos and (align_corners or not antialias):
        raise InvalidValueError("interpolate: mode: lanczos requires antialias=True and does not support align_corners=True")
    # The library checks the other arguments and says what size they mean.
    none = input.new_empty((0, *input.shape[1:]), dtype=float32)
    shape = interpolate(none, size, scale_factor, "bicubic" if lanczos else mode, align_corners, recompute, antialias).shape
    factors: Sequence[Any] = (None, None)
    if scale_factor is not None and not recompute:
        factors = [scale_factor] * 2 if not isinstance(scale_factor, (list, tuple)) else scale_factor
    for axis in (3, 2):
        count = input.shape[axis]
        if count == shape[axis]:
            continue
        taps = _taps(count, shape[axis], factors[axis - 2], mode, bool(align_corners), antialias, input.device)
        input = _resized(input, axis, *taps)
    return input


# ---- samples ----


def _reflected(x: Any, low: float, span: int) -> Any:
    """The coordinates between `low` and `low + span` that mirrors at both ends show."""
    if not span:
        return x * 0
    away = _ops.abs(x - low)
    rest = _ops.fmod(away, span)
    return _ops.where(_ops.fmod(_ops.floor(away / span), 2) == 0, rest, span - rest) + low


def _cubic_taps(grid: Any, count: int, padding: str, align_corners: bool) -> list[tuple[Any, Any]]:
    """The four places along an axis of which a sample is a sum, and their weights."""
    at = (grid + 1) / 2 * (count - 1) if align_corners else ((grid + 1) * count - 1) / 2
    first = _ops.floor(at.detach()) - 1
    taps = []
    for tap in range(4):
        place = first + tap
        weight = _cubic(-0.75)(_ops.abs(at - place))
        if padding == "zeros":
            inside = _ops.logical_and(place >= 0, place < count)
            weight = _ops.where(inside, weight, 0.0)
        elif padding == "reflection":
            place = _reflected(place, 0, count - 1) if align_corners else _reflected(place, -0.5, count)
        taps.append((_ops.nan_to_num(_ops.clip(place, 0, count - 1)).to(int64), weight))
    return taps


def sampled(input: Any, grid: Any, mode: str, padding: str, align_corners: bool) -> Any:
    """grid_sample, also with cubic weights in volumes."""
    if mode != "bicubic" or input.ndim != 5 or grid.ndim != 5:
        return _ops.grid_sample(input, grid, mode, padding, align_corners)
    _ops.grid_sample(input[:, :1].detach(), grid.detach(), "nearest", padding, align_corners)  # the library checks the arguments
    if input.dtype in (float16, bfloat16):
        return sampled(input.to(float32), grid.to(float32), mode, padding, align_corners).to(input.dtype)
    batch, channels, *sizes = input.shape
    flat, places = _ops.reshape(input, (batch, channels, -1)), _ops.reshape(grid, (batch, -1, 3))
    taps = [_cubic_taps(places[..., 2 - axis], sizes[axis], padding, align_corners) for axis in range(3)]
    total: Any = 0
    for z, of_z in taps[0]:
        for y, of_y in taps[1]:
            row, of_row = (z * sizes[1] + y) * sizes[2], of_z * of_y
            for x, of_x in taps[2]:
                index = _ops.broadcast_to((row + x)[:, None], (batch, channels, places.shape[1]))
                total = total + _ops.gather(flat, 2, index) * (of_row * of_x)[:, None]
    return _ops.reshape(total, (batch, channels, *grid.shape[1:4]))


__all__ = ["of_size", "sampled"]
