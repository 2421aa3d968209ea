# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of views by strides, parts that are written, grids, stacks and diagonals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.linalg
from op_engine import Row, sample
from op_table_shape import cases, listed, moved, x

import tessera as ts

BYTES = "bytes have no derivative"


# ---- strides ----


def np_as_strided(array: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
    flat = np.ascontiguousarray(array).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides]).copy()


def np_unfold(array: Any, axis: int, size: int, step: int) -> Any:
    plain = np.atleast_1d(array)
    if size == 0:
        shape = list(plain.shape)
        shape[axis] = shape[axis] // step + 1
        return np.zeros((*shape, 0))
    axis %= plain.ndim
    windows = np.lib.stride_tricks.sliding_window_view(plain, size, axis)
    found = np.moveaxis(np.moveaxis(windows, axis, 0)[::step], 0, axis)
    return found if array.ndim else found.reshape(size)


def np_unflatten(array: Any, axis: int, shape: Any) -> Any:
    at = axis % array.ndim
    return array.reshape(*array.shape[:at], *shape, *array.shape[at + 1 :])


STRIDED = cases(
    ((6,), (3, 2), (1, 1)),
    ((6,), (2, 2), (3, 1), 1),
    ((6,), (2, 2), (2, 2)),
    ((6,), (2, 3), (0, 2)),
    ((6,), (3,), (-2,), 5),
    ((), (2,), (0,)),
    ((4,), (0,), (1,)),
    ((4,), (), (), 3),
)

STRIDES = [
    moved(
        "as_strided",
        np_as_strided,
        STRIDED,
        layouts=("contiguous",),
        errors=[
            (ValueError, lambda: ts.as_strided(x(3), (4,), (1,))),
            (ValueError, lambda: ts.as_strided(x(3), (2,), (-1,))),
            (ValueError, lambda: ts.as_strided(x(3), (2,), (2**62,))),
            (ValueError, lambda: ts.as_strided(x(3), (1,), (1,), -1)),
            (ts.ShapeError, lambda: ts.as_strided(x(3), (2,), ())),
        ],
    ),
    moved(
        "unfold",
        np_unfold,
        cases(
            ((6,), 0, 2, 1),
            ((6,), 0, 3, 2),
            ((5, 3), 0, 2, 3),
            ((2, 5), -1, 5, 9),
            ((4,), 0, 0, 2),
            ((), 0, 1, 1),
            ((0, 3), 1, 2, 1),
        ),
        grad_samples=cases(((6,), 0, 2, 1), ((6,), 0, 3, 2), ((5, 2), 0, 2, 3), ((2, 4), 1, 3, 1)),
        errors=[
            (ValueError, lambda: ts.unfold(x(3), 0, 4, 1)),
            (ValueError, lambda: ts.unfold(x(3), 0, 1, 0)),
            (IndexError, lambda: ts.unfold(x(3), 1, 1, 1)),
        ],
    ),
    Row(
        "view_dtype",
        lambda a, dtype: a.view(dtype.numpy),
        lambda m: [sample(m(4), ts.uint8), sample(m(3, 2), ts.uint8), sample(m(0), ts.uint8)],
        dtypes=("float64", "int16", "int64", "uint8", "complex128"),
        result="uint8",
        layouts=("contiguous",),
        grad=False,
        why_no_grad=BYTES,
        errors=[
            (ts.ShapeError, lambda: ts.view_dtype(x(3), ts.float64)),
            (ts.ShapeError, lambda: ts.view_dtype(x(), ts.float64)),
            (ts.ShapeError, lambda: ts.view_dtype(x(4)[::2], ts.float64)),
            (ts.ShapeError, lambda: ts.view_dtype(x(5)[1:], ts.float64)),
            (ts.ShapeError, lambda: ts.view_dtype(x(2, 3)[:, :2], ts.float64)),
        ],
    ),
    moved(
        "unflatten",
        np_unflatten,
        cases(((6,), 0, (2, 3)), ((2, 6), -1, (3, -1)), ((2, 1), 1, (1, 1, 1)), ((0, 2), 0, (0, 3))),
        errors=[
            (ts.ShapeError, lambda: ts.unflatten(x(6), 0, (4, 2))),
            (IndexError, lambda: ts.unflatten(x(6), 1, (6,))),
            (ts.ShapeError, lambda: ts.unflatten(x(1), 0, ())),
        ],
    ),
]

# ---- parts ----


def written(part: Any) -> Any:
    """A copy of an array with the source in the part that `part` shows."""

    def reference(array: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        changed = np.array(array)
        part(changed, *args, **kwargs)[...] = source
        return changed

    return reference


def np_diagonal(array: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    found = array.diagonal(offset, axis1, axis2)
    found.setflags(write=True)
    return found


def np_part(array: Any, axis: int = 0, start: Any = None, stop: Any = None, step: int = 1) -> Any:
    return array[(slice(None),) * (axis % array.ndim) + (slice(start, stop, step),)]


def np_flat_window(array: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
    flat = array.reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides])


PARTS = [
    moved(
        "select_scatter",
        written(lambda a, axis, index: a[(slice(None),) * (axis % a.ndim) + (index, ...)]),
        lambda m: [sample(m(2, 3), m(3), 0, 1), sample(m(2, 3), m(2), -1, -1), sample(m(3), m(), 0, 2)],
        errors=[
            (ts.ShapeError, lambda: ts.select_scatter(x(2, 3), x(2), 0, 0)),
            (IndexError, lambda: ts.select_scatter(x(2), x(), 0, 2)),
        ],
    ),
    moved(
        "slice_scatter",
        written(np_part),
        lambda m: [
            sample(m(5), m(3), 0, 1, 4),
            sample(m(2, 5), m(2, 3), 1, None, None, 2),
            sample(m(5), m(5), 0, None, None, -1),
            sample(m(3), m(0), 0, 2, 1),
        ],
        errors=[
            (ts.ShapeError, lambda: ts.slice_scatter(x(3), x(2))),
            (ValueError, lambda: ts.slice_scatter(x(3), x(3), step=0)),
        ],
    ),
    moved(
        "diagonal_scatter",
        written(np_diagonal),
        lambda m: [sample(m(3, 3), m(3)), sample(m(2, 4), m(2), 1), sample(m(2, 3, 2), m(3, 1), -1, 0, 2)],
        errors=[(ts.ShapeError, lambda: ts.diagonal_scatter(x(2, 2), x(1)))],
    ),
    moved(
        "as_strided_scatter",
        written(np_flat_window),
        lambda m: [
            sample(m(6), m(2, 2), (2, 2), (3, 1), 1),
            sample(m(2, 3), m(3), (3,), (2,)),
            sample(m(4), m(), (), (), 2),
        ],
        layouts=("contiguous",),
        grad_samples=lambda m: [sample(m(6), m(2, 2), (2, 2), (3, 1), 1)],
        errors=[
            (ValueError, lambda: ts.as_strided_scatter(x(3), x(2), (2,), (0,))),
            (ValueError, lambda: ts.as_strided_scatter(x(4)[::2], x(2), (2,), (1,))),
        ],
    ),
    moved(
        "tensor_split",
        lambda a, n, axis=0: np.array_split(a, n, axis),
        cases(((5,), 2), ((2, 6), 4, 1), ((2,), 3), ((0, 2), 2)),
        schema="tensor_split",
        errors=[(ValueError, lambda: ts.tensor_split(x(3), 0)), (IndexError, lambda: ts.tensor_split(x(), 1))],
    ),
    moved(
        "tensor_split_at",
        lambda a, indices, axis=0: np.array_split(a, list(indices), axis),
        cases(((5,), (1, 3)), ((2, 6), (0, -1), 1), ((3,), (2, 9)), ((5,), (3, 1)), ((2,), ())),
    ),
    Row(
        "hsplit",
        np.hsplit,
        cases(((4,), 2), ((2, 6), 3), ((2, 5), (1, 3))),
        call=ts.hsplit,
        dtypes=("float32",),
        errors=[
            (ValueError, lambda: ts.hsplit(x(2, 3), 2)),
            (ts.ShapeError, lambda: ts.hsplit(x(), 1)),
            (TypeError, lambda: ts.hsplit([1], 1)),
        ],
    ),
    Row(
        "vsplit",
        np.vsplit,
        cases(((4, 2), 2), ((5, 1), (1, 3))),
        call=ts.vsplit,
        dtypes=("float32",),
        errors=[(ts.ShapeError, lambda: ts.vsplit(x(2), 1))],
    ),
    Row(
        "dsplit",
        np.dsplit,
        cases(((1, 2, 4), 2), ((2, 1, 3), (1,))),
        call=ts.dsplit,
        dtypes=("float32",),
        errors=[(ts.ShapeError, lambda: ts.dsplit(x(2, 2), 1))],
    ),
]

# ---- grids and stacks ----


def np_meshgrid(arrays: Any, indexing: str = "xy") -> Any:
    return np.meshgrid(*arrays, indexing=indexing)


def np_cartesian(arrays: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else np.array(list(itertools.product(*arrays))).reshape(-1, len(arrays))


def np_combinations(array: Any, r: int = 2, with_replacement: bool = False) -> Any:
    if r == 0:
        return array[:0]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return array[np.array(list(choose(range(len(array)), r)), np.int64).reshape(-1, r)]


def np_block_diag(arrays: Any) -> Any:
    return scipy.linalg.block_diag(*arrays).astype(np.result_type(*arrays))


GRIDS = [
    moved(
        "broadcast_tensors",
        lambda arrays: np.broadcast_arrays(*arrays),
        listed(([(3,), (2, 1)], {}), ([(), (2,)], {}), ([(1, 0), (3, 1)], {}), ([(2,)], {})),
        errors=[(ts.ShapeError, lambda: ts.broadcast_tensors(x(2), x(3)))],
    ),
    moved(
        "meshgrid",
        np_meshgrid,
        listed(
            ([(3,), (2,)], {}),
            ([(3,), (2,), (4,)], {}),
            ([(3,), (2,)], {"indexing": "ij"}),
            ([(2,), (0,)], {}),
            ([(2,)], {}),
            ([(), (2,)], {}),
        ),
        errors=[(ValueError, lambda: ts.meshgrid(x(2), indexing="yx")), (ts.ShapeError, lambda: ts.meshgrid(x(2, 2)))],
    ),
    moved("atleast_1d", np.atleast_1d, cases(((),), ((2,),), ((2, 3),))),
    moved("atleast_2d", np.atleast_2d, cases(((),), ((2,),), ((0,),), ((2, 3),))),
    moved("atleast_3d", np.atleast_3d, cases(((),), ((2,),), ((2, 3),), ((2, 3, 1),))),
    moved(
        "cartesian_prod",
        np_cartesian,
        listed(([(2,), (3,)], {}), ([(2,), (1,), (2,)], {}), ([(3,)], {}), ([(2,), (0,)], {})),
        errors=[(ValueError, lambda: ts.cartesian_prod()), (ts.ShapeError, lambda: ts.cartesian_prod(x(2, 2)))],
    ),
    moved(
        "combinations",
        np_combinations,
        cases(
            ((4,),), ((4,), 3), ((3,), 2, True), ((2,), 3), ((5,), 5), ((3,), 1), ((3,), 0), ((0,), 2), ((0,), 2, True)
        ),
        errors=[
            (ts.ShapeError, lambda: ts.combinations(x(2, 2))),
            (ValueError, lambda: ts.combinations(x(2), -1)),
            (ts.ShapeError, lambda: ts.combinations(x(200), 100)),
        ],
    ),
    moved(
        "hstack",
        np.hstack,
        listed(([(3,), (2,)], {}), ([(2, 3), (2, 1)], {}), ([(), (2,)], {})),
        errors=[(ValueError, lambda: ts.hstack([])), (ts.ShapeError, lambda: ts.hstack([x(2, 2), x(3, 2)]))],
    ),
    moved(
        "vstack",
        np.vstack,
        listed(([(3,), (3,)], {}), ([(2, 3), (3,)], {}), ([(), ()], {})),
        errors=[(ValueError, lambda: ts.vstack([]))],
    ),
    moved("dstack", np.dstack, listed(([(3,), (3,)], {}), ([(2, 3), (2, 3, 2)], {}), ([(), ()], {}))),
    moved(
        "column_stack",
        np.column_stack,
        listed(([(3,), (3,)], {}), ([(2, 3), (2,)], {})),
        errors=[(ValueError, lambda: ts.column_stack([]))],
    ),
    moved(
        "block_diag",
        np_block_diag,
        listed(([(2, 3), (1, 2)], {}), ([(), (2,), (2, 1)], {}), ([(2, 2)], {}), ([(0, 2), (1, 1)], {})),
        errors=[(ts.ShapeError, lambda: ts.block_diag(x(1, 1, 1))), (ValueError, lambda: ts.block_diag())],
    ),
]

# ---- diagonals, turns ----


def np_diag_embed(array: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    width = array.shape[-1] + abs(offset)
    made = np.zeros((*array.shape[:-1], width, width), array.dtype)
    at = np.arange(array.shape[-1])
    made[..., at + max(-offset, 0), at + max(offset, 0)] = array
    return np.moveaxis(made, (-2, -1), (axis1, axis2))


TURNED = [
    moved(
        "rot90",
        lambda a, k=1, axes=(0, 1): np.rot90(a, k, axes),
        cases(
            ((2, 3),),
            ((2, 3), 2),
            ((2, 3), -1),
            ((2, 3), 4),
            ((2, 3, 2), 1, (2, 0)),
            ((2, 3, 2), 3, (-1, 1)),
            ((0, 2),),
        ),
        errors=[
            (ts.ShapeError, lambda: ts.rot90(x(2))),
            (ValueError, lambda: ts.rot90(x(2, 2), 1, (0,))),
            (ValueError, lambda: ts.rot90(x(2, 2), 1, (0, -2))),
        ],
    ),
    moved(
        "fliplr",
        np.fliplr,
        cases(((2, 3),), ((2, 3, 2),), ((2, 0),)),
        errors=[(ts.ShapeError, lambda: ts.fliplr(x(2)))],
    ),
    moved("flipud", np.flipud, cases(((3,),), ((2, 3),), ((0, 2),)), errors=[(ts.ShapeError, lambda: ts.flipud(x()))]),
    moved(
        "diag",
        np.diag,
        cases(((3,),), ((3,), 1), ((2,), -2), ((2, 3),), ((3, 3), -1), ((2, 3), 9), ((0,),)),
        errors=[(ts.ShapeError, lambda: ts.diag(x())), (ts.ShapeError, lambda: ts.diag(x(1, 1, 1)))],
    ),
    moved(
        "diag_embed",
        np_diag_embed,
        cases(((3,),), ((2, 3),), ((2, 3), 1), ((2, 2), -1, 0, 2), ((2, 3), 0, -1, 0), ((2, 0),), ((0,), 2)),
        errors=[
            (ts.ShapeError, lambda: ts.diag_embed(x())),
            (ValueError, lambda: ts.diag_embed(x(2), 0, 1, -1)),
            (ts.ShapeError, lambda: ts.diag_embed(x(2), 2**62)),
        ],
    ),
    moved("diagflat", np.diagflat, cases(((3,),), ((2, 2), 1), ((), -1), ((0,),))),
]

ROWS = STRIDES + PARTS + GRIDS + TURNED
