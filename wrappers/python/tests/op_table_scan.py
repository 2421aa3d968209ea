# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of scans other than the running sum, and of differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, BOOL, COMPLEX, FLOATS, INTEGERS, REAL, Make, Row, Sample, sample

import tessera as ts

WIDE = {"i": np.int64, "b": np.int64, "u": np.uint64}
SUMS = {"float32": (1e-5, 1e-5), "float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 5e-2), "complex64": (1e-5, 1e-5)}
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed")  # "expanded" would make ties


def products(x: Any, axis: int | None = None, include_initial: bool = False) -> Any:
    axis = 0 if axis is None else axis
    kind = WIDE.get(x.dtype.kind)
    found = np.cumprod(x, axis, dtype=kind) if x.ndim else np.asarray(x, kind)
    if include_initial:
        found = np.concatenate([np.ones_like(np.take(found, [0], axis)), found], axis)
    return found


def product_samples(make: Make) -> list[Sample]:
    return [
        sample(make(3, 4), axis=0), sample(make(3, 4), axis=-1), sample(make(5)), sample(make(0, 3), axis=0),
        sample(make(2, 3), axis=1, include_initial=True), sample(make(), axis=0), sample(make(2, 5, 3), axis=1),
    ]  # fmt: skip


def product_gradients(make: Make) -> list[Sample]:
    """With no zero, with one, and with several in a line."""
    plain, one, several = make(2, 4, low=0.5), make(2, 4, low=0.5), make(2, 4, low=0.5)
    one[0, 2] = 0
    several[0, [1, 3]] = 0
    several[1, 0] = 0
    return [sample(x, axis=1) for x in (plain, one, several)] + [sample(several, axis=0), sample(make(), axis=0)]


def extrema(better: Any) -> Any:
    """The definition, element by element: the last of equal ones, and the last NaN."""

    def reference(x: Any, axis: int) -> Any:
        values, places = np.array(x), np.zeros(x.shape, np.int64)
        if x.ndim == 0:
            return values, places
        for lane in np.ndindex(*(n for d, n in enumerate(x.shape) if d != axis % x.ndim)):
            at: list[Any] = list(lane)
            at.insert(axis % x.ndim, slice(None))
            line, best = x[tuple(at)], 0
            for i, value in enumerate(line):
                if value != value or (line[best] == line[best] and better(value, line[best])):
                    best = i
                values[tuple(at)][i], places[tuple(at)][i] = line[best], best
        return values, places

    return reference


def extremum_samples(make: Make) -> list[Sample]:
    shapes: list[tuple[tuple[int, ...], int]] = [
        ((7,), 0), ((3, 4), 0), ((3, 4), -1), ((), 0), ((0, 3), 1), ((3, 0), 1), ((6, 2, 5), 0), ((40, 9), 0)
    ]  # fmt: skip
    found = [sample(make(*s), axis=a) for s, a in shapes]
    if make.dtype in ALL_FLOATS:
        special = make(3, 6)
        special[0, 2], special[1, [1, 4]], special[2, 3] = np.nan, np.nan, np.inf
        found += [sample(special, axis=0), sample(special, axis=1)]
    return found


def distinct_samples(make: Make) -> list[Sample]:
    return [sample(make.distinct(3, 4), axis=0), sample(make.distinct(7), axis=-1), sample(make.distinct(), axis=0)]


def log_sums(x: Any, axis: int) -> Any:
    if np.iscomplexobj(x):
        return np.log(np.cumsum(np.exp(x), axis)) if x.ndim else x
    return np.logaddexp.accumulate(np.asarray(x, np.float64), axis) if x.ndim else np.asarray(x, np.float64)


def log_samples(make: Make) -> list[Sample]:
    if make.dtype in COMPLEX:  # parts so small that the sums stay in one branch of the logarithm
        shapes = (((5,), 0), ((3, 4), 0), ((3, 4), -1), ((), 0), ((0, 3), 0), ((70, 12), 0), ((2, 1), 1))
        return [sample(make(*s, low=-1, high=1), axis=a) for s, a in shapes]
    found = [sample(make(*s), axis=a) for s, a in (((5,), 0), ((3, 4), 0), ((3, 4), -1), ((), 0), ((0, 3), 0), ((700, 12), 0))]
    if make.dtype in ALL_FLOATS:
        wide = make(2, 1100, low=-60, high=60)
        falling = np.array([[-np.inf, -np.inf, 1, -np.inf], [3, np.inf, 1, 2], [0, np.nan, 1, 2]])
        found += [sample(wide, axis=1), sample(wide, axis=0), sample(falling, axis=1), sample(falling.T, axis=0)]
    return found


def difference(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    more = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(x, n, axis, **more)


def difference_samples(make: Make) -> list[Sample]:
    return [
        sample(make(5)), sample(make(3, 4), axis=0), sample(make(3, 4), 2), sample(make(3), 5), sample(make(2, 3), 0),
        sample(make(2, 3), prepend=make(2, 1)), sample(make(2, 3), axis=0, prepend=make(), append=make(2, 3)), sample(make(0, 2)),
    ]  # fmt: skip


def trapezoids(x: Any, places: Any = None, dx: float = 1, axis: int = -1, running: bool = False) -> Any:
    y = np.asarray(x, np.float64) if x.dtype.kind in "iub" else x
    if x.dtype.kind != "c" and places is not None:
        places = np.asarray(places, np.float64)
    if places is not None and np.ndim(places) == 1 and y.ndim > 1:
        places = places.reshape([-1 if d == axis % y.ndim else 1 for d in range(y.ndim)])
    width = dx if places is None else np.diff(places, axis=axis)
    count = max(y.shape[axis] - 1, 0)
    areas = (y.take(np.arange(count), axis) + y.take(np.arange(y.shape[axis] - count, y.shape[axis]), axis)) * width / 2
    return np.cumsum(areas, axis) if running else areas.sum(axis)


def trapezoid_samples(make: Make) -> list[Sample]:
    return [
        sample(make(5)), sample(make(3, 4), axis=0), sample(make(3, 4), dx=0.5), sample(make(3, 4), make(4)),
        sample(make(3, 4), make(3), axis=0), sample(make(2, 3), make(2, 3)), sample(make(1)), sample(make(0, 2)),
    ]  # fmt: skip


ROWS = [
    Row("cumulative_prod", products, product_samples, dtypes=ALL, result="sum",
        tolerance={**SUMS, "bfloat16": (3e-2, 1e-3)}, grad_samples=product_gradients,
        errors=[(ValueError, lambda: ts.cumulative_prod(ts.ones(2, 2))), (IndexError, lambda: ts.cumulative_prod(ts.ones(2), axis=1)),
                (ValueError, lambda: ts.cumulative_prod(ts.ones(()), include_initial=True))]),
    Row("cummax", extrema(lambda a, b: a >= b), extremum_samples, dtypes=(*REAL, *BOOL), grad_samples=distinct_samples,
        layouts=LAYOUTS, errors=[(TypeError, lambda: ts.cummax(ts.ones(2) * 1j, 0)), (IndexError, lambda: ts.cummax(ts.ones(2), 1))]),
    Row("cummin", extrema(lambda a, b: a <= b), extremum_samples, dtypes=(*REAL, *BOOL), grad_samples=distinct_samples,
        layouts=LAYOUTS, errors=[(TypeError, lambda: ts.cummin(ts.ones(2) * 1j, 0))]),
    Row("logcumsumexp", log_sums, log_samples, dtypes=(*ALL_FLOATS, *INTEGERS, *COMPLEX), result="float",
        tolerance={**SUMS, "float16": (2e-3, 1e-3)},
        grad_samples=lambda m: [sample(m(3, 4), axis=1), sample(m(5), axis=0), sample(m(2, 3), axis=0), sample(m(), axis=0)],
        errors=[(IndexError, lambda: ts.logcumsumexp(ts.ones(2) * 1j, 1))]),
    Row("diff", difference, difference_samples, dtypes=ALL, tolerance={"float16": (2e-3, 4e-3), "bfloat16": (2e-2, 4e-2)},
        errors=[(ValueError, lambda: ts.diff(ts.ones(()))), (ValueError, lambda: ts.diff(ts.ones(3), -1))]),
    Row("trapezoid", trapezoids, trapezoid_samples, dtypes=(*FLOATS, *COMPLEX, "int32", "bool"), result="float", tolerance=SUMS,
        errors=[(ValueError, lambda: ts.trapezoid(ts.ones(()))), (ValueError, lambda: ts.trapezoid(ts.ones(3), ts.ones(2)))]),
    Row("cumulative_trapezoid", lambda *a, **k: trapezoids(*a, **k, running=True), trapezoid_samples,
        dtypes=(*FLOATS, *COMPLEX, "int32"), result="float", tolerance=SUMS),
]  # fmt: skip
