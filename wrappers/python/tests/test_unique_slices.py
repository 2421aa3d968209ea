# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""unique along an axis whose slices are long, which are compared as rows, beside NumPy and short slices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tessera as ts

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64")


def slices(dtype: str, count: int, each: int) -> NDArray[Any]:
    """Rows that repeat, and that begin with the same elements."""
    rng = np.random.default_rng(count + each)
    few = rng.integers(0, 2 if dtype == "bool" else 3, (max(1, count // 2), each)).astype(dtype)
    few[:, : each // 2] = few[:1, : each // 2]
    if dtype == "uint64":
        few[0] += np.uint64(2**63)
    if dtype == "complex64":
        few[:, -1] += 1j * rng.integers(0, 2, len(few)).astype(np.float32)
    return few[rng.integers(0, len(few), count)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "each"), [(1, 17), (2, 40), (60, 9), (60, 17), (200, 100)])
def test_slices_are_ordered_by_their_first_difference(dtype: str, count: int, each: int) -> None:
    rows = slices(dtype, count, each)
    values, places, numbers = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    for axis, array in ((0, rows), (1, np.ascontiguousarray(rows.T)), (1, rows.reshape(count, each, 1).transpose(2, 0, 1))):
        found = ts.unique_axis(ts.from_numpy(array), axis)
        expected = np.take(array, [np.argmax(places.reshape(-1) == k) for k in range(len(values))], axis)
        assert np.array_equal(found[0].numpy(), expected)
        assert np.array_equal(found[1].numpy(), places.reshape(-1))
        assert np.array_equal(found[2].numpy(), numbers)


def test_nan_differs_from_itself_and_comes_last() -> None:
    rows = np.zeros((6, 20), np.float32)
    rows[[0, 3], 5] = np.nan
    rows[1, 5] = np.inf
    rows[2, 5] = -0.0
    found = ts.unique_axis(ts.from_numpy(rows), 0)
    assert np.array_equal(found[0].numpy(), rows[[2, 1, 0, 3]], equal_nan=True)
    assert found[1].tolist() == [2, 1, 0, 3, 0, 0]
    assert found[2].tolist() == [3, 1, 1, 1]
    few = ts.unique_axis(ts.from_numpy(np.ascontiguousarray(rows[:, 4:8])), 0)
    assert few[1].tolist() == found[1].tolist()
    assert few[2].tolist() == found[2].tolist()
