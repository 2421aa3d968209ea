# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of normalisation of groups and rows, and of dropout of channels; PyTorch is the reference if it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import FLOATS, Make, Row, Sample, find, sample
from op_table_nn import NORM, ONE, by_torch

import tessera as ts

LAYOUTS = ("contiguous", "transposed", "sliced")


def groups(make: Make) -> list[Sample]:
    return [
        sample(make(2, 4, 3), 2, make(4), make(4)),
        sample(make(2, 4, 2, 3), 4, make(4)),
        sample(make(1, 6, 2, 2), 1, None, make(6), eps=1e-3),
        sample(make(3, 6), 3, make(6), make(6)),
        sample(make(0, 4, 2), 2, make(4), make(4)),
    ]


def group_norm(F: Any, x: Any, count: int, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    return x if x.numel() == 0 else F.group_norm(x, count, w, b, eps)


def instances(make: Make) -> list[Sample]:
    """Without running statistics, and evaluation; float32 ones go with 16-bit input."""
    found = [
        sample(make(2, 3, 4), None, None, make(3), make(3)),
        sample(make(2, 3, 2, 2), None, None, None, make(3), eps=1e-3),
        sample(make(1, 2, 2, 1, 3)),
    ]
    if make.dtype in FLOATS:
        statistics = (make(3), make(3, low=0.5, high=2))
        found.append(sample(make(2, 3, 4), *statistics, make(3), make(3), use_input_stats=False))
    return found


def rms(x: Any, shape: Any, w: Any = 1, eps: float | None = None, *, dtype: str = "float64") -> Any:
    axes = tuple(range(-len(shape), 0))
    small = np.finfo(dtype).eps if eps is None else eps
    return x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + small) * (1 if w is None else w)


def rows_of_squares(make: Make) -> list[Sample]:
    return [
        sample(make(3, 4), [4], make(4), 1e-6),
        sample(make(2, 2, 3), [2, 3], make(2, 3), 1e-3),
        sample(make(2, 5), [5], eps=0.0),
        sample(make(0, 3), [3], eps=1e-3),
    ]


def neighbours(make: Make) -> list[Sample]:
    return [
        sample(make(2, 5, 3), 3),
        sample(make(1, 4, 2, 2), 2, 0.5, 0.6, 2.0),
        sample(make(1, 2, 1, 2, 2), 5, alpha=1.0),
        sample(make(1, 3, 2), 12, alpha=1.0),
        sample(make(2, 3, 2), 1, k=0.5),
    ]


ROWS = [
    Row("group_norm", by_torch(group_norm), groups, **NORM, layouts=LAYOUTS,
        errors=[(ValueError, lambda: find("group_norm")(ONE(1, 3, 2), 2)),
                (ValueError, lambda: find("group_norm")(ONE(4), 2)),
                (ValueError, lambda: find("group_norm")(ONE(1, 4), 2, ONE(2)))]),
    Row("instance_norm", by_torch("instance_norm"), instances, grad_args=(0, 3, 4), **NORM, layouts=LAYOUTS,
        errors=[(ValueError, lambda: find("instance_norm")(ONE(1, 3, 1))),
                (ValueError, lambda: find("instance_norm")(ONE(2, 3)))]),
    Row("rms_norm", rms, rows_of_squares, **NORM, layouts=LAYOUTS,
        errors=[(ValueError, lambda: find("rms_norm")(ONE(2, 3), [2])),
                (TypeError, lambda: find("rms_norm")(ts.ones((2, 3), dtype=ts.int64), [3]))]),
    Row("local_response_norm", by_torch("local_response_norm"), neighbours, **NORM, layouts=LAYOUTS,
        errors=[(ValueError, lambda: find("local_response_norm")(ONE(2, 3), 2)),
                (ValueError, lambda: find("local_response_norm")(ONE(2, 3, 1), 0))]),
]  # fmt: skip

# ---- dropout: random results are compared by statistics in test_pool_norm.py ----

ROWS += [
    Row(name, lambda x, p=0.5, training=True: x if not training else x * 0,
        lambda m, shape=shape: [sample(m(*shape), training=False), sample(m(*shape), p=1.0)],
        errors=[(ValueError, lambda name=name, shape=shape: find(name)(ONE(*shape), p=1.5))])
    for name, shape in (("dropout1d", (2, 3, 4)), ("dropout2d", (2, 3, 2, 2)), ("dropout3d", (3, 2, 2, 2)),
                        ("alpha_dropout", (3, 4)), ("feature_alpha_dropout", (2, 3, 4)))
]  # fmt: skip
