# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of searching, sets and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, BOOL, FLOATS, INTEGERS, REAL, Fixed, Make, Row, Sample, sample

import tessera as ts

INDEX = "the result is an index"
SET = "the different elements have no gradient"
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed")


def rising(make: Make, *shape: int) -> Any:
    return np.sort(make(*shape), -1)


def searched(x: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    if x.ndim == 1:
        return np.searchsorted(x, values, side, sorter)
    rows = zip(x.reshape(-1, x.shape[-1]), values.reshape(-1, values.shape[-1]))
    return np.array([np.searchsorted(a, v, side) for a, v in rows]).reshape(values.shape)


def search_samples(make: Make) -> list[Sample]:
    found = [
        sample(rising(make, 9), make(4, 3), side=side) for side in ("left", "right")
    ] + [
        sample(rising(make, 2, 3, 5), make(2, 3, 4), side="right"), sample(rising(make, 7), make()), sample(rising(make, 7), 1),
        sample(rising(make, 0), make(3)), sample(rising(make, 4), make(0)), sample(rising(make, 200), make(3)),
    ]  # fmt: skip
    if make.dtype in FLOATS:
        special = np.array([-np.inf, -0.0, 0.0, 1, np.inf, np.nan, np.nan])
        found += [sample(special, np.array([0.0, np.nan, np.inf, 2]), side=side) for side in ("left", "right")]
    return found


def bucketed(x: Any, boundaries: Any, right: bool = False, out_int32: bool = False) -> Any:
    return np.searchsorted(boundaries, x, "right" if right else "left").astype(np.int32 if out_int32 else np.int64)


def repeated(make: Make, *shape: int) -> Any:
    """Few different values, and with floats also NaN and zeros of both signs."""
    array = make(*shape, low=-1, high=2)
    if make.dtype in INTEGERS + BOOL:
        return array
    array = np.round(array.real) + (1j * np.round(array.imag) if make.dtype.startswith("complex") else 0.0)
    if array.size > 6:
        array.reshape(-1)[[1, 4]] = np.nan
        array.reshape(-1)[2] = -0.0
    return array


def set_samples(make: Make) -> list[Sample]:
    found = [sample(repeated(make, *s)) for s in ((9,), (4, 5), (), (0,), (2, 0, 3), (3, 1, 4))]
    if make.dtype in INTEGERS and not make.dtype.endswith("int8"):
        found.append(sample(repeated(make, 4, 5) * 1000))  # too far apart to be counted
    if make.dtype == "int64":
        found.append(sample(np.array([2**63 - 1, -(2**63), 0, 2**63 - 1])))
    return found


def different(*names: str) -> Any:
    """The definition of the standard, with np.unique for numbers and each NaN as one more value at the end."""

    def reference(x: Any) -> Any:
        flat = x.reshape(-1)
        rows = np.stack([flat.real, flat.imag], 1) if x.dtype.kind == "c" else flat.reshape(-1, 1)
        order = sorted(range(flat.size), key=lambda i: [(v != v, 0 if v != v else v) for v in rows[i]])
        firsts: list[int] = []
        inverse, counts = np.zeros(flat.size, np.int64), []
        for i in order:
            if not firsts or not flat[firsts[-1]] == flat[i]:
                firsts.append(i)
                counts.append(0)
            counts[-1] += 1
            inverse[i] = len(firsts) - 1
        results = {"values": flat[firsts], "indices": np.array(firsts, np.int64), "inverse": inverse.reshape(x.shape),
                   "counts": np.array(counts, np.int64)}  # fmt: skip
        found = tuple(results[name] for name in names)
        return found if len(found) > 1 else found[0]

    return reference


def different_slices(x: Any, axis: int) -> Any:
    if x.shape[axis] == 0:
        return x, np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, inverse, counts = np.unique(x, axis=axis, return_inverse=True, return_counts=True)
    return values, inverse.reshape(-1), counts


def slice_samples(make: Make) -> list[Sample]:
    def array(*shape: int) -> Any:
        return np.round(make(*shape, low=0, high=1)) if make.dtype in ALL_FLOATS else make(*shape, low=0, high=1)

    return [sample(array(6, 2), 0), sample(array(2, 7), 1), sample(array(5, 3, 2), 0), sample(array(2, 6, 3), -2),
            sample(array(9), 0), sample(array(4, 1), 0), sample(array(0, 3), 0), sample(array(40, 5), 0)]  # fmt: skip


def runs(x: Any, axis: int | None = None) -> Any:
    lines = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    first = [i for i in range(len(lines)) if i == 0 or not np.array_equal(lines[i], lines[i - 1])]
    number = np.cumsum([int(i in first) for i in range(len(lines))], dtype=np.int64) - 1
    counts = np.diff([*first, len(lines)]).astype(np.int64)
    values = lines[first] if axis is None else np.moveaxis(lines[first], 0, axis)
    return values, number.reshape(x.shape) if axis is None else number, counts


def run_samples(make: Make) -> list[Sample]:
    along = [sample(repeated(make, 9, 1), 0), sample(repeated(make, 2, 5), axis=1), sample(repeated(make, 0, 5), axis=0)]
    return [*set_samples(make), *along]


def counted(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return np.bincount(x, weights, minlength)


def count_samples(make: Make) -> list[Sample]:
    index = make.index(9, high=6)
    return [sample(index, make(9)), sample(index, make(9), minlength=8), sample(Fixed(np.zeros(0, np.int64)), make(0), minlength=2)]


def interval_samples(make: Make) -> list[Sample]:
    special = make(12)
    special[[0, 3]], special[5] = np.nan, np.inf
    return [sample(make(30), 5), sample(make(4, 6), 7, -1, 1.5), sample(make(0), 3), sample(make(1), 4), sample(make(3, 3), 1),
            sample(special, 4, -2, 2), sample(np.array([0.0, 1, 2, 3, 4]), 4, 0, 4)]  # fmt: skip


def counts_of(x: Any, bins: Any, low: Any = None, high: Any = None, weight: Any = None, density: bool = False) -> Any:
    kept = x.reshape(-1)
    weights = None if weight is None else weight.reshape(-1)
    limits = None if low is None else (low, high)
    hist, edges = np.histogram(kept[~np.isnan(kept)] if weight is None else kept, bins, limits, density, weights)
    return hist.astype(np.float64), edges


def histc(x: Any, bins: int = 100, low: float = 0, high: float = 0) -> Any:
    return counts_of(x, bins, *((None, None) if low == high else (low, high)))[0]


def histogram_samples(make: Make) -> list[Sample]:
    edges = np.array([-1.5, -0.5, 0.25, 2])
    return [sample(make(30), 5), sample(make(3, 6), 4, min=-1, max=1), sample(make(20), edges), sample(make(20), edges, density=True),
            sample(make(9), 3, weight=make(9, low=0.5), min=-1.0, max=1.0), sample(make(0), 2)]  # fmt: skip


def histogram(x: Any, bins: Any, min: Any = None, max: Any = None, weight: Any = None, density: bool = False) -> Any:
    return counts_of(x, bins, min, max, weight, density)


ROWS = [
    Row("msort", lambda x: np.sort(x, 0) if x.ndim else x,
        lambda m: [sample(m.distinct(5)), sample(m.distinct(4, 3)), sample(m.distinct())],
        dtypes=(*REAL, *BOOL), layouts=LAYOUTS),
    Row("searchsorted", searched, search_samples, dtypes=REAL, result="int64", grad=False, why_no_grad=INDEX,
        layouts=("contiguous", "sliced"),
        errors=[(ValueError, lambda: ts.searchsorted(ts.ones(2), ts.ones(2), side="up")),
                (ValueError, lambda: ts.searchsorted(ts.ones((2, 2)), ts.ones(2))),
                (IndexError, lambda: ts.searchsorted(ts.ones(2), ts.ones(2), sorter=ts.tensor([0, 2]))),
                (TypeError, lambda: ts.searchsorted(ts.ones(2) * 1j, ts.ones(2)))]),
    Row("bucketize", bucketed, lambda m: [sample(m(3, 4), rising(m, 5)), sample(m(4), rising(m, 5), right=True)],
        dtypes=REAL, result="int64", grad=False, why_no_grad=INDEX, layouts=("contiguous", "sliced"),
        errors=[(ValueError, lambda: ts.bucketize(ts.ones(2), ts.ones((2, 2))))]),
    Row("unique_all", different("values", "indices", "inverse", "counts"), set_samples, dtypes=ALL, grad=False, why_no_grad=SET),
    Row("unique_counts", different("values", "counts"), set_samples, dtypes=ALL, grad=False, why_no_grad=SET),
    Row("unique_inverse", different("values", "inverse"), set_samples, dtypes=ALL, grad=False, why_no_grad=SET),
    Row("unique_values", different("values"), set_samples, dtypes=ALL, grad=False, why_no_grad=SET),
    Row("unique_axis", different_slices, slice_samples, dtypes=(*REAL, *BOOL), layouts=LAYOUTS, grad=False, why_no_grad=SET,
        errors=[(ValueError, lambda: ts.unique_axis(ts.ones(()), 0))]),
    Row("unique_consecutive", runs, run_samples, dtypes=ALL, layouts=LAYOUTS, grad=False, why_no_grad=SET),
    Row("unique_consecutive_counts", lambda *args, **options: runs(*args, **options)[::2], run_samples, dtypes=ALL, layouts=LAYOUTS,
        grad=False, why_no_grad=SET),
    Row("unique_consecutive_values", lambda *args, **options: runs(*args, **options)[0], run_samples, dtypes=ALL, layouts=LAYOUTS,
        grad=False, why_no_grad=SET),
    Row("bincount", counted, count_samples, dtypes=FLOATS, tolerance={"float32": (1e-5, 1e-5)},
        errors=[(ValueError, lambda: ts.bincount(ts.tensor([-1]))), (TypeError, lambda: ts.bincount(ts.ones(2))),
                (ValueError, lambda: ts.bincount(ts.tensor([[1]]))), (ValueError, lambda: ts.bincount(ts.tensor([1]), ts.ones(2)))]),
    Row("histc", histc, interval_samples, dtypes=FLOATS, grad=False, why_no_grad="the result is a count",
        errors=[(ValueError, lambda: ts.histc(ts.ones(2), 0)), (ValueError, lambda: ts.histc(ts.ones(2), 2, 3, 1)),
                (ValueError, lambda: ts.histc(ts.tensor([float("inf")]), 2)), (TypeError, lambda: ts.histc(ts.arange(3), 2))]),
    Row("histogram", histogram, histogram_samples, dtypes=FLOATS, tolerance={"float32": (1e-5, 1e-5)},
        grad_samples=lambda m: [sample(m(9), 3, min=-1, max=1, weight=m(9, low=0.5))], grad=False,
        why_no_grad="only the weights have a gradient",
        errors=[(ValueError, lambda: ts.histogram(ts.ones(2), 2, min=1)), (ValueError, lambda: ts.histogram(ts.ones(2), ts.ones(1)))]),
]  # fmt: skip
