# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Fractional max pooling (Graham, "Fractional max-pooling", 2014): windows whose distances are random, so that the output
has any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._creation import arange
from .._dtypes import DType, bfloat16, float16, float32, int64
from .._errors import ArgumentTypeError, InvalidArgumentError, InvalidValueError, ShapeError, as_int, as_list, as_number
from .._tensor import Tensor
from ._sizes import Sizes


def _each(value: Any, axes: int, what: str) -> list[Any]:
    """One value for each axis, where one stands for all."""
    if isinstance(value, (int, float)) or hasattr(value, "__index__"):
        return [value] * axes
    found = list(as_list(value, what))
    if len(found) != axes:
        raise InvalidArgumentError(f"{what}: expected one number or {axes} of them, got {value!r}")
    return found


def _output_sizes(input: Tensor, axes: int, size: Any, ratio: Any) -> list[int]:
    if (size is None) == (ratio is None):
        raise InvalidArgumentError(
            f"fractional_max_pool{axes}d(): expected either output_size or output_ratio, got {'none' if size is None else 'both'}"
        )
    if size is not None:
        return [as_int(n, "output_size") for n in _each(size, axes, "output_size")]
    ratios = [as_number(r, "output_ratio") for r in _each(ratio, axes, "output_ratio")]
    if not all(math.isfinite(r) for r in ratios):
        raise InvalidValueError(f"fractional_max_pool{axes}d(): output_ratio: expected finite numbers, got {ratio!r}")
    return [int(n * r) for n, r in zip(input.shape[-axes:], ratios)]


def _exact(dtype: DType) -> DType:
    """The dtype in which places are computed: 16-bit floats do not hold every place."""
    return float32 if dtype in (float16, bfloat16) else dtype


def _starts(sample: Tensor, length: int, count: int, window: int) -> Tensor:
    """The first places of `count` windows for each random number: (N, C) to (N, C, count). The last one ends at the end."""
    last = _ops.full((*sample.shape, 1), length - window, dtype=int64, device=sample.device)
    if count == 1:
        return last
    pace = (length - window) / (count - 1)
    sample = _ops.expand_dims(sample, -1)
    steps = arange(count - 1, dtype=sample.dtype, device=sample.device)
    found = _ops.trunc((steps + sample) * pace) - _ops.trunc(sample * pace)
    return _ops.concat([_ops.astype(found, int64), last], -1)


def _pool(
    axes: int, input: Tensor, kernel_size: Sizes, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The maxima, and their positions in the flattened spatial axes."""
    name = f"fractional_max_pool{axes}d()"
    for what, given in (("input", input), ("samples", samples)):
        if not isinstance(given, TensorBase) and (what == "input" or given is not None):
            raise ArgumentTypeError(f"{name}: {what}: expected a Tensor, got {type(given).__name__}")
    if input.ndim not in (axes + 1, axes + 2):
        raise ShapeError(f"{name}: expected {axes + 1} or {axes + 2} axes, got shape {input.shape}")
    batched = input if input.ndim == axes + 2 else input[None]
    windows = [as_int(k, "kernel_size") for k in _each(kernel_size, axes, "kernel_size")]
    counts = _output_sizes(input, axes, output_size, output_ratio)
    lengths, lead = batched.shape[2:], tuple(batched.shape[:2])
    for length, count, window in zip(lengths, counts, windows):
        if count < 1 or window < 1 or count + window - 1 > length:
            raise ShapeError(
                f"{name}: expected sizes of at least 1 with output + kernel - 1 at most the input's {tuple(lengths)}, got "
                f"output {tuple(counts)} and kernel {tuple(windows)}"
            )
    if samples is None:
        samples = _ops.rand((*lead, axes), dtype=_exact(input.dtype), device=input.device)
    elif tuple(samples.shape) != (*lead, axes):
        raise ShapeError(f"{name}: random samples: expected shape {(*lead, axes)}, got {samples.shape}")
    samples = _ops.astype(samples, _exact(samples.dtype), copy=False)
    # The numbers of two axes belong to the last axis first, those of three axes to the first one.
    order = reversed(range(axes)) if axes == 2 else range(axes)
    places: Any = 0
    for axis, number in zip(range(axes), order):
        first = _starts(samples[..., number], lengths[axis], counts[axis], windows[axis])
        inside = _ops.expand_dims(first, -1) + arange(windows[axis], device=input.device)
        # (N, C, count, window) with an axis of size 1 for each other count and window
        shape = [*lead, *[1] * (2 * axes)]
        shape[2 + axis], shape[2 + axes + axis] = counts[axis], windows[axis]
        places = places * lengths[axis] + _ops.reshape(inside, shape)
    # No -1 in the shapes: without samples it would have no solution.
    of_one = math.prod(windows)
    windows_flat = _ops.reshape(places, (*lead, math.prod(counts) * of_one))
    picked = _ops.gather(_ops.reshape(batched, (*lead, math.prod(lengths))), -1, windows_flat)
    shape = [*lead, *counts, of_one]
    values, best = _ops.max_with_indices(_ops.reshape(picked, shape), -1)
    positions = _ops.gather(_ops.reshape(windows_flat, shape), -1, _ops.expand_dims(best, -1))
    positions = _ops.squeeze(positions, -1)
    return (values, positions) if batched is input else (values[0], positions[0])


def fractional_max_pool2d_with_positions(
    input: Tensor, kernel_size: Sizes, output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The maxima of windows at random distances along two axes, and their positions. Either `output_size` or
    `output_ratio`, the share of the input's size. `samples` are uniform numbers (N, C, 2) in place of random ones."""
    return _pool(2, input, kernel_size, output_size, output_ratio, samples)


def fractional_max_pool3d_with_positions(
    input: Tensor, kernel_size: Sizes, output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """As fractional_max_pool2d_with_positions, along three axes; `samples` has the shape (N, C, 3)."""
    return _pool(3, input, kernel_size, output_size, output_ratio, samples)


def fractional_max_pool2d(
    input: Tensor, kernel_size: Sizes, output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> Tensor:
    """fractional_max_pool2d_with_positions without the positions."""
    return _pool(2, input, kernel_size, output_size, output_ratio, samples)[0]


def fractional_max_pool3d(
    input: Tensor, kernel_size: Sizes, output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> Tensor:
    """fractional_max_pool3d_with_positions without the positions."""
    return _pool(3, input, kernel_size, output_size, output_ratio, samples)[0]
