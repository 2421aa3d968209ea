# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of distances between all pairs of vectors; the reference is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, Make, Row, Sample, find, sample
from op_table_nn import ONE, STRIDED

INF = float("inf")


def norms(difference: Any, p: float) -> Any:
    """The p-norms along the last axis, by NumPy's vector norm."""
    return np.linalg.norm(difference, p, axis=-1)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "") -> Any:
    return norms(x1[..., :, None, :] - x2[..., None, :, :], p)


def pdist(x: Any, p: float = 2.0) -> Any:
    i, j = np.triu_indices(len(x), 1)
    return norms(x[i] - x[j], p)


def pairs(make: Make) -> list[Sample]:
    few = [sample(make(2, 3), make(4, 3), p=p) for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF)]
    return [
        *few,
        sample(make(2, 1, 3, 2), make(4, 2, 2)),
        sample(make(0, 3), make(4, 3)),
        sample(make(2, 3), make(0, 3), p=1.0),
        sample(make(30, 5), make(3, 5)),
        sample(make(2, 30, 5), make(2, 3, 5), p=1.0),
        sample(make(3, 2), make(4, 2), compute_mode="use_mm_for_euclid_dist"),
    ]


def smooth(make: Make) -> list[Sample]:
    """Without equal components, at which p = 1 and p = inf have kinks."""
    x1, x2 = make.distinct(2, 3) + 0.07, make.distinct(4, 3) * 1.3
    found = [sample(x1, x2, p=p) for p in (1.0, 1.5, 2.0, 3.0, INF)]
    return [*found, sample(x1, x2, compute_mode="use_mm_for_euclid_dist"), sample(make(2, 1, 3, 2), make(4, 2, 2))]


NORMS = {"float32": (2e-5, 2e-5), "float16": (4e-3, 8e-3), "bfloat16": (2e-2, 6e-2)}
ROWS = [
    Row("cdist", cdist, pairs, dtypes=ALL_FLOATS, grad_samples=smooth, layouts=STRIDED, tolerance=NORMS,
        errors=[(ValueError, lambda: find("cdist")(ONE(2, 3), ONE(2, 2))), (ValueError, lambda: find("cdist")(ONE(2), ONE(2)))]),
    Row("pdist", pdist, lambda m: [sample(m(5, 3), p=p) for p in (0.0, 1.0, 2.0, 2.5, INF)] + [sample(m(1, 2)), sample(m(0, 2))],
        dtypes=ALL_FLOATS, grad_samples=lambda m: [sample(m(4, 3), p=p) for p in (1.0, 2.0, 2.5, INF)],
        layouts=STRIDED, tolerance=NORMS, errors=[(ValueError, lambda: find("pdist")(ONE(2)))]),
]  # fmt: skip
