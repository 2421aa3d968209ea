# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of scattering: one index for each element, one for each slice, places in row-major order."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, ALL_FLOATS, COMPLEX, FLOATS, Fixed, Make, Row, sample
from op_table_shape import x

import tessera as ts

FOLDS = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
REDUCES = ("sum", "prod", "mean", "amax", "amin")


def ints(*values: Any) -> ts.Tensor:
    return ts.asarray(list(values))


def places(index: Any, axis: int) -> Any:
    """(position in the source, place in the array) for every element of the index, in row-major order."""
    for position in np.ndindex(index.shape):
        place = list(position)
        if place:
            place[axis] = index[position]
        yield position, tuple(place)


def np_scatter(array: Any, axis: int, index: Any, source: Any, reduce: str = "replace") -> Any:
    out = array.copy()
    for position, place in places(index, axis):
        value = source[position] if np.ndim(source) or not np.isscalar(source) else source
        out[place] = {"replace": lambda old, new: new, "add": np.add, "multiply": np.multiply}[reduce](
            out[place], value
        )
    return out


def np_scatter_reduce(array: Any, axis: int, index: Any, source: Any, reduce: str, include_self: bool = True) -> Any:
    found: dict[Any, list[Any]] = {}
    for position, place in places(index, axis):
        found.setdefault(place, [array[place]] if include_self else []).append(source[position])
    out = array.copy()
    for place, values in found.items():
        total = FOLDS["sum" if reduce == "mean" else reduce].reduce(np.array(values, array.dtype))
        if reduce == "mean":
            total = total / len(values) if array.dtype.kind in "fc" else total // len(values)
        out[place] = total
    return out


def spread(array: Any, axis: int, index: Any) -> Any:
    """An index of an axis as one for every element of its slices."""
    shape = list(array.shape)
    if not shape:
        return np.reshape(index, ())
    shape[axis] = np.size(index)
    moved = np.moveaxis(
        np.broadcast_to(
            np.reshape(index, -1), [n for i, n in enumerate(shape) if i != axis % len(shape)] + [shape[axis]]
        ),
        -1,
        axis,
    )
    return np.ascontiguousarray(moved)


def np_index_add(array: Any, axis: int, index: Any, source: Any, alpha: float = 1) -> Any:
    return np_scatter(array, axis, spread(array, axis, index), np.asarray(source * alpha, array.dtype), "add")


def np_index_copy(array: Any, axis: int, index: Any, source: Any) -> Any:
    return np_scatter(array, axis, spread(array, axis, index), source)


def np_index_fill(array: Any, axis: int, index: Any, value: Any) -> Any:
    where = spread(array, axis, index)
    return np_scatter(array, axis, where, np.broadcast_to(np.asarray(value, array.dtype), where.shape))


def np_index_reduce(array: Any, axis: int, index: Any, source: Any, reduce: str, include_self: bool = True) -> Any:
    return np_scatter_reduce(array, axis, spread(array, axis, index), source, reduce, include_self)


def np_masked_scatter(array: Any, mask: Any, source: Any) -> Any:
    out = array.copy()
    wide = np.broadcast_to(mask, array.shape)
    out[wide] = source.reshape(-1)[: wide.sum()]
    return out


def np_put(array: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    out = array.copy()
    for place, value in zip(index.reshape(-1), source.reshape(-1)):
        out.reshape(-1)[place] = np.add(out.reshape(-1)[place], value) if accumulate else value
    return out


def unique(make: Make, *shape: int, axis: int, high: int) -> Fixed:
    """An index without repetitions along the axis."""
    lines = int(np.prod(shape)) // shape[axis]
    rows = np.array([make.rng.permutation(high)[: shape[axis]] for _ in range(lines)])
    others = [n for i, n in enumerate(shape) if i != axis]
    return Fixed(np.ascontiguousarray(np.moveaxis(rows.reshape(*others, shape[axis]), -1, axis)))


def reduce_samples(make: Make, *, reduces: Any = REDUCES) -> list[Any]:
    found = []
    for reduce in reduces:
        for own in (True, False):
            found.append(sample(make(3, 4), 1, make.index(3, 5, high=4), make(3, 6), reduce, own))
            found.append(sample(make(4), 0, make.index(6, high=4), make(6), reduce, own))
    found.append(sample(make(), 0, Fixed(np.array(0)), make(), "sum"))
    found.append(sample(make(2, 3), 0, Fixed(np.zeros((0, 3), np.int64)), make(1, 3), "mean"))
    return found


def reduce_grads(make: Make) -> list[Any]:
    """Factors that are not zero, extremes without ties."""
    found = []
    for own in (True, False):
        found += [sample(make(4), 0, make.index(5, high=3), make(6), reduce, own) for reduce in ("sum", "mean")]
        found.append(sample(make(4, low=0.5), 0, make.index(5, high=3), make(5, low=0.5), "prod", own))
        found += [
            sample(make.distinct(2, 2), 1, make.index(2, 3, high=2), make.distinct(2, 3) + 0.1, reduce, own)
            for reduce in ("amax", "amin")
        ]
    return found


EACH = [
    Row(
        "scatter",
        np_scatter,
        lambda m: [
            sample(m(3, 4), 1, m.index(3, 2, high=4), m(3, 2)),
            sample(m(3, 4), 0, m.index(2, 3, high=3), m(3, 4)),
            sample(m(4), 0, m.index(6, high=4), m(6)),
            sample(m(4), -1, m.index(2, high=4), True),
            sample(m(), 0, Fixed(np.array(0)), m()),
            sample(m(3, 2), 0, Fixed(np.zeros((0, 2), np.int64)), m(1, 2)),
        ],
        dtypes=ALL,
        grad_samples=lambda m: [
            sample(m(3, 4), 1, unique(m, 3, 2, axis=1, high=4), m(3, 3)),
            sample(m(4), 0, unique(m, 3, axis=0, high=4), m(3)),
            sample(m(4), 0, unique(m, 2, axis=0, high=4), 1.5),
            sample(m(), 0, Fixed(np.array(0)), m()),
        ],
        errors=[
            (IndexError, lambda: ts.scatter(x(3), 0, ints(3), x(1))),
            (IndexError, lambda: ts.scatter(x(3), 0, ints(-1), 1.0)),
            (ts.ShapeError, lambda: ts.scatter(x(3, 3), 0, ints(0), x(1))),
            (ts.ShapeError, lambda: ts.scatter(x(3), 0, ints(0, 1), x(1))),
            (ValueError, lambda: ts.scatter(x(3), 0, ints(0), x(1), "mean")),
            (ts.DTypeError, lambda: ts.scatter(ints(1), 0, ints(0), x(1))),
            (ValueError, lambda: ts.scatter(ints(1).astype(ts.uint8), 0, ints(0), 256)),
        ],
    ),
    Row(
        "scatter_reducing",
        np_scatter,
        lambda m: (
            [sample(m(3, 4), 1, m.index(3, 2, high=4), m(3, 2), mode) for mode in ("add", "multiply")]
            + [sample(m(4), 0, m.index(3, high=4), True, mode) for mode in ("add", "multiply")]
        ),
        call=ts.scatter,
        inplace=lambda a, *args: a.scatter_(*args),
        schema="scatter",
        dtypes=(*FLOATS, "int64", "complex128", "bool"),
        grad_samples=lambda m: (
            [sample(m(4, low=0.5), 0, m.index(3, high=4), m(3, low=0.5), mode) for mode in ("add", "multiply")]
            + [sample(m(4, low=0.5), 0, m.index(3, high=4), 2.0, "multiply")]
        ),
    ),
    Row(
        "scatter_reduce",
        np_scatter_reduce,
        reduce_samples,
        dtypes=(*ALL_FLOATS, "int64", "uint8", "int32"),
        grad_samples=reduce_grads,
        tolerance={"bfloat16": (1.6e-2, 1e-2)},
        errors=[
            (ValueError, lambda: ts.scatter_reduce(x(3), 0, ints(0), x(1), "max")),
            (IndexError, lambda: ts.scatter_reduce(x(3), 0, ints(3), x(1), "sum")),
            (ts.DTypeError, lambda: ts.scatter_reduce(x(1).astype(ts.complex64), 0, ints(0), x(1), "amin")),
        ],
    ),
    Row(
        "scatter_reduce_complex",
        np_scatter_reduce,
        lambda m: reduce_samples(m, reduces=("sum", "prod", "mean")),
        call=ts.scatter_reduce,
        inplace=lambda a, *args: a.scatter_reduce_(*args),
        schema="scatter_reduce",
        dtypes=COMPLEX,
        grad_dtype="complex128",
        grad_samples=lambda m: [
            sample(m(3, low=0.5), 0, m.index(4, high=2), m(4, low=0.5), r, own)
            for r in ("prod", "mean")
            for own in (True, False)
        ],
    ),
]

LINES = [
    Row(
        "index_add",
        np_index_add,
        lambda m: [
            sample(m(3, 4), 0, m.index(5, high=3), m(5, 4)),
            sample(m(3, 37), 0, m.index(5, high=3), m(5, 37)),
            sample(m(3, 4), -1, m.index(2, high=4), m(3, 2)),
            sample(m(3), 0, m.index(4, high=3), m(4), alpha=2),
            sample(m(2, 3, 2), 1, m.index(4, high=3), m(2, 4, 2)),
            sample(m(), 0, Fixed(np.array(0)), m()),
            sample(m(3, 2), 0, Fixed(np.zeros(0, np.int64)), m(0, 2)),
        ],
        dtypes=(*FLOATS, "int64", "uint8", *COMPLEX),
        tolerance={"float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)},
        errors=[
            (IndexError, lambda: ts.index_add(x(3), 0, ints(3), x(1))),
            (ts.ShapeError, lambda: ts.index_add(x(3), 0, ints(0, 1), x(1))),
            (ts.ShapeError, lambda: ts.index_add(x(3), 0, ints([0]), x(1))),
            (ts.ShapeError, lambda: ts.index_add(x(), 0, ints(0, 0), x())),
        ],
    ),
    Row(
        "index_copy",
        np_index_copy,
        lambda m: [
            sample(m(3, 4), 0, m.index(5, high=3), m(5, 4)),
            sample(m(3, 4), 1, m.index(2, high=4), m(3, 2)),
            sample(m(3), 0, Fixed(np.array(1)), m(1)),
        ],
        dtypes=ALL,
        grad_samples=lambda m: [sample(m(3, 2), 0, Fixed(np.array([2, 0])), m(2, 2))],
        errors=[
            (IndexError, lambda: ts.index_copy(x(3), 0, ints(-1), x(1))),
            (ts.ShapeError, lambda: ts.index_copy(x(3, 2), 0, ints(0), x(1, 3))),
        ],
    ),
    Row(
        "index_fill",
        np_index_fill,
        lambda m: [
            sample(m(3, 4), 0, m.index(2, high=3), True),
            sample(m(3, 4), 1, m.index(5, high=4), m()),
            sample(m(3), 0, Fixed(np.array(2)), m()),
            sample(m(), 0, Fixed(np.array([0])), True),
        ],
        dtypes=ALL,
        grad_samples=lambda m: [
            sample(m(3, 2), 0, Fixed(np.array([2, 0, 2])), m()),
            sample(m(3), 0, Fixed(np.array([1])), 2.0),
        ],
        errors=[
            (ts.ShapeError, lambda: ts.index_fill(x(3), 0, ints(0), x(1))),
            (ts.DTypeError, lambda: ts.index_fill(ints(1), 0, ints(0), 0.5)),
            (IndexError, lambda: ts.index_fill(x(3), 0, ints(3), 1.0)),
        ],
    ),
    Row(
        "index_reduce",
        np_index_reduce,
        lambda m: (
            [
                sample(m(3, 4), 0, m.index(5, high=3), m(5, 4), r, include_self=own)
                for r in REDUCES
                for own in (True, False)
            ]
            + [sample(m(2, 3), 1, m.index(4, high=3), m(2, 4), "amax")]
        ),
        dtypes=(*FLOATS, "int64"),
        tolerance={"float32": (1e-5, 1e-5)},
        grad_samples=lambda m: (
            [sample(m(2, 2, low=0.5), 0, Fixed(np.array([1, 1])), m(2, 2, low=0.5), r) for r in ("prod", "mean")]
            + [sample(m.distinct(2, 2), 0, Fixed(np.array([1, 1])), m.distinct(2, 2) + 0.1, "amax")]
        ),
    ),
]

FLAT = [
    Row(
        "masked_scatter",
        np_masked_scatter,
        lambda m: [
            sample(m(3, 4), m.mask(3, 4), m(12)),
            sample(m(3, 4), m.mask(4), m(3, 5)),
            sample(m(3), Fixed(np.array(True)), m(4)),
            sample(m(), Fixed(np.array(True)), m(1)),
            sample(m(3), Fixed(np.array([False] * 3)), m(0)),
            sample(m(0, 2), m.mask(2), m(1)),
        ],
        dtypes=ALL,
        errors=[
            (ValueError, lambda: ts.masked_scatter(x(2), ts.asarray([True, True]), x(1))),
            (ts.DTypeError, lambda: ts.masked_scatter(x(2), x(2), x(2))),
            (ts.ShapeError, lambda: ts.masked_scatter(x(2), ts.asarray([True] * 3), x(3))),
        ],
    ),
    Row(
        "put",
        np_put,
        lambda m: [
            sample(m(3, 4), m.index(2, 2, low=-12, high=12), m(2, 2)),
            sample(m(3), m.index(6, high=3), m(2, 3)),
            sample(m(), Fixed(np.array([-1])), m(1)),
            sample(m(2, 3), m.index(5, high=6), m(5), True),
            sample(m(2, 2), Fixed(np.zeros(0, np.int64)), m(0)),
        ],
        dtypes=(*FLOATS, "int64", "complex64", "bool"),
        tolerance={"float32": (1e-5, 1e-5)},
        grad_samples=lambda m: [
            sample(m(2, 2), Fixed(np.array([3, -4])), m(2)),
            sample(m(2, 2), Fixed(np.array([3, 3, 0])), m(3), True),
        ],
        errors=[
            (IndexError, lambda: ts.put(x(2), ints(2), x(1))),
            (ts.ShapeError, lambda: ts.put(x(2), ints(0), x(2))),
        ],
    ),
]

ROWS = EACH + LINES + FLAT
