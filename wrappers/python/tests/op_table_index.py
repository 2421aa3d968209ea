# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of indexing: index arrays, masks and Python's brackets."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, INTEGERS, Fixed, Make, Row, find, sample

import tessera as ts

POSITIONS = "the result is made of positions"


def x(*shape: int) -> ts.Tensor:
    return ts.zeros(shape)


def ints(*values: int) -> ts.Tensor:
    return ts.asarray(list(values))


def bracket(index: Any) -> Any:
    """An index whose NumPy arrays become tensors for a tensor and stay arrays for an array."""

    def convert(item: Any, tensors: bool) -> Any:
        if isinstance(item, tuple):
            return tuple(convert(i, tensors) for i in item)
        return ts.asarray(item) if tensors and isinstance(item, np.ndarray) else item

    return lambda target: convert(index, isinstance(target, ts.Tensor))


def read(target: Any, index: Any) -> Any:
    return target[index(target)]


def write(target: Any, index: Any, value: Any) -> Any:
    """Assignment as a function: a changed copy."""
    changed = target.clone() if isinstance(target, ts.Tensor) else target.copy()
    changed[index(target)] = value
    return changed


BASIC = [0, -1, slice(1, None), slice(None, None, -2), (..., 1), (slice(0, 2), None, 0),
         (None, ..., slice(3, 0, -1)), ..., ()]
ROWS_OF = np.array([2, 0, -1, 2])
INTEGER = [
    ROWS_OF,
    (slice(None), np.array([1, 1, 0])),
    (ROWS_OF, np.array([0, 1, 1, 3])),
    (np.array([[0], [2]]), np.array([1, 3, 3])),
    (0, np.array([1, 2])),
    (np.array([1, 2]), None, slice(1, 3)),
    (..., np.array(1)),
    np.array([], np.int64),
]


def boolean_samples(make: Make) -> list[Any]:
    mask = make.mask(3, 4).array
    return [
        sample(make(3, 4), bracket(mask)),
        sample(make(3, 4), bracket(make.mask(3).array)),
        sample(make(3, 4), bracket((slice(None), np.array([True, False, False, True])))),
        sample(make(3, 4), bracket(np.zeros((3, 4), bool))),
        sample(make(4), bracket(np.array(True))),
    ]


def write_samples(make: Make) -> list[Any]:
    mask = np.array([[True, False, True, False], [False, True, False, False],
                     [True, True, True, False]])
    return [
        sample(make(3, 4), bracket(1), make(4)),
        sample(make(3, 4), bracket((slice(None), slice(None, None, -2))), make(3, 1)),
        sample(make(3, 4), bracket((..., 0)), make()),
        sample(make(3, 4), bracket(np.array([2, 0])), make(2, 4)),
        sample(make(3, 4), bracket((np.array([2, 0, 1]), 3)), make(3)),
        sample(make(3, 4), bracket(mask), make(6)),
        sample(make(3, 4), bracket(mask), make()),
        sample(make(3, 4), bracket((slice(1, None), np.array([1, 3]))), 1),
        sample(make(3, 4), bracket(np.array([False, False, False])), make(4)),
    ]


def np_scatter_add(array: Any, axis: int, index: Any, source: Any) -> Any:
    out = array.copy()
    where = list(np.indices(index.shape))
    where[axis] = index
    part = source[tuple(slice(0, n) for n in index.shape)]
    (np.logical_or if out.dtype == bool else np.add).at(out, tuple(where), part)
    return out


def np_gather(array: Any, axis: int, index: Any) -> Any:
    if index.ndim == 0:
        return array.reshape(-1)[index]
    where = list(np.indices(index.shape))
    where[axis] = index
    return array[tuple(where)]


def np_index_put(array: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    out = array.copy()
    if accumulate:
        np.add.at(out, tuple(indices), values)
    else:
        out[tuple(indices)] = values
    return out


def np_masked_fill(array: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, np.asarray(value, array.dtype), array)


BRACKETS = [
    Row("getitem_basic", read, lambda make: [sample(make(3, 4), bracket(i)) for i in BASIC],
        call=read, dtypes=ALL,
        errors=[(IndexError, lambda: x(3)[3]), (IndexError, lambda: x(3)[0, 0]),
                (ValueError, lambda: x(3)[::0])]),
    Row("getitem_integer", read, lambda make: [sample(make(3, 4), bracket(i)) for i in INTEGER],
        call=read, dtypes=ALL,
        schema="getitem_basic",
        errors=[(IndexError, lambda: x(3)[ints(3)]),
                (IndexError, lambda: x(3, 3)[ints(0, 1), ints(0, 1, 2)])]),
    Row("getitem_boolean", read, boolean_samples, call=read, dtypes=ALL, schema="getitem_basic",
        errors=[(IndexError, lambda: x(3)[ts.asarray([True])])]),
    Row("setitem", write, write_samples, call=write, dtypes=ALL, schema="getitem_basic",
        errors=[(ts.ShapeError, lambda: write(x(3), lambda _: 0, x(2)))]),
]

POSITIONAL = [
    Row("index_put", np_index_put,
        lambda make: [sample(make(4), [Fixed(np.array([2, 0, 2]))], make(3)),
                      sample(make(3, 2), [Fixed(np.array([1]))], make(2)),
                      sample(make(4), [Fixed(np.array([2, 0, 2]))], make(3), True)],
        dtypes=(*ALL_FLOATS[1:], "int64"), tolerance={"bfloat16": (2e-2, 2e-2)},
        grad_samples=lambda make: [sample(make(4), [Fixed(np.array([2, 0, 3]))], make(3)),
                                   sample(make(4), [Fixed(np.array([2, 0, 2]))], make(3), True)]),
    Row("index_select", lambda a, axis, index: np.take(a, index, axis),
        lambda make: [sample(make(3, 4), 1, make.index(5, high=4)),
                      sample(make(3), 0, make.index(2, high=3)),
                      sample(make(2, 0, 3), 0, make.index(3, high=2)),
                      sample(make(3, 2), 0, Fixed(np.array([], np.int64)))],
        dtypes=ALL, errors=[(IndexError, lambda: ts.index_select(x(3), 0, ints(3))),
                            (ts.ShapeError, lambda: ts.index_select(x(), 0, ints(0, 0))),
                            (IndexError, lambda: ts.index_select(x(), 1, ints(0)))]),
    Row("take", lambda a, indices, axis=None: np.take(a, indices, axis),
        lambda make: [sample(make(5), make.index(2, 2, low=-5, high=5)),
                      sample(make(3, 4), make.index(3, high=4), axis=1),
                      sample(make(3, 4), make.index(2, 2, high=3), axis=0),
                      sample(make(3, 4), make.index(2, 3, low=-12, high=12)),
                      sample(make(), Fixed(np.array([0, -1]))),
                      sample(make(), Fixed(np.array([[0]])), axis=-1)],
        dtypes=ALL, errors=[(IndexError, lambda: ts.take(x(2, 2), ints(4)))]),
    Row("take_along_axis", lambda a, indices, axis=-1: np.take_along_axis(a, indices, axis),
        lambda make: [sample(make(3, 4), make.index(3, 2, high=4)),
                      sample(make(3, 4), make.index(2, 4, high=3), axis=0)],
        dtypes=ALL, errors=[(ts.ShapeError, lambda: ts.take_along_axis(x(3), ts.asarray([[0]])))]),
    Row("gather", np_gather,
        lambda make: [sample(make(3, 4), 1, make.index(3, 2, high=4)),
                      sample(make(3, 4), 0, make.index(5, 3, high=3)),
                      sample(make(4), 0, make.index(6, high=4)),
                      sample(make(), -1, Fixed(np.array(0)))],
        dtypes=ALL, errors=[(ts.ShapeError, lambda: ts.gather(x(3, 3), 1, ints(0))),
                            (IndexError, lambda: ts.gather(x(3), 0, ints(-1)))]),
    Row("scatter_add", np_scatter_add,
        lambda make: [sample(make(3, 4), 1, make.index(3, 2, high=4), make(3, 2)),
                      sample(make(3, 4), 0, make.index(2, 3, high=3), make(3, 4)),
                      sample(make(4), 0, make.index(6, high=4), make(6))],
        dtypes=("float32", "float64", "int64", "uint8", "complex64", "bool"),
        layouts=("contiguous", "transposed", "sliced", "reversed"),
        tolerance={"float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)},
        errors=[(IndexError, lambda: ts.scatter_add(x(3), 0, ints(3), x(1)))]),
    Row("embedding", lambda indices, weight: weight[indices],
        lambda make: [sample(make.index(2, 3, high=4), make(4, 5)),
                      sample(Fixed(np.array(1)), make(3, 2)),
                      sample(Fixed(np.zeros((0,), np.int64)), make(3, 2))],
        dtypes=ALL_FLOATS, errors=[(IndexError, lambda: find("embedding")(ints(4), x(4, 2)))]),
]

MASKS = [
    Row("masked_fill", np_masked_fill,
        lambda make: [sample(make(3, 4), make.mask(3, 4), make()),
                      sample(make(3, 4), make.mask(4), True),
                      sample(make(4), make.mask(3, 1), make()),
                      sample(make(), make.mask(2), False),
                      sample(make(0, 2), make.mask(2), False)],
        dtypes=ALL, errors=[(TypeError, lambda: ts.masked_fill(ints(1), ts.asarray([True]), 0.5))]),
    Row("masked_select", lambda a,
        mask: np.broadcast_arrays(a, mask)[0][np.broadcast_arrays(a, mask)[1]],
        lambda make: [sample(make(3, 4), make.mask(3, 4)), sample(make(3, 4), make.mask(4)),
                      sample(make(3, 1), make.mask(3, 2))],
        dtypes=ALL),
    Row("nonzero", np.nonzero,
        lambda make: [sample(make(5)), sample(make(3, 4)), sample(make(0, 2))], dtypes=ALL,
        result="int64", grad=False, why_no_grad=POSITIONS,
        errors=[(ts.ShapeError, lambda: ts.nonzero(x()))]),
    Row("argwhere", np.argwhere,
        lambda make: [sample(make(5)), sample(make(3, 4)), sample(make(0, 2))],
        dtypes=("float32", "bool", *INTEGERS), result="int64", grad=False, why_no_grad=POSITIONS),
]

ROWS = BRACKETS + POSITIONAL + MASKS
