# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors whose innermost axis is short: rows that are gathered, repeated, or taken as they are, by pointwise operators, copies,
indices and scans."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tessera as ts

WIDTHS = (1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 40, 64, 100, 127, 130, 700)
DTYPES = ("bool", "int8", "int16", "int32", "float32", "float64", "complex128")
RNG = np.random.default_rng(5)


def numbers(dtype: str, *shape: int) -> NDArray[Any]:
    return RNG.integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype)


def layouts(dtype: str, outer: int, rows: int, width: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays that broadcast to (outer, rows, width), each a way of its own through memory."""
    wide = numbers(dtype, outer, rows, 2 * width + 1)
    yield "contiguous", numbers(dtype, outer, rows, width)
    yield "one matrix", numbers(dtype, 1, rows, width)
    yield "one row of each matrix", numbers(dtype, outer, 1, width)
    yield "one row", numbers(dtype, 1, 1, width)
    yield "one column", numbers(dtype, 1, rows, 1)
    yield "one element of each row", numbers(dtype, outer, rows, 1)
    yield "one element of each matrix", numbers(dtype, outer, 1, 1)
    yield "one element", numbers(dtype, 1, 1, 1)
    yield "the first part of longer rows", wide[:, :, :width]
    yield "the second part of longer rows", wide[:, :, width + 1 :]
    yield "every second column", wide[:, :, : 2 * width : 2]
    yield "backwards", numbers(dtype, outer, rows, width)[:, :, ::-1]
    yield "rows backwards", numbers(dtype, outer, rows, width)[:, ::-1]
    yield "every second row", numbers(dtype, outer, 2 * rows, width)[:, ::2]
    yield "matrices transposed", numbers(dtype, outer, width, rows).transpose(0, 2, 1)
    yield "outer axes exchanged", numbers(dtype, rows, outer, width).transpose(1, 0, 2)


def rows_for(width: int) -> int:
    return 3 if width > 100 else 9


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_pair_of_layouts(dtype: str, width: int) -> None:
    function, ours = (np.logical_xor, ts.logical_xor) if dtype == "bool" else (np.add, ts.add)
    made = [(name, array, ts.from_numpy(array)) for name, array in layouts(dtype, 4, rows_for(width), width)]
    for (name, a, x), (other, b, y) in itertools.product(made, made):
        found = ours(x, y).numpy()
        assert np.array_equal(found, function(a, b)), (name, other)


@pytest.mark.parametrize("width", (1, 3, 8, 16, 20, 40, 130))
@pytest.mark.parametrize("dtype", ("int8", "float32", "float64"))
def test_results_go_to_short_rows_of_a_larger_tensor(dtype: str, width: int) -> None:
    rows = rows_for(width)
    for name, array in layouts(dtype, 4, rows, width):
        for start, step in ((0, 1), (1, 1), (0, 2)):
            target = numbers(dtype, 4, rows, 2 * width + 2)
            expected = target.copy()
            place = (slice(None), slice(None), slice(start, start + step * width, step))
            expected[place] += array
            x = ts.from_numpy(target)
            x[place].add_(ts.from_numpy(array))
            assert np.array_equal(x.numpy(), expected), (name, start, step)


@pytest.mark.parametrize("width", (2, 3, 16, 24, 40, 100))
def test_the_number_of_threads_changes_nothing(width: int) -> None:
    """Threads begin in the middle of rows."""
    outer, rows = 7, 200_000 // (7 * width)
    threads = ts.get_num_threads()
    try:
        for (name, a), (other, b) in itertools.combinations(layouts("float32", outer, rows, width), 2):
            x, y = ts.from_numpy(a), ts.from_numpy(b)
            for count in (1, 2, 3):
                ts.set_num_threads(count)
                assert np.array_equal(ts.subtract(x, y).numpy(), np.subtract(a, b)), (name, other, count)
    finally:
        ts.set_num_threads(threads)


@pytest.mark.parametrize("width", (3, 16, 40, 100))
def test_operands_of_other_dtypes_are_converted(width: int) -> None:
    made = [list(layouts(dtype, 4, 9, width)) for dtype in ("int16", "float64")]
    for (name, a), (other, b) in itertools.product(*made):
        x, y = ts.from_numpy(a), ts.from_numpy(b)
        assert np.array_equal(ts.multiply(x, y).numpy(), a * b), (name, other)
        half = ts.astype(x, ts.bfloat16)
        assert np.array_equal(ts.add(half, y).numpy(), a + b), (name, other)  # whole numbers below 50 are exact


@pytest.mark.parametrize("width", (3, 16, 40, 100))
def test_functions_of_three_operands(width: int) -> None:
    made = list(layouts("float32", 4, 9, width))
    for (name, a), (other, b) in itertools.product(made, made):
        c = made[len(name) % len(made)][1]
        found = ts.addcmul(*(ts.from_numpy(array) for array in (a, b, c))).numpy()
        assert np.array_equal(found, a + b * c), (name, other)
        chosen = ts.where(ts.from_numpy(a) > 20, ts.from_numpy(b), ts.from_numpy(c)).numpy()
        assert np.array_equal(chosen, np.where(a > 20, b, c)), (name, other)


# ---- Rows that an index takes, writes or adds to ----


@pytest.mark.parametrize("width", (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33, 130))
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_taken_and_written_by_an_index(dtype: str, width: int) -> None:
    table, index = numbers(dtype, 11, width), RNG.integers(-11, 11, 40)
    places = ts.from_numpy(index)
    whole, wide = ts.from_numpy(table), numbers(dtype, 11, 2 * width + 1)
    for array, x in ((table, whole), (wide[:, 1 : width + 1], ts.from_numpy(wide)[:, 1 : width + 1])):
        assert np.array_equal(ts.take(x, places, axis=0).numpy(), array[index])
        assert np.array_equal(x[places].numpy(), array[index])
    order = RNG.permutation(11)[:7]
    rows = numbers(dtype, 7, width)
    for array in (table.copy(), wide.copy()[:, 1 : width + 1]):
        x = ts.from_numpy(array)
        x[ts.from_numpy(order)] = ts.from_numpy(rows)  # shares the array's memory
        expected = table.copy() if array.shape == table.shape and array.base is None else wide[:, 1 : width + 1].copy()
        expected[order] = rows
        assert np.array_equal(array, expected)


@pytest.mark.parametrize("width", (1, 2, 3, 8, 16, 17, 40))
@pytest.mark.parametrize("dtype", ("int32", "float32", "float64", "complex64"))
def test_rows_are_added_to_the_rows_of_an_index(dtype: str, width: int) -> None:
    base, index, rows = numbers(dtype, 6, width), RNG.integers(0, 6, 50), numbers(dtype, 50, width)
    found = ts.index_add(ts.from_numpy(base), 0, ts.from_numpy(index), ts.from_numpy(rows)).numpy()
    expected = base.copy()
    np.add.at(expected, index, rows)
    assert np.array_equal(found, expected)  # whole numbers: exact in any order
    if dtype == "float32":
        x, y = (ts.from_numpy(array).astype(ts.bfloat16) for array in (base, rows[:4]))
        half = ts.index_add(x, 0, ts.from_numpy(index[:4]), y)
        expected = base.copy()
        np.add.at(expected, index[:4], rows[:4])
        assert np.array_equal(half.astype(ts.float32).numpy(), ts.from_numpy(expected).astype(ts.bfloat16).astype(ts.float32).numpy())


@pytest.mark.parametrize("width", (1, 3, 16, 40))
def test_many_rows_are_taken_and_written_by_several_threads(width: int) -> None:
    count = 150_000 // width
    table, index = numbers("float32", 5000, width), RNG.integers(0, 5000, count)
    threads = ts.get_num_threads()
    try:
        for ts_threads in (1, 3):
            ts.set_num_threads(ts_threads)
            assert np.array_equal(ts.take(ts.from_numpy(table), ts.from_numpy(index), axis=0).numpy(), table[index])
            order = RNG.permutation(count)
            target, rows = np.zeros((count, width), np.float32), numbers("float32", count, width)
            x = ts.from_numpy(target)
            x[ts.from_numpy(order)] = ts.from_numpy(rows)
            assert np.array_equal(target[order], rows)
            wide, columns = numbers("float32", count, width + 1), RNG.integers(0, width + 1, (count, width))
            x, places = ts.from_numpy(wide), ts.from_numpy(columns)
            assert np.array_equal(ts.gather(x, 1, places).numpy(), np.take_along_axis(wide, columns, 1))
            expected = wide.copy()
            np.add.at(expected, (np.arange(count)[:, None], columns), 1)
            assert np.array_equal(ts.scatter_add(x, 1, places, ts.ones((count, width))).numpy(), expected)
    finally:
        ts.set_num_threads(threads)


@pytest.mark.parametrize("width", (1, 2, 3, 8, 17))
@pytest.mark.parametrize("dtype", ("int8", "int16", "float32", "float64", "complex128"))
def test_elements_of_rows_are_taken_and_written_by_an_index_each(dtype: str, width: int) -> None:
    wide, places = numbers(dtype, 3, 50, width + 2), RNG.integers(0, width + 2, (3, 50, 2 * width))
    index = np.stack([RNG.permutation(width + 2)[:width] for _ in range(150)]).reshape(3, 50, width)
    values = numbers(dtype, 3, 50, width)
    for name, array in (("contiguous", wide), ("transposed", wide.transpose(1, 0, 2).copy().transpose(1, 0, 2)), ("backwards", wide[:, ::-1])):
        x = ts.from_numpy(array)
        assert np.array_equal(ts.gather(x, 2, ts.from_numpy(places)).numpy(), np.take_along_axis(array, places, 2)), name
        assert np.array_equal(x[:, :, ts.from_numpy(index[0, 0])].numpy(), array[:, :, index[0, 0]]), name
        assert np.array_equal(ts.index_select(x, 2, ts.from_numpy(places[0, 0])).numpy(), array[:, :, places[0, 0]]), name
        expected = array.copy()
        np.put_along_axis(expected, index, values, 2)
        assert np.array_equal(ts.scatter(x, 2, ts.from_numpy(index), ts.from_numpy(values)).numpy(), expected), name
        expected = array.copy()
        for k in range(width):  # no place of a column twice
            some = index[:, :, k : k + 1]
            np.put_along_axis(expected, some, np.take_along_axis(expected, some, 2) + values[:, :, k : k + 1], 2)
        assert np.array_equal(ts.scatter_add(x, 2, ts.from_numpy(index), ts.from_numpy(values)).numpy(), expected), name
    with pytest.raises(IndexError, match=str(width + 2)):
        ts.gather(ts.from_numpy(wide), 2, ts.from_numpy(np.where(places == places[2, 49, 0], width + 2, places)))


# ---- Copies and triangles ----


@pytest.mark.parametrize("width", (1, 2, 3, 4, 5, 8, 9, 16, 17, 130))
@pytest.mark.parametrize("dtype", ("int8", "int16", "float32", "float64", "complex128"))
def test_short_rows_are_copied_in_every_layout(dtype: str, width: int) -> None:
    for rows in (2, 5, 17):
        for name, array in layouts(dtype, 4, rows, width):
            turned = (array, array[:, ::-1], array[:, ::-1, ::-1], array[::-1].transpose(0, 2, 1), array.transpose(2, 1, 0)[::-1])
            for number, view in enumerate(turned):
                copy = ts.from_numpy(view)
                assert np.array_equal(ts.clone(copy).contiguous().numpy(), view), (name, rows, number)
                wide = np.zeros((*view.shape[:2], view.shape[2] + 1), array.dtype)
                ts.from_numpy(wide)[..., 1:].copy_(copy)
                assert np.array_equal(wide[..., 1:], view), (name, rows, number)
                assert not wide[..., 0].any()


@pytest.mark.parametrize("dtype", ("bool", "int16", "float32", "float64", "complex128"))
def test_triangles_of_many_matrices_and_of_long_ones(dtype: str) -> None:
    for shape in ((2, 3), (40, 2), (2, 40), (5, 1), (1, 5), (4, 5, 5), (3, 2, 9, 4), (3, 4, 9), (0, 3), (3, 0)):
        a = np.maximum(numbers(dtype, *shape), 1).astype(dtype)
        for diagonal in (-50, -6, -3, -1, 0, 1, 2, 6, 50):
            assert np.array_equal(ts.tril(ts.from_numpy(a), diagonal).numpy(), np.tril(a, diagonal)), (shape, diagonal)
            assert np.array_equal(ts.triu(ts.from_numpy(a), diagonal).numpy(), np.triu(a, diagonal)), (shape, diagonal)
            here, turned = a.copy(), a.copy().swapaxes(-1, -2)
            ts.from_numpy(here).tril_(diagonal)
            ts.from_numpy(turned).triu_(diagonal)
            assert np.array_equal(here, np.tril(a, diagonal)), (shape, diagonal)
            assert np.array_equal(turned, np.triu(a.swapaxes(-1, -2), diagonal)), (shape, diagonal)


def test_threads_begin_in_the_middle_of_a_triangle() -> None:
    threads = ts.get_num_threads()
    try:
        for shape in ((60_000, 3), (7, 200, 150), (400, 500)):
            a = numbers("float32", *shape) + 1
            for count in (1, 3):
                ts.set_num_threads(count)
                for diagonal in (-250, -3, 0, 2):
                    assert np.array_equal(ts.tril(ts.from_numpy(a), diagonal).numpy(), np.tril(a, diagonal))
                    assert np.array_equal(ts.triu(ts.from_numpy(a), diagonal).numpy(), np.triu(a, diagonal))
    finally:
        ts.set_num_threads(threads)


# ---- Scans of few columns ----


@pytest.mark.parametrize("columns", (1, 2, 3, 8, 31, 32, 33))
@pytest.mark.parametrize("dtype", ("int64", "uint8", "float32", "float64"))
def test_running_sums_and_products_of_matrices_with_few_columns(dtype: str, columns: int) -> None:
    a = RNG.integers(0, 3, (70, columns)).astype(dtype)
    a = a * np.array(0.5, dtype) - 1 if dtype.startswith("float") else a
    wide = ts.from_numpy(np.repeat(a, 2, axis=1))[:, ::2]
    for axis in (0, 1):
        for ours, theirs in ((ts.cumulative_sum, np.cumsum), (ts.cumulative_prod, np.cumprod)):
            expected = theirs(a.astype(np.float64 if dtype.startswith("float") else np.int64), axis)
            found = ours(ts.from_numpy(a), axis)
            assert np.array_equal(found.numpy(), expected.astype(found.numpy().dtype)), (axis, theirs)
            assert np.array_equal(ours(wide, axis).numpy(), found.numpy())
            assert np.array_equal(ours(ts.from_numpy(np.asfortranarray(a)), axis).numpy(), found.numpy())
    if dtype == "float32":
        zeros = ts.full((4, columns), -0.0)
        assert np.signbit(ts.cumulative_sum(zeros, 0).numpy()).all() and np.signbit(ts.cumulative_sum(zeros, 1).numpy()).all()
