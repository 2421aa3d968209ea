# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np
import special
from op_engine import ALL, ALL_FLOATS, BOOL, COMPLEX, FLOATS, REAL, Make, Row, Sample, sample

import tessera as ts

# Rounding grows with the number of terms; half precision also rounds the result once.
SUMS = {"float32": (1e-5, 1e-5), "float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 5e-2), "complex64": (1e-5, 1e-5)}
AXES: tuple[dict[str, Any], ...] = (
    {}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 2)}, {"axis": (), "keepdims": False}, {"keepdims": True},
)  # fmt: skip
BAD_AXIS = (IndexError, lambda: ts.sum(ts.ones(2), axis=1))


def reductions(make: Make, distinct: bool = False, empty: bool = True, low: float = -2, high: float = 2) -> list[Sample]:
    array = (lambda *s: make.distinct(*s)) if distinct else (lambda *s: make(*s, low=low, high=high))
    found = [sample(array(3, 1, 4), **options) for options in AXES if options.get("axis") != ()]
    found += [sample(array()), sample(array(5)), sample(array(2, 7), axis=1)]
    if empty:
        found += [sample(array(0, 3), axis=0), sample(array(0))]
    return found


def with_nan(make: Make) -> list[Sample]:
    array = make(3, 4)
    if array.dtype.kind in "fc":
        array[1, 2] = np.nan
        array[:, 0] = np.nan
    return [sample(array), sample(array, axis=0), sample(array, axis=1, keepdims=True)]


def plain(function: Any) -> Any:
    """A NumPy reduction with our arguments."""
    return lambda x, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims)


def widened(function: Any) -> Any:
    def reference(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        kind = x.dtype.kind
        return function(x, axis=axis, keepdims=keepdims, dtype={"i": np.int64, "b": np.int64, "u": np.uint64}.get(kind))

    return reference


def variance(function: Any) -> Any:
    return lambda x, axis=None, keepdims=False, correction=0: function(x, axis=axis, keepdims=keepdims, ddof=correction)


def one_axis(make: Make) -> list[Sample]:
    return [sample(make.distinct(3, 4), axis=a, keepdims=k) for a in (0, 1, -1) for k in (False, True)] + [
        sample(make.distinct(5))
    ]


def scan_samples(make: Make) -> list[Sample]:
    return [sample(make(3, 4), axis=0), sample(make(3, 4), axis=-1), sample(make(5), axis=0), sample(make(0, 3), axis=0)]


ROWS = [
    Row("sum", widened(np.sum), reductions, dtypes=ALL, result="sum", tolerance=SUMS, errors=[BAD_AXIS]),
    Row("nansum", widened(np.nansum), lambda m: [*reductions(m), *with_nan(m)], dtypes=ALL, result="sum", tolerance=SUMS),
    Row("prod", widened(np.prod), reductions, dtypes=ALL, result="sum", tolerance={**SUMS, "bfloat16": (3e-2, 1e-3)}),
    Row("mean", plain(np.mean), lambda m: reductions(m, empty=False), dtypes=(*ALL_FLOATS, *COMPLEX), tolerance=SUMS,
        errors=[(TypeError, lambda: ts.mean(ts.ones(3, dtype=ts.int32)))]),
    Row("var", variance(np.var), lambda m: [*reductions(m, empty=False), sample(m(3, 4), axis=1, correction=1)],
        dtypes=FLOATS, tolerance=SUMS),
    Row("std", variance(np.std), lambda m: [sample(m.distinct(3, 4), axis=1, correction=1), sample(m.distinct(6))],
        dtypes=FLOATS, tolerance=SUMS, layouts=("contiguous", "transposed", "sliced")),
    Row("max", plain(np.max), lambda m: reductions(m, distinct=True, empty=False), dtypes=REAL,
        errors=[(ValueError, lambda: ts.max(ts.ones(0)))]),
    Row("min", plain(np.min), lambda m: reductions(m, distinct=True, empty=False), dtypes=REAL),
    Row("amax", plain(np.max), lambda m: reductions(m, distinct=True, empty=False), dtypes=REAL),
    Row("amin", plain(np.min), lambda m: reductions(m, distinct=True, empty=False), dtypes=REAL),
    Row("argmax", plain(np.argmax), one_axis, dtypes=REAL, result="int64", grad=False, why_no_grad="the result is an index"),
    Row("argmin", plain(np.argmin), one_axis, dtypes=REAL, result="int64", grad=False, why_no_grad="the result is an index"),
    Row("any", plain(np.any), reductions, dtypes=ALL, result="bool", grad=False, why_no_grad="the result is bool"),
    Row("all", plain(np.all), reductions, dtypes=ALL, result="bool", grad=False, why_no_grad="the result is bool"),
    Row("count_nonzero", plain(np.count_nonzero), reductions, dtypes=(*BOOL, *REAL), result="int64",
        grad=False, why_no_grad="the result is a count"),
    Row("logsumexp", lambda x, axis=None, keepdims=False: special.logsumexp(x, axis=axis, keepdims=keepdims),
        lambda m: [sample(m(3, 4), axis=1), sample(m(3, 4), axis=0, keepdims=True), sample(m(2, 3, 2), axis=(0, 2))],
        dtypes=ALL_FLOATS, tolerance={**SUMS, "float16": (2e-3, 1e-3)}),
    Row("cumulative_sum", lambda x, axis: np.cumsum(x, axis, dtype={"i": np.int64, "b": np.int64, "u": np.uint64}.get(x.dtype.kind)),
        scan_samples, dtypes=(*BOOL, *REAL, *COMPLEX), result="sum", tolerance=SUMS),
    Row("vector_norm", lambda x, axis=None, keepdims=False, ord=2: np.linalg.norm(
            x.reshape(-1) if axis is None else x, ord, axis=axis, keepdims=keepdims),
        lambda m: [sample(m(3, 4), axis=1), sample(m(3, 4)), sample(m(3, 4), axis=0, ord=1),
                   sample(m.distinct(3, 4), axis=0, ord=float("inf")),
                   sample(m(3, 4), axis=0, keepdims=True, ord=3)],
        dtypes=FLOATS, tolerance=SUMS, layouts=("contiguous", "transposed", "sliced", "reversed")),
]  # fmt: skip
