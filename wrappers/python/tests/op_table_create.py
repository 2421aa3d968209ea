# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of creation, random numbers and copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, COMPLEX, FLOATS, INTEGERS, Fixed, Make, Row, Sample, one_array, sample

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
    """A method that changes its input; it runs on a copy."""
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
    create("logspace", lambda a, b, n, base=10, dtype=None, endpoint=True: np.logspace(a, b, n, endpoint, base).astype(numpy_dtype(dtype)),
           lambda m: [sample(0, 2, 5, dtype=dtype_of(m)), sample(-1, 3, 4, 2, dtype=dtype_of(m), endpoint=False),
                      sample(0, 1, 0, dtype=dtype_of(m)), sample(1, 9, 1, 3, dtype=dtype_of(m))], dtypes=(*FLOATS, "int64"),
           errors=[(ValueError, lambda: ts.logspace(0, 1, -1)), (ts.DTypeError, lambda: ts.logspace(0, 1, 2, dtype=ts.bool))]),
    create("empty_strided", lambda shape, strides, dtype: np.empty(shape, numpy_dtype(dtype)),
           lambda m: [sample((2, 3), (1, 2), dtype=dtype_of(m)), sample((), (), dtype=dtype_of(m)), sample((2, 0), (9, 9), dtype=dtype_of(m))],
           compare=False, errors=[(ValueError, lambda: ts.empty_strided((2,), (-1,))), (ts.ShapeError, lambda: ts.empty_strided((2,), ())),
                                  (ts.ShapeError, lambda: ts.empty_strided((2, 2), (2**62, 1)))]),
    create("tril_indices", lambda n, m=None, offset=0, dtype=None: np.array(np.tril_indices(n, offset, m)),
           lambda m: [sample(*a, dtype=dtype_of(m)) for a in [(3,), (2, 4), (4, 2, 1), (3, 3, -1), (3, 3, -9), (2, 2, 9), (0, 3), (3, 0)]],
           dtypes=("int64", "int32"), errors=[(ValueError, lambda: ts.tril_indices(-1)), (ts.DTypeError, lambda: ts.tril_indices(2, dtype=ts.float32))]),
    create("triu_indices", lambda n, m=None, offset=0, dtype=None: np.array(np.triu_indices(n, offset, m)),
           lambda m: [sample(*a, dtype=dtype_of(m)) for a in [(3,), (2, 4), (4, 2, 1), (3, 3, -1), (3, 3, -9), (2, 2, 9), (0, 3), (3, 0)]],
           dtypes=("int64", "int32"), errors=[(ValueError, lambda: ts.triu_indices(2, -1)), (ts.ShapeError, lambda: ts.triu_indices(2**40))]),
    Row("one_hot", lambda a, classes=-1: np.eye(a.max() + 1 if classes == -1 else classes, dtype=np.int64)[a],
        lambda m: [sample(m.index(2, 3, high=4)), sample(m.index(3, high=3), 5), sample(Fixed(np.array(1)), 2), sample(Fixed(np.zeros((0, 2), np.int64)), 3)],
        dtypes=("int64",), result="int64", grad=False, why_no_grad="the input is made of positions",
        errors=[(IndexError, lambda: ts.nn.functional.one_hot(ts.asarray([3]), 3)), (ValueError, lambda: ts.nn.functional.one_hot(ts.asarray([3]), -2)),
                (ValueError, lambda: ts.nn.functional.one_hot(ts.zeros(0, dtype=ts.int64)))]),
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
    random("rand_like", np.empty_like, one_array(), dtypes=ALL_FLOATS, errors=[(ts.DTypeError, lambda: ts.rand_like(ts.asarray([1])))]),
    random("randn_like", np.empty_like, one_array(), dtypes=ALL_FLOATS),
    random("randint_like", lambda x, low, high: np.empty_like(x), lambda m: [sample(m(3, 4), 0, 5), sample(m(), 1, 2)], dtypes=INTEGERS),
    random("normal", lambda mean, std: np.empty(np.broadcast(mean, std).shape),
           lambda m: [sample(m(3, 1), m(4, low=0)), sample(m(2), 1.5), sample(2, m(3, low=0)), sample(m(0, 2), m(2, low=0))], schema="normal_tensors",
           dtypes=ALL_FLOATS, errors=[(ValueError, lambda: ts.normal(ts.zeros(2), ts.full((2,), -1.0))), (ValueError, lambda: ts.normal(ts.zeros(2), -1.0)),
                                      (TypeError, lambda: ts.normal(1.0, 2.0)), (ts.ShapeError, lambda: ts.normal(ts.zeros(2), ts.ones(3)))]),
    random("poisson", np.empty_like, one_array(0, 30), dtypes=ALL_FLOATS,
           errors=[(ValueError, lambda: ts.poisson(ts.full((2,), np.inf))), (ValueError, lambda: ts.poisson(ts.full((2,), np.nan)))]),
    Row("multinomial", lambda x, n, replacement=False: np.empty((*x.shape[:-1], n), np.int64),
        lambda m: [sample(m(3, 4, low=0.1), 2), sample(m(5, low=0.1), 9, True), sample(m(0, 3, low=0.1), 2)], dtypes=ALL_FLOATS, result="int64",
        grad=False, why_no_grad=RANDOM, compare=False,
        errors=[(ValueError, lambda: ts.multinomial(ts.ones(3), 4)), (ValueError, lambda: ts.multinomial(ts.zeros(3), 1, True)),
                (ValueError, lambda: ts.multinomial(ts.ones(3), 0)), (ValueError, lambda: ts.multinomial(ts.full((2,), np.nan), 1)),
                (ts.ShapeError, lambda: ts.multinomial(ts.ones((1, 1, 1)), 1)), (ts.DTypeError, lambda: ts.multinomial(ts.asarray([1]), 1))]),
    random("exponential_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().exponential_(), dtypes=ALL_FLOATS),
    random("cauchy_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().cauchy_(), dtypes=ALL_FLOATS),
    random("log_normal_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().log_normal_(), dtypes=ALL_FLOATS),
    random("geometric_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().geometric_(0.5), dtypes=(*ALL_FLOATS, *INTEGERS)),
    random("trunc_normal_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().trunc_normal_(), dtypes=ALL_FLOATS,
           errors=[(ValueError, lambda: ts.zeros(2).trunc_normal_(0, 1, 90, 91)), (ValueError, lambda: ts.zeros(2).trunc_normal_(0, 0))]),
    random("random_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().random_(), dtypes=(*ALL_FLOATS, *INTEGERS, "bool"),
           schema="random_integers", errors=[(ValueError, lambda: ts.zeros(2).random_(3, 3)), (ts.DTypeError, lambda: ts.ones(2, dtype=ts.complex64).random_())]),
    random("bernoulli_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().bernoulli_(), dtypes=(*ALL_FLOATS, *INTEGERS, "bool"),
           schema="bernoulli_fill"),
]  # fmt: skip

ROWS = CREATE + COPY + RANDOMS
