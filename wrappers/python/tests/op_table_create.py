# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of creation, random numbers and copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, COMPLEX, FLOATS, INTEGERS, Make, Row, Sample, one_array, sample

import tessera as ts

NO_INPUT = "there is no input to differentiate"
RANDOM = "random numbers do not depend on an input"
OVERWRITE = "the input is overwritten"
LIKE = "only shape and dtype of the input count"


def dtype_of(make: Make) -> Any:
    return ts.bool if make.dtype == "bool" else getattr(ts, make.dtype)


def numpy_dtype(dtype: Any) -> Any:
    return np.float64 if dtype is ts.bfloat16 else dtype.numpy


def shapes(make: Make) -> list[Sample]:
    return [sample(s, dtype=dtype_of(make)) for s in [(), (0,), (3,), (2, 0, 3), (3, 4)]]


def maker(function: Any) -> Any:
    return lambda shape, dtype: function(shape, numpy_dtype(dtype))


def like(name: str, reference: Any, **options: Any) -> Row:
    return Row(name, reference, one_array(), dtypes=ALL, grad=False, why_no_grad=LIKE, **options)


def create(name: str, reference: Any, samples: Any = shapes, **options: Any) -> Row:
    options.setdefault("dtypes", ALL)
    return Row(name, reference, samples, grad=False, why_no_grad=NO_INPUT, **options)


def random(name: str, reference: Any, samples: Any, why: str = RANDOM, **options: Any) -> Row:
    options.setdefault("dtypes", FLOATS)
    return Row(name, reference, samples, grad=False, why_no_grad=why, compare=False, **options)


def overwrite(name: str, reference: Any, samples: Any, **options: Any) -> Row:
    """A row of a method that changes its input; it runs on a copy."""
    return Row(name, reference, samples, call=lambda x, *a, **k: getattr(x.clone(), name)(*a, **k), **options)


def numbers(make: Make) -> list[Sample]:
    return [sample(5, dtype=dtype_of(make)), sample(2, 7, dtype=dtype_of(make)), sample(1, 9, 3, dtype=dtype_of(make)),
            sample(9, 1, -2, dtype=dtype_of(make)), sample(3, 3, dtype=dtype_of(make))]  # fmt: skip


CREATE = [
    create("empty", maker(np.empty), compare=False),
    create("zeros", maker(np.zeros), errors=[(ValueError, lambda: ts.zeros((-1,)))]),
    create("ones", maker(np.ones)),
    create("full", lambda shape, value, dtype: np.full(shape, value, numpy_dtype(dtype)),
           lambda m: [sample(s, 1, dtype=dtype_of(m)) for s in [(), (0,), (3, 4)]]),
    like("empty_like", np.empty_like, compare=False),
    like("zeros_like", np.zeros_like),
    like("ones_like", np.ones_like),
    Row("full_like", lambda x, value: np.full_like(x, value), lambda m: [sample(m(3, 4), 1), sample(m(0), 1)], dtypes=ALL,
        grad=False, why_no_grad=LIKE),
    create("arange", lambda *a, dtype: np.arange(*a).astype(numpy_dtype(dtype)), numbers, call=ts.arange,
           dtypes=(*FLOATS, *INTEGERS)),
    create("linspace", lambda a, b, n, dtype, endpoint=True: np.linspace(a, b, n, endpoint, dtype=numpy_dtype(dtype)),
           lambda m: [sample(0, 1, 5, dtype=dtype_of(m)), sample(2, -1, 7, dtype=dtype_of(m), endpoint=False),
                      sample(0, 1, 0, dtype=dtype_of(m)), sample(3, 4, 1, dtype=dtype_of(m))], dtypes=FLOATS),
    create("eye", lambda n, m=None, k=0, dtype=None: np.eye(n, m, k, numpy_dtype(dtype)),
           lambda m: [sample(3, dtype=dtype_of(m)), sample(2, 4, k=1, dtype=dtype_of(m)), sample(3, 3, k=-5, dtype=dtype_of(m))]),
    Row("asarray", lambda x: x, one_array(), call=ts.asarray, dtypes=ALL, grad_samples=lambda m: [sample(m(3))]),
]  # fmt: skip

COPY = [
    Row("clone", np.copy, one_array(), dtypes=ALL),
    Row("contiguous", np.copy, one_array(), dtypes=ALL),
    Row("astype", lambda x, dtype: x.astype(numpy_dtype(dtype)),
        lambda m: [sample(m(3, 4), ts.complex128), sample(m(), ts.complex128)], dtypes=ALL, result="complex128"),
    Row("to", lambda x, dtype: x.astype(numpy_dtype(dtype)),
        lambda m: [sample(m(3, 4), ts.complex128), sample(m(0), ts.complex128)], dtypes=ALL, result="complex128",
        call=lambda x, dtype: x.to(dtype), schema="to"),
    Row("detach", np.copy, one_array(), dtypes=ALL, grad=False, why_no_grad="cutting the gradient is its purpose"),
    overwrite("copy_", lambda x, y: np.broadcast_to(y, x.shape),
              lambda m: [sample(m(3, 4), m(4)), sample(m(), m()), sample(m(0, 2), m(2))], dtypes=ALL),
    overwrite("fill_", lambda x, v: np.full_like(x, v), lambda m: [sample(m(3, 4), 1), sample(m(), 1), sample(m(0), 1)],
              dtypes=ALL, grad_samples=lambda m: [sample(m(3), 1)]),
    overwrite("zero_", np.zeros_like, one_array(), dtypes=ALL),
    Row("item", lambda x: x.reshape(()), lambda m: [sample(m()), sample(m(1, 1))], call=lambda x: np.array(x.item()),
        dtypes=(*FLOATS, *INTEGERS, *COMPLEX, "bool"), grad=False, why_no_grad="the result is a Python number",
        tolerance={"float32": (1e-6, 1e-6)}, errors=[(ValueError, lambda: ts.ones(2).item())]),
    Row("tolist", lambda x: x, lambda m: [sample(m(3, 4)), sample(m()), sample(m(0))], call=lambda x: np.array(x.tolist()),
        dtypes=(*FLOATS, *INTEGERS), grad=False, why_no_grad="the result is a Python list"),
]  # fmt: skip

CPU_SHAPES = lambda m: [sample(s, dtype=dtype_of(m)) for s in [(), (0,), (3, 4)]]  # noqa: E731

RANDOMS = [
    random("rand", maker(np.empty), CPU_SHAPES, dtypes=ALL_FLOATS),
    random("randn", maker(np.empty), CPU_SHAPES, dtypes=ALL_FLOATS),
    random("randint", lambda low, high, shape, dtype: np.empty(shape, numpy_dtype(dtype)),
           lambda m: [sample(0, 5, (3, 4), dtype=dtype_of(m))], dtypes=INTEGERS,
           errors=[(ValueError, lambda: ts.randint(3, 3, (2,)))]),
    random("randperm", lambda n, dtype: np.empty(n, numpy_dtype(dtype)),
           lambda m: [sample(5, dtype=dtype_of(m)), sample(0, dtype=dtype_of(m))], dtypes=("int64", "int32")),
    random("bernoulli", np.empty_like, lambda m: [sample(m(3, 4, low=0, high=1))],
           errors=[(ValueError, lambda: ts.bernoulli(ts.full((2,), 1.5)))]),
    random("uniform_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().uniform_()),
    random("normal_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().normal_()),
]  # fmt: skip

ROWS = CREATE + COPY + RANDOMS
