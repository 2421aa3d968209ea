# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of pooling along one, two and three axes; the reference is PyTorch if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_engine import Fixed, Make, Row, Sample, find, sample
from op_table_nn import ONE, POOL, by_torch

import tessera as ts

SIZES = {1: (5,), 2: (5, 4), 3: (3, 3, 2)}
Samples = Callable[[Make], list[Sample]]


def list_of(axes: int, *numbers: int) -> list[int]:
    return list(numbers[:axes])


def windows(axes: int, *more: dict[str, Any]) -> Samples:
    """Windows of every kind, with and without a batch."""
    kinds: list[dict[str, Any]] = [
        {"kernel_size": [2]},
        {"kernel_size": list_of(axes, 3, 2, 1), "stride": list_of(axes, 1, 2, 1), "padding": list_of(axes, 1, 0, 0)},
        {"kernel_size": [2], "stride": [2], "ceil_mode": True},
        *more,
    ]
    sizes = SIZES[axes]
    return lambda make: [
        *(sample(make.distinct(1, 2, *sizes), **kind) for kind in kinds),
        sample(make.distinct(2, *sizes), kernel_size=[2]),
    ]


def even(axes: int) -> Samples:
    """Adaptive windows: fewer than the elements, as many, and more."""
    sizes = SIZES[axes]
    return lambda make: [
        sample(make.distinct(1, 2, *sizes), list_of(axes, 3, 2, 2)),
        sample(make.distinct(2, *sizes), [1]),
        sample(make.distinct(1, 1, *sizes), list_of(axes, 5, 6, 4)),
    ]


def roots(axes: int) -> Samples:
    """Numbers above 0, because a root of a negative sum is NaN; 1 keeps the sign."""
    sizes = SIZES[axes]
    positive = lambda make, *shape: make(*shape, low=0.5, high=2)  # noqa: E731
    return lambda make: [
        sample(positive(make, 1, 2, *sizes), 2.0, [2]),
        sample(positive(make, 1, 1, *sizes), 3.0, list_of(axes, 3, 2, 1), [1]),
        sample(positive(make, 2, *sizes), 1.5, [2], [2], True),
        sample(make(1, 1, *sizes), 1.0, [2]),
        sample(make(1, 1, *sizes), 2.0, [2]),
    ]


def places(axes: int) -> Samples:
    """The maxima of windows that do not overlap, at places of all kinds; and an output size."""
    sizes = (2, 2, 1)[:axes]
    points = int(np.prod(sizes))

    def made(make: Make) -> list[Sample]:
        free = lambda *shape: np.stack(  # noqa: E731
            [make.rng.permutation(points * 2**axes)[:points] for _ in range(int(np.prod(shape)))]
        ).reshape(*shape, *sizes)
        return [
            sample(make(2, 3, *sizes), Fixed(free(2, 3)), [2]),
            sample(make(3, *sizes), Fixed(free(3)), [2]),
            sample(make(1, 2, *sizes), Fixed(free(1, 2)), [2], output_size=[2 * n + 1 for n in sizes]),
            sample(make(1, 2, *sizes), Fixed(free(1, 2)), [2], [3], output_size=[1, 2, *(3 * n for n in sizes)]),
        ]

    return made


def maximum(axes: int, positions: bool) -> Callable[..., Any]:
    def call(F: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> Any:
        return getattr(F, f"max_pool{axes}d")(x, kernel_size, stride, padding, dilation, ceil_mode, positions)

    return by_torch(call)


def adaptive(name: str, axes: int, positions: bool = False) -> Callable[..., Any]:
    def call(F: Any, x: Any, size: Any) -> Any:
        size = list(size) * axes if len(size) == 1 else size
        found = getattr(F, name)(x, size, positions) if "max" in name else getattr(F, name)(x, size)
        return found if positions or not isinstance(found, tuple) else found[0]

    return by_torch(call)


def norm(axes: int) -> Callable[..., Any]:
    """n times the mean of the powers, by the average pooling of PyTorch, which lacks lp_pool3d."""

    def call(F: Any, x: Any, p: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        kernel = list(kernel_size) * axes if len(kernel_size) == 1 else kernel_size
        means = getattr(F, f"avg_pool{axes}d")(x**p, kernel, stride, 0, ceil_mode)
        return (means * float(np.prod(kernel))) ** (1 / p)

    return by_torch(call)


def unpool(axes: int) -> Callable[..., Any]:
    return by_torch(lambda F, x, at, kernel, stride=None, **o: getattr(F, f"max_unpool{axes}d")(x, at, kernel * axes, stride and stride * axes, **o))


def rows(axes: int) -> list[Row]:
    dilated = {"kernel_size": [2], "stride": [1], "dilation": [2] if axes < 3 else [2, 2, 1]}
    inside = {"kernel_size": [2], "padding": [1], "count_include_pad": False}
    small = ONE(1, 1, *([2] * axes))
    own = [] if axes == 2 else [  # those of two axes are in op_table_nn.py
        Row(f"max_pool{axes}d", maximum(axes, False), windows(axes, dilated), **POOL,
            errors=[(ValueError, lambda: find(f"max_pool{axes}d")(small, [3])),
                    (ValueError, lambda: find(f"max_pool{axes}d")(ONE(2), [1])),
                    (TypeError, lambda: find(f"max_pool{axes}d")(small.astype(ts.int64), [1]))]),
        Row(f"max_pool{axes}d_with_positions", maximum(axes, True), windows(axes), **POOL),
        Row(f"avg_pool{axes}d", by_torch(f"avg_pool{axes}d"),
            windows(axes, inside, *([{"kernel_size": [2], "divisor_override": 3}] if axes == 3 else [])), **POOL),
        Row(f"adaptive_avg_pool{axes}d", adaptive(f"adaptive_avg_pool{axes}d", axes), even(axes), **POOL),
    ]  # fmt: skip
    return own + [
        Row(f"adaptive_max_pool{axes}d", adaptive(f"adaptive_max_pool{axes}d", axes), even(axes), **POOL,
            errors=[(ValueError, lambda: find(f"adaptive_max_pool{axes}d")(small, [2] * (axes + 1)))]),
        Row(f"adaptive_max_pool{axes}d_with_positions", adaptive(f"adaptive_max_pool{axes}d", axes, True), even(axes), **POOL),
        Row(f"lp_pool{axes}d", norm(axes), roots(axes), **POOL,
            errors=[(ValueError, lambda: find(f"lp_pool{axes}d")(small, float("inf"), [2]))]),
        Row(f"max_unpool{axes}d", unpool(axes), places(axes), grad_args=(0,), **POOL,
            errors=[(IndexError, lambda: find(f"max_unpool{axes}d")(small, ts.full(small.shape, -1), [1])),
                    (ValueError, lambda: find(f"max_unpool{axes}d")(small, ts.zeros((1, 1), dtype=ts.int64), [1])),
                    (TypeError, lambda: find(f"max_unpool{axes}d")(small, small, [1]))]),
    ]  # fmt: skip


ROWS = [row for axes in (1, 2, 3) for row in rows(axes)]
