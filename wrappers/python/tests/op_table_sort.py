# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of sorting and of the matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, BOOL, COMPLEX, REAL, Make, Row, Sample, sample

import tessera as ts

INDEX = "the result is an index"
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed")  # "expanded" would make ties


def flipped(array: Any, axis: int, descending: bool) -> Any:
    return np.flip(array, axis) if descending else array


def sort_samples(make: Make) -> list[Sample]:
    shapes = [((5,), -1), ((3, 4), 0), ((3, 4), 1), ((2, 0, 3), 0), ((2, 0, 3), 1)]
    return [sample(make.distinct(*s), axis=a, descending=d) for s, a in shapes for d in (False, True)]


def topk_reference(x: Any, k: int, axis: int = -1, largest: bool = True) -> Any:
    order = np.argsort(x, axis, kind="stable")
    order = flipped(order, axis, largest).take(np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order


def product_samples(make: Make) -> list[Sample]:
    shapes: list[tuple[Any, Any]] = [
        ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 2, 3), (3, 2)), ((2, 1, 2, 3), (3, 3, 1)),
        ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((17, 9), (9, 5)),
    ]  # fmt: skip
    return [sample(make(*a), make(*b)) for a, b in shapes]


ROWS = [
    Row("sort", lambda x, axis, descending: flipped(np.sort(x, axis), axis, descending), sort_samples, dtypes=(*REAL, *BOOL),
        layouts=LAYOUTS, grad_samples=lambda m: [sample(m.distinct(3, 4), axis=0, descending=True), sample(m.distinct(5))],
        errors=[(IndexError, lambda: ts.sort(ts.ones(3), axis=1)), (TypeError, lambda: ts.sort(ts.ones(3) * 1j))]),
    Row("argsort", lambda x, axis, descending: flipped(np.argsort(x, axis, kind="stable"), axis, descending), sort_samples,
        dtypes=REAL, result="int64", layouts=LAYOUTS, grad=False, why_no_grad=INDEX),
    Row("topk", topk_reference,
        lambda m: [sample(m.distinct(3, 5), 2), sample(m.distinct(3, 5), 3, axis=0, largest=False), sample(m.distinct(4), 0)],
        dtypes=REAL, layouts=LAYOUTS, grad_samples=lambda m: [sample(m.distinct(3, 5), 2)],
        errors=[(ValueError, lambda: ts.topk(ts.ones(3), 4)), (IndexError, lambda: ts.topk(ts.ones(3), 1, axis=2))]),
    Row("matmul", np.matmul, product_samples, dtypes=(*ALL_FLOATS, "int32", "int64", *COMPLEX), result="same",
        # A sum of products rounds in proportion to its terms, not to its value.
        tolerance={"float32": (1e-5, 1e-5), "float16": (2e-3, 2e-2), "bfloat16": (2e-2, 2e-1), "complex64": (1e-5, 1e-5)},
        errors=[(ValueError, lambda: ts.ones(2, 3) @ ts.ones(2, 3)),
                (TypeError, lambda: ts.matmul(ts.ones(2, dtype=ts.uint64), ts.ones(2, dtype=ts.int64))),
                (ValueError, lambda: ts.matmul(ts.ones(()), ts.ones(2)))]),
]  # fmt: skip
