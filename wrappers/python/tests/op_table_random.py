# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of sequences and positions that are created, and of random numbers beyond the basic ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import special
from op_engine import ALL_FLOATS, FLOATS, INTEGERS, Fixed, Make, Row, Sample, binary, one_array, sample
from op_table_create import OVERWRITE, RANDOM, create, dtype_of, numpy_dtype, random

import tessera as ts

TRIANGLES = [
    (3,),
    (2, 4),
    (4, 2, 1),
    (3, 3, -1),
    (3, 3, -9),
    (2, 2, 9),
    (0, 3),
    (3, 0),
    (5, 3),
    (5, 3, 1),
    (5, 3, -3),
    (3, 7, 4),
]


def triangles(make: Make) -> list[Sample]:
    return [sample(*arguments, dtype=dtype_of(make)) for arguments in TRIANGLES]


def gamma_slope(a: Any, x: Any) -> Any:
    """-(dP/da) / (dP/dx) of the distribution function P(a, x), by central differences in a."""
    a, x = np.asarray(a, np.float64), np.asarray(x, np.float64)  # np.float64 makes a scalar of one element
    step = 1e-5 * a
    by_shape = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    return -by_shape / np.exp((a - 1) * np.log(x) - x - special.gammaln(a))


def dirac(x: Any) -> Any:
    """The middle of every kernel whose output and input channel are one."""
    made = np.zeros(x.shape)
    for channel in range(min(x.shape[:2])):
        made[(channel, channel, *(n // 2 for n in x.shape[2:]))] = 1
    return made


def overwritten(name: str, reference: Any, shapes: list[tuple[int, ...]]) -> Row:
    """A row of a function that overwrites its input with what the shape alone determines."""
    return Row(name, reference, lambda m: [sample(m(*shape)) for shape in shapes], call=lambda x: getattr(ts, name)(x.clone()),
               dtypes=ALL_FLOATS, schema={"eye_": "eye_fill", "dirac_": "dirac"}[name], grad=False, why_no_grad=OVERWRITE)  # fmt: skip


MAKERS = [
    create(
        "logspace",
        lambda a, b, n, base=10, dtype=None, endpoint=True: np.logspace(a, b, n, endpoint, base).astype(
            numpy_dtype(dtype)
        ),
        lambda m: [
            sample(0, 2, 5, dtype=dtype_of(m)),
            sample(-1, 3, 4, 2, dtype=dtype_of(m), endpoint=False),
            sample(0, 1, 0, dtype=dtype_of(m)),
            sample(1, 9, 1, 3, dtype=dtype_of(m)),
        ],
        dtypes=(*FLOATS, "int64"),
        errors=[
            (ValueError, lambda: ts.logspace(0, 1, -1)),
            (ts.DTypeError, lambda: ts.logspace(0, 1, 2, dtype=ts.bool)),
        ],
    ),
    create(
        "empty_strided",
        lambda shape, strides, dtype: np.empty(shape, numpy_dtype(dtype)),
        lambda m: [
            sample((2, 3), (1, 2), dtype=dtype_of(m)),
            sample((), (), dtype=dtype_of(m)),
            sample((2, 0), (9, 9), dtype=dtype_of(m)),
        ],
        compare=False,
        errors=[
            (ValueError, lambda: ts.empty_strided((2,), (-1,))),
            (ts.ShapeError, lambda: ts.empty_strided((2,), ())),
            (ts.ShapeError, lambda: ts.empty_strided((2, 2), (2**62, 1))),
        ],
    ),
    create(
        "tril_indices",
        lambda n, m=None, offset=0, dtype=None: np.array(np.tril_indices(n, offset, m)),
        triangles,
        dtypes=("int64", "int32"),
        errors=[
            (ValueError, lambda: ts.tril_indices(-1)),
            (ts.DTypeError, lambda: ts.tril_indices(2, dtype=ts.float32)),
        ],
    ),
    create(
        "triu_indices",
        lambda n, m=None, offset=0, dtype=None: np.array(np.triu_indices(n, offset, m)),
        triangles,
        dtypes=("int64", "int32"),
        errors=[(ValueError, lambda: ts.triu_indices(2, -1)), (ts.ShapeError, lambda: ts.triu_indices(2**40))],
    ),
    Row(
        "one_hot",
        lambda a, classes=-1: np.eye(a.max() + 1 if classes == -1 else classes, dtype=np.int64)[a],
        lambda m: [
            sample(m.index(2, 3, high=4)),
            sample(m.index(3, high=3), 5),
            sample(Fixed(np.array(1)), 2),
            sample(Fixed(np.zeros((0, 2), np.int64)), 3),
        ],
        dtypes=("int64",),
        result="int64",
        grad=False,
        why_no_grad="the input is made of positions",
        errors=[
            (IndexError, lambda: ts.nn.functional.one_hot(ts.asarray([3]), 3)),
            (ValueError, lambda: ts.nn.functional.one_hot(ts.asarray([3]), -2)),
            (ValueError, lambda: ts.nn.functional.one_hot(ts.zeros(0, dtype=ts.int64))),
        ],
    ),
]

DRAWS = [
    random(
        "rand_like",
        np.empty_like,
        one_array(),
        dtypes=ALL_FLOATS,
        errors=[(ts.DTypeError, lambda: ts.rand_like(ts.asarray([1])))],
    ),
    random("randn_like", np.empty_like, one_array(), dtypes=ALL_FLOATS),
    random(
        "randint_like",
        lambda x, low, high: np.empty_like(x),
        lambda m: [sample(m(3, 4), 0, 5), sample(m(), 1, 2)],
        dtypes=INTEGERS,
    ),
    random(
        "normal",
        lambda mean, std: np.empty(np.broadcast(mean, std).shape),
        lambda m: [
            sample(m(3, 1), m(4, low=0)),
            sample(m(2), 1.5),
            sample(2, m(3, low=0)),
            sample(m(0, 2), m(2, low=0)),
        ],
        schema="normal_tensors",
        dtypes=ALL_FLOATS,
        errors=[
            (ValueError, lambda: ts.normal(ts.zeros(2), ts.full((2,), -1.0))),
            (ValueError, lambda: ts.normal(ts.zeros(2), -1.0)),
            (TypeError, lambda: ts.normal(1.0, 2.0)),
            (ts.ShapeError, lambda: ts.normal(ts.zeros(2), ts.ones(3))),
        ],
    ),
    random(
        "poisson",
        np.empty_like,
        one_array(0, 30),
        dtypes=ALL_FLOATS,
        errors=[
            (ValueError, lambda: ts.poisson(ts.full((2,), np.inf))),
            (ValueError, lambda: ts.poisson(ts.full((2,), np.nan))),
        ],
    ),
    random(
        "standard_gamma",
        np.empty_like,
        one_array(0, 30),
        call=lambda x: ts.standard_gamma(x),
        why="test_probability.py compares its gradient with those of moments",
        dtypes=ALL_FLOATS,
        errors=[
            (ValueError, lambda: ts.standard_gamma(ts.full((2,), np.inf))),
            (ValueError, lambda: ts.standard_gamma(ts.full((2,), -1.0))),
            (ts.DTypeError, lambda: ts.standard_gamma(ts.asarray([1]))),
        ],
    ),
    random(
        "binomial",
        lambda n, p: np.empty(np.broadcast(n, p).shape),
        lambda m: [
            sample(Fixed(np.array([[3.0], [200.0]])), m(4, low=0.1, high=0.9)),
            sample(Fixed(np.array(5.0)), m(low=0.1, high=0.9)),
            sample(Fixed(np.zeros((0, 2))), m(2, low=0.1, high=0.9)),
        ],
        dtypes=("float64",),
        errors=[
            (ValueError, lambda: ts.binomial(ts.full((2,), 1.5), ts.full((2,), 0.5))),
            (ValueError, lambda: ts.binomial(ts.full((2,), -1.0), ts.full((2,), 0.5))),
            (ValueError, lambda: ts.binomial(ts.full((2,), 1.0), ts.full((2,), 1.5))),
            (ts.ShapeError, lambda: ts.binomial(ts.ones(2), ts.ones(3))),
            (ts.DTypeError, lambda: ts.binomial(ts.asarray([1]), ts.ones(1))),
        ],
    ),
    binary(
        "standard_gamma_grad",
        gamma_slope,
        dtypes=("float64", "float32"),
        low=0.5,
        high=4,
        low2=0.5,
        high2=6,
        tolerance={"float32": (2e-4, 1e-5), "float64": (2e-6, 1e-8)},
        grad=False,
        why_no_grad="the numbers' second derivative is not known",
        call=lambda a, x, **options: ts.standard_gamma_grad(a, x, **options),
    ),
    overwritten("eye_", lambda x: np.eye(*x.shape), shapes=[(3, 4), (4, 2), (0, 3)]),
    overwritten("dirac_", dirac, shapes=[(3, 2, 3), (2, 4, 3, 2), (1, 1, 2, 3, 4), (2, 0, 1)]),
    random(
        "orthogonal_",
        lambda x, *a: np.empty_like(x),
        lambda m: [sample(m(3, 5)), sample(m(5, 3), 2.0), sample(m(2, 3, 2)), sample(m(0, 2))],
        OVERWRITE,
        call=lambda x, *a: ts.orthogonal_(x.clone(), *a),
        dtypes=ALL_FLOATS,
        errors=[(ts.ShapeError, lambda: ts.orthogonal_(ts.ones(3))), (ts.DTypeError, lambda: ts.orthogonal_(ts.arange(4).reshape(2, 2)))],
    ),
    random(
        "sparse_",
        lambda x, *a: np.empty_like(x),
        lambda m: [sample(m(5, 3), 0.5), sample(m(4, 4), 1.0, 2.0), sample(m(0, 2), 0.5)],
        OVERWRITE,
        call=lambda x, *a: ts.sparse_(x.clone(), *a),
        dtypes=ALL_FLOATS,
        schema="sparse_normal",
        errors=[(ValueError, lambda: ts.sparse_(ts.ones((2, 2)), -0.1)), (ts.ShapeError, lambda: ts.sparse_(ts.ones(2), 0.5))],
    ),
    Row(
        "multinomial",
        lambda x, n, replacement=False: np.empty((*x.shape[:-1], n), np.int64),
        lambda m: [sample(m(3, 4, low=0.1), 2), sample(m(5, low=0.1), 9, True), sample(m(0, 3, low=0.1), 2)],
        dtypes=ALL_FLOATS,
        result="int64",
        grad=False,
        why_no_grad=RANDOM,
        compare=False,
        errors=[
            (ValueError, lambda: ts.multinomial(ts.ones(3), 4)),
            (ValueError, lambda: ts.multinomial(ts.zeros(3), 1, True)),
            (ValueError, lambda: ts.multinomial(ts.ones(3), 0)),
            (ValueError, lambda: ts.multinomial(ts.full((2,), np.nan), 1)),
            (ts.ShapeError, lambda: ts.multinomial(ts.ones((1, 1, 1)), 1)),
            (ts.DTypeError, lambda: ts.multinomial(ts.asarray([1]), 1)),
        ],
    ),
    random(
        "exponential_",
        np.empty_like,
        one_array(),
        OVERWRITE,
        call=lambda x: x.clone().exponential_(),
        dtypes=ALL_FLOATS,
    ),
    random("cauchy_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().cauchy_(), dtypes=ALL_FLOATS),
    random(
        "log_normal_", np.empty_like, one_array(), OVERWRITE, call=lambda x: x.clone().log_normal_(), dtypes=ALL_FLOATS
    ),
    random(
        "geometric_",
        np.empty_like,
        one_array(),
        OVERWRITE,
        call=lambda x: x.clone().geometric_(0.5),
        dtypes=(*ALL_FLOATS, *INTEGERS),
    ),
    random(
        "trunc_normal_",
        np.empty_like,
        one_array(),
        OVERWRITE,
        call=lambda x: x.clone().trunc_normal_(),
        dtypes=ALL_FLOATS,
        errors=[
            (ValueError, lambda: ts.zeros(2).trunc_normal_(0, 1, 90, 91)),
            (ValueError, lambda: ts.zeros(2).trunc_normal_(0, 0)),
        ],
    ),
    random(
        "random_",
        np.empty_like,
        one_array(),
        OVERWRITE,
        call=lambda x: x.clone().random_(),
        dtypes=(*ALL_FLOATS, *INTEGERS, "bool"),
        schema="random_integers",
        errors=[
            (ValueError, lambda: ts.zeros(2).random_(3, 3)),
            (ts.DTypeError, lambda: ts.ones(2, dtype=ts.complex64).random_()),
        ],
    ),
    random(
        "bernoulli_",
        np.empty_like,
        one_array(),
        OVERWRITE,
        call=lambda x: x.clone().bernoulli_(),
        dtypes=(*ALL_FLOATS, *INTEGERS, "bool"),
        schema="bernoulli_fill",
    ),
]

ROWS = MAKERS + DRAWS
