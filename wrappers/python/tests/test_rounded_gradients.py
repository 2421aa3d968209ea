# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of 16-bit floats, over the op table: they are those of float32, rounded once.

Inputs and gradients of results are numbers of 16 bits, so both dtypes begin with the same numbers. An error is counted in
units of the last place, of each element where the op works on elements, and of the largest element elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import op_table_activation
import op_table_pointwise
import op_table_special
import pytest
from op_engine import HALVES, Make, Row, Sample, as_tuple, prepare
from op_table import ROWS
from test_ops import tensor_places

import tessera as ts

DIGITS = {"float16": 10, "bfloat16": 7}
LEAST = {"float16": 2.0**-14, "bfloat16": 2.0**-126}
ELEMENTWISE = {row.name for table in (op_table_pointwise, op_table_special, op_table_activation) for row in table.ROWS}

# The derivative reads the result, which was rounded before: exact derivatives of inexact results. The last place of a
# result near 1 is many last places of 1 - tanh²(x).
READS_RESULT = {
    "exp": 1.5, "exp2": 1.5, "expm1": 3, "sqrt": 1.5, "rsqrt": 3, "reciprocal": 2.5, "tan": 1.5, "tanh": 16, "sigmoid": 4,
    "erfinv": 1.5, "ndtri": 2, "hypot": 1.5, "ldexp": 1.5, "softmax": 80, "softmin": 80, "log_softmax": 80,
}  # fmt: skip
# Several ops of 16 bits, or, where an operand was stretched, a sum of products that were rounded before.
OF_SEVERAL = {"renorm": 1.5, "masked_norm": 1.5, "masked_softmax": 2, "masked_softmin": 2, "multi_dot": 4, "inner": 8, "matmul": 1.5}
# They have no derivative towards an argument of floats.
PARTIAL = {"cross_entropy", "nll_loss", "zeta", "igamma", "igammac"} | {
    row.name for row in ROWS if "_polynomial_" in row.name
}  # fmt: skip

CASES = [
    pytest.param(row, dtype, id=f"{row.name}-{dtype}")
    for row in ROWS
    for dtype in HALVES
    if row.grad and row.compare and dtype in row.dtypes and row.name not in PARTIAL
]


def gradients(row: Row, given: Sample, dtype: str, kind: str) -> list[Any]:
    """Of the tensors of `dtype`, which are cast to `kind`."""
    call = prepare(row, given, dtype)
    leaves = []
    for container, key in tensor_places(call):
        if container[key].dtype.name == dtype:
            container[key] = container[key].astype(getattr(ts, kind)).requires_grad_()
            leaves.append(container[key])
    if len({leaf.shape for leaf in leaves}) != 1 and row.name in ELEMENTWISE:
        return []  # the gradient of a stretched operand is a sum
    ts.manual_seed(1)
    results = [r for r in as_tuple(row.function(*call.args, **call.kwargs)) if isinstance(r, ts.Tensor) and r.requires_grad]
    if not leaves or not results:
        return []
    rng = np.random.default_rng(2)
    slopes = [ts.asarray(rng.integers(16, 64, r.shape) / 32.0 * rng.choice([-1.0, 1.0], r.shape)).astype(r.dtype) for r in results]
    found = ts.autograd.grad(results, leaves, slopes, allow_unused=True)
    return [None if g is None else g.astype(ts.float64).numpy() for g in found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row, dtype", CASES)
def test_a_gradient_is_rounded_once(row: Row, dtype: str) -> None:
    limit = READS_RESULT.get(row.name, OF_SEVERAL.get(row.name, 1.02))
    for number, given in enumerate(row.samples(Make(dtype, seed=1))):
        for place, (found, wide) in enumerate(zip(gradients(row, given, dtype, dtype), gradients(row, given, dtype, "float32"))):
            if found is None or found.size == 0:
                continue
            finite = np.isfinite(found) & np.isfinite(wide)
            size = np.where(finite, np.abs(wide), 0)
            if row.name not in ELEMENTWISE:
                size = size.max()
            unit = np.exp2(np.floor(np.log2(np.maximum(size, LEAST[dtype]))) - DIGITS[dtype])
            error = np.where(finite, np.abs(np.where(finite, found, 0) - np.where(finite, wide, 0)), 0) / unit
            assert error.max() <= limit, f"sample {number}, argument {place}: {error.max():.2f} units of the last place"


LARGE = {
    "divide": lambda a, b: a / b, "pow": lambda a, b: ts.abs(a) ** b, "atan2": ts.atan2, "erf": lambda a, b: ts.erf(a) * 1.0 + b,
    "addcdiv": lambda a, b: ts.addcdiv(a, a, b, value=0.3), "lerp": lambda a, b: ts.lerp(a, b, ts.abs(b)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", LARGE)
def test_gradients_of_large_tensors_are_those_of_small_ones(name: str, dtype: str) -> None:
    kind, rng = getattr(ts, dtype), np.random.default_rng(3)
    given = [ts.asarray(rng.uniform(0.5, 2, (300, 401)) * rng.choice([-1.0, 1.0], (300, 401))).astype(kind) for _ in range(2)]
    slope = ts.asarray(rng.uniform(-2, 2, (300, 401))).astype(kind)

    def of(rows: slice, turned: bool = False) -> list[Any]:
        parts = [(t[rows].T.contiguous().T if turned else t[rows]).requires_grad_() for t in given]
        found = ts.autograd.grad(LARGE[name](*parts), parts, slope[rows])
        assert all(g.dtype is kind for g in found)
        return [g.astype(ts.float32).numpy() for g in found]

    whole = of(slice(None))
    pieces = [of(slice(at, at + 20)) for at in range(0, 300, 20)]
    for number, found in enumerate(whole):
        np.testing.assert_array_equal(found, np.concatenate([piece[number] for piece in pieces]))
    np.testing.assert_array_equal(np.stack(whole), np.stack(of(slice(None), turned=True)))
    threads = ts.get_num_threads()
    try:
        ts.set_num_threads(3 - min(threads, 2))
        np.testing.assert_array_equal(np.stack(whole), np.stack(of(slice(None))))
    finally:
        ts.set_num_threads(threads)


@pytest.mark.parametrize("dtype", HALVES)
def test_tangents_of_16_bits_have_the_dtype_of_the_result(dtype: str) -> None:
    x = ts.linspace(0.25, 0.75, 40000).astype(getattr(ts, dtype))
    for function in (ts.erf, ts.i1e, lambda t: t**3, lambda t: 1 / t):
        value, tangent = ts.func.jvp(function, (x,), (ts.ones_like(x),))
        assert value.dtype is tangent.dtype is x.dtype
