# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of shape ops, windows, joins and rearrangements."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL, COMPLEX, FLOATS, Row, Samples, find, one_array, real_of, sample

import tessera as ts


def moved(name: str, reference: Any, samples: Samples, **options: Any) -> Row:
    """A row of an op that only moves elements, so that it takes every dtype."""
    return Row(name, reference, samples, **{"dtypes": ALL, **options})


def cases(*calls: tuple[Any, ...]) -> Samples:
    """Each call is (shape, *arguments) or (shape, *arguments, {keywords})."""

    def samples(make: Any) -> list[Any]:
        found = []
        for shape, *rest in calls:
            keywords = rest.pop() if rest and isinstance(rest[-1], dict) else {}
            found.append(sample(make(*shape), *rest, **keywords))
        return found

    return samples


def listed(*calls: tuple[Any, ...]) -> Samples:
    """Each call is (list of shapes, keywords) for an op on a list of tensors."""
    return lambda make: [
        sample([np.asarray(make(*s)) for s in shapes], **keywords) for shapes, keywords in calls
    ]


def x(*shape: int) -> ts.Tensor:
    return ts.zeros(shape)


def shape_or_copy(array: Any, shape: Any, **_: Any) -> Any:
    return array.reshape(shape)


def np_flatten(array: Any, start: int = 0, end: int = -1) -> Any:
    if array.ndim == 0:
        return array.reshape(1)
    end = end % array.ndim + 1
    merged = int(np.prod(array.shape[start:end]))
    return array.reshape(*array.shape[:start], merged, *array.shape[end:])


def np_split(array: Any, size: int, axis: int = 0) -> list[Any]:
    return np.split(array, range(size, array.shape[axis], size), axis)


def np_split_with_sizes(array: Any, sizes: Any, axis: int = 0) -> list[Any]:
    return np.split(array, np.cumsum(sizes)[:-1], axis)


def np_chunk(array: Any, chunks: int, axis: int = 0) -> list[Any]:
    if array.shape[axis] == 0:  # all parts are empty
        return [array] * chunks
    return np_split(array, -(-array.shape[axis] // chunks), axis)


def np_unstack(array: Any, axis: int = 0) -> list[Any]:
    return list(np.moveaxis(array, axis, 0))


def np_slice(array: Any, axis: int, start: Any = None, stop: Any = None, step: int = 1) -> Any:
    return np.moveaxis(np.moveaxis(array, axis, 0)[start:stop:step], 0, axis)


def np_narrow(array: Any, axis: int, start: int, length: int) -> Any:
    first = start if start >= 0 else start + array.shape[axis]
    return np.take(array, range(first, first + length), axis)


def np_expand(array: Any, shape: Any) -> Any:
    old = (1,) * (len(shape) - array.ndim) + array.shape
    return np.broadcast_to(array, [o if s == -1 else s for s, o in zip(shape, old)])


def np_concat(arrays: Any, axis: Any = 0) -> Any:
    return np.concatenate(arrays, axis)


def np_roll(array: Any, shift: Any, axis: Any = None) -> Any:
    return np.roll(array, shift, axis)


def np_pad(array: Any, padding: Any, mode: str = "constant", value: float = 0) -> Any:
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    widths = [(0, 0)] * array.ndim
    for i in range(len(padding) // 2):
        before, after = padding[2 * i : 2 * i + 2]
        axis = array.ndim - 1 - i
        array = np_slice(array, axis, max(-before, 0), array.shape[axis] - max(-after, 0))
        widths[axis] = (max(before, 0), max(after, 0))
    extra = {"constant_values": value} if mode == "constant" else {}
    return np.pad(array, widths, names[mode], **extra)


VIEWS = [
    moved("reshape", shape_or_copy,
          cases(((2, 3), (3, 2)), ((2, 3), (-1,)), ((4,), (2, -1)), ((), (1, 1)), ((0, 3), (3, 0)),
                ((2, 3), (6,), {"copy": True})),
          errors=[(ts.ShapeError, lambda: ts.reshape(x(6), (4, 2))),
                  (ts.ShapeError, lambda: ts.reshape(x(6), (-1, -1))),
                  (ValueError, lambda: ts.reshape(x(2, 3).mT, (6,), copy=False))]),
    moved("view", shape_or_copy, cases(((2, 3), (3, 2)), ((4,), (2, -1)), ((), (1, 1))),
          layouts=("contiguous",), grad_samples=cases(((2, 3, 1), (1, 2, 3, 1))),
          errors=[(ValueError, lambda: x(2, 3).mT.view((6,)))]),
    moved("flatten", np_flatten,
          cases(((2, 3),), ((),), ((2, 3, 4), 1), ((2, 3, 4), 0, 1), ((0, 3),)),
          errors=[(IndexError, lambda: ts.flatten(x(2, 3), 2))]),
    moved("squeeze", lambda a, axes: np.squeeze(a, axes),
          cases(((1, 3), 0), ((2, 1, 3, 1), (1, -1)), ((1, 0), (0,)), ((), 0)),
          errors=[(ts.ShapeError, lambda: ts.squeeze(x(2, 3), 0))]),
    moved("expand_dims", np.expand_dims, cases(((3,), 0), ((3,), -1), ((), 0), ((2, 3), 1), ((2, 3), (-2, 0)), ((), (0, 1)), ((3,), ())),
          errors=[(IndexError, lambda: ts.expand_dims(x(2), 3))]),
    moved("unsqueeze", np.expand_dims, cases(((3,), 0), ((2, 3), -1))),
    moved("permute_dims", np.transpose,
          cases(((2, 3), (1, 0)), ((2, 3, 4), (2, 0, -2)), ((), ()), ((0, 3), (1, 0))),
          errors=[(ts.ShapeError, lambda: ts.permute_dims(x(2, 3), (0,))),
                  (ValueError, lambda: ts.permute_dims(x(2, 3), (0, 0)))]),
    moved("transpose", np.swapaxes, cases(((2, 3), 0, 1), ((2, 3, 4), 0, -1), ((2, 3), 1, 1))),
    moved("matrix_transpose", lambda a: np.swapaxes(a, -1, -2),
          cases(((2, 3),), ((2, 3, 4),), ((0, 3),)),
          errors=[(ts.ShapeError, lambda: ts.matrix_transpose(x(3)))]),
    moved("moveaxis", np.moveaxis, cases(((2, 3, 4), 0, -1), ((2, 3, 4), (0, 2), (1, 0)))),
    moved("broadcast_to", np.broadcast_to,
          cases(((3,), (2, 3)), ((2, 1), (2, 4)), ((), (2, 2)), ((1, 3), (0, 3))),
          errors=[(ts.ShapeError, lambda: ts.broadcast_to(x(3), (2,)))]),
    moved("expand", np_expand, cases(((2, 1), (-1, 3)), ((2, 1), (2, 2, 4)), ((3,), (2, -1))),
          errors=[(ts.ShapeError, lambda: ts.expand(x(3), (-1, 3)))]),
]

WINDOWS = [
    moved("select", lambda a, axis, index: np.take(a, index, axis),
          cases(((2, 3), 0, 1), ((2, 3), -1, -1), ((4,), 0, 2)),
          errors=[(IndexError, lambda: ts.select(x(2), 0, 2))]),
    moved("slice", np_slice,
          cases(((5,), 0, 1, 4), ((5, 2), 0, None, None, -2), ((2, 5), 1, -3, None),
                ((5,), 0, 4, 1), ((5,), 0, 9, -9, -1)),
          errors=[(ValueError, lambda: ts.slice(x(3), 0, 0, 1, 0))]),
    moved("narrow", np_narrow, cases(((5,), 0, 1, 3), ((2, 4), 1, -2, 2), ((3,), 0, 3, 0)),
          errors=[(IndexError, lambda: ts.narrow(x(3), 0, 2, 2))]),
    moved("split", np_split, cases(((5,), 2), ((2, 6), 3, 1), ((4, 1), 4)),
          errors=[(ValueError, lambda: ts.split(x(3), 0))]),
    moved("split_with_sizes", np_split_with_sizes, cases(((5,), (2, 3)), ((2, 6), (1, 0, 5), 1)),
          errors=[(ts.ShapeError, lambda: ts.split_with_sizes(x(3), (1, 1)))]),
    moved("chunk", np_chunk, cases(((5,), 2), ((2, 6), 4, 1), ((2,), 5)),
          errors=[(ValueError, lambda: ts.chunk(x(3), 0))]),
    moved("unstack", np_unstack, cases(((3,),), ((2, 3), {"axis": 1})),
          errors=[(IndexError, lambda: ts.unstack(x()))]),
    moved("diagonal", np.diagonal,
          cases(((2, 3),), ((3, 3), 1), ((3, 4), -2), ((2, 3, 4), 0, 0, 2), ((3, 2), 5)),
          errors=[(ts.ShapeError, lambda: ts.diagonal(x(3)))]),
]

COPIES = [
    moved("concat", np_concat,
          listed(([(3,), (2,)], {}), ([(2, 3), (2, 1), (2, 0)], {"axis": 1}),
                 ([(2, 3), (4,)], {"axis": None}), ([(2, 2)], {"axis": -1})),
          errors=[(ts.ShapeError, lambda: ts.concat([x(2, 3), x(2, 4)])),
                  (ValueError, lambda: ts.concat([])),
                  (ts.ShapeError, lambda: ts.concat([x(), x()]))]),
    moved("stack", np.stack,
          listed(([(3,), (3,)], {}), ([(2, 3), (2, 3)], {"axis": -1}), ([(), ()], {}),
                 ([(2, 0), (2, 0)], {"axis": 1})),
          errors=[(ts.ShapeError, lambda: ts.stack([x(2), x(3)]))]),
    moved("tile", np.tile,
          cases(((3,), (2,)), ((2, 3), (2, 1)), ((2,), (3, 2)), ((2, 1, 3), (2,)), ((2, 3), (0, 1)),
                ((), (2,))),
          errors=[(ValueError, lambda: ts.tile(x(2), (-1,)))]),
    moved("repeat", lambda a, repeats, axis=None: np.repeat(a, repeats, axis),
          lambda make: [sample(make(3), 2), sample(make(2, 3), 2, axis=1), sample(make(2, 3), 3),
                        sample(make(2), 0),
                        sample(make(3), make.index(3, high=4)),
                        sample(make(2, 3), make.index(3, high=3), axis=1)],
          errors=[(ValueError, lambda: ts.repeat(x(3), -1)),
                  (ts.ShapeError, lambda: ts.repeat(x(3), ts.asarray([1, 2])))]),
    moved("flip", lambda a, axis=None: np.flip(a, axis),
          cases(((3,),), ((2, 3), {"axis": 1}), ((2, 3, 4), {"axis": (0, -1)}), ((),), ((0, 2),)),
          errors=[(IndexError, lambda: ts.flip(x(2), axis=1))]),
    moved("roll", np_roll,
          cases(((5,), 2), ((2, 3), -1), ((2, 3), (1, -2), {"axis": (0, 1)}),
                ((4, 2), 5, {"axis": 0}), ((0, 2), 1)),
          errors=[(ValueError, lambda: ts.roll(x(3), (1, 2), axis=0))]),
    moved("tril", lambda a, diagonal=0: np.tril(a, diagonal),
          cases(((3, 3),), ((2, 4), {"diagonal": 1}), ((2, 3, 2), {"diagonal": -1}), ((0, 3),)),
          errors=[(ts.ShapeError, lambda: ts.tril(x(3)))]),
    moved("triu", lambda a, diagonal=0: np.triu(a, diagonal),
          cases(((3, 3),), ((2, 4), {"diagonal": 1}), ((2, 3, 2), {"diagonal": -1}), ((0, 3),)),
          errors=[(ts.ShapeError, lambda: ts.triu(x(3)))]),
    moved("pad", np_pad,
          cases(((3,), (1, 2)), ((2, 3), (1, 0, 0, 2), "constant", 1), ((4,), (-1, 2)),
                ((4,), (2, 3), "reflect"),
                ((2, 3), (1, 2, 1, 1), "reflect"), ((3,), (2, 5), "replicate"),
                ((2, 3), (2, 1), "circular"), ((0, 2), (1, 1)), ((2, 3, 4), (3, 2, 1, 2, 1, 1), "reflect"),
                ((2, 2, 3), (2, 4, 1, 3, 2, 1), "replicate"), ((2, 2, 3), (3, 1, 2, 2, 1, 0), "circular"),
                ((3, 4), (0, 0, 1, 2), "reflect"), ((2, 1), (2, 3), "replicate")),
          errors=[(ts.ShapeError, lambda: find("pad")(x(2), (2, 0), "reflect")),
                  (ValueError, lambda: find("pad")(x(2), (1, 1), "mirror"))]),
]

def np_view_as_complex(array: Any) -> Any:
    return array[..., 0] + 1j * array[..., 1]


def complex_of(dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}[dtype]


PARTS = [
    moved("real", np.real, one_array(), result=real_of, grad_dtype="complex128"),
    moved("imag", np.imag, one_array(), dtypes=COMPLEX, result=real_of, grad_dtype="complex128",
          errors=[(ts.DTypeError, lambda: ts.imag(x(2)))]),
    moved("view_as_real", lambda a: np.stack([a.real, a.imag], -1), one_array(), dtypes=COMPLEX, result=real_of,
          grad_dtype="complex128", errors=[(ts.DTypeError, lambda: ts.view_as_real(x(2)))]),
    moved("view_as_complex", np_view_as_complex, cases(((1, 2),), ((3, 2),), ((0, 2),), ((2, 3, 2),)), dtypes=FLOATS,
          result=complex_of, layouts=("contiguous", "reversed", "expanded"), grad_samples=cases(((2,),), ((1, 2),)),
          errors=[(ts.ShapeError, lambda: ts.view_as_complex(x(3))), (ts.ShapeError, lambda: ts.view_as_complex(x())),
                  (ts.ShapeError, lambda: ts.view_as_complex(x(2, 2).mT)),
                  (ts.ShapeError, lambda: ts.view_as_complex(x(5)[1:3])),
                  (ts.DTypeError, lambda: ts.view_as_complex(ts.ones(2, dtype=ts.float16)))]),
]

ROWS = VIEWS + WINDOWS + COPIES + PARTS
