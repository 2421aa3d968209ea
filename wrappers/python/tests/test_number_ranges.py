# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that a dtype cannot hold raise in every function; they never wrap around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts

WHOLE = [ts.uint8, ts.uint16, ts.uint32, ts.uint64, ts.int8, ts.int16, ts.int32, ts.int64]


def limits(dtype: ts.DType) -> tuple[int, int]:
    info = ts.iinfo(dtype)
    return info.min, info.max


def assign(x: ts.Tensor, index: Any, value: Any) -> None:
    x[index] = value


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_data_that_does_not_fit_is_refused_and_what_fits_is_exact(dtype: ts.DType) -> None:
    low, high = limits(dtype)
    assert ts.tensor([low, high], dtype=dtype).tolist() == [low, high]
    assert ts.asarray([[high]], dtype=dtype).tolist() == [[high]]
    x = ts.tensor([1, 2], dtype=dtype)
    for wrong in (low - 1, high + 1, 2**70, -(2**70), float("inf"), float("nan"), 1e30):
        for make in (ts.tensor, ts.asarray, x.new_tensor):
            for data in (wrong, [1, wrong], [[wrong], [1]]):
                with pytest.raises(ts.InvalidValueError):
                    make(data, dtype=dtype)
    assert ts.tensor([1.75, -0.5] if low < 0 else [1.75, 0.5], dtype=dtype).tolist() == [1, 0]
    with pytest.raises(ts.DTypeError):
        ts.tensor([1j], dtype=dtype)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_lists_that_are_assigned_must_fit(dtype: ts.DType) -> None:
    low, high = limits(dtype)
    x = ts.tensor([1, 2], dtype=dtype)
    for wrong in ([1, high + 1], [low - 1, 1]):
        if -(2**63) <= min(wrong) and max(wrong) < 2**63:
            with pytest.raises(ts.InvalidValueError):
                x[:] = wrong
    assert x.tolist() == [1, 2]
    x[:] = [low, high] if high < 2**63 else [0, 2**63 - 1]
    assert x.tolist() == ([low, high] if high < 2**63 else [0, 2**63 - 1])


@pytest.mark.parametrize("call", [
    lambda x, n: x + n, lambda x, n: n * x, lambda x, n: x.__imul__(n), lambda x, n: ts.add(x, n),
    lambda x, n: x.fill_(n), lambda x, n: ts.full((1,), n), lambda x, n: x.clip(min=n, max=n), lambda x, n: assign(x, 0, n),
    lambda x, n: ts.where(x > 0, x, n), lambda x, n: ts.arange(n, n + 2), lambda x, n: x.masked_fill(x > 0, n),
    lambda x, n: x.__iadd__(n), lambda x, n: ts.tensor(n, dtype=ts.int64),
])  # fmt: skip
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 2**200])
def test_ints_beyond_64_bits_are_refused(call: Callable[[ts.Tensor, int], Any], number: int) -> None:
    x = ts.tensor([1, 2])
    with pytest.raises(ts.InvalidValueError):
        call(x, number)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("number", [2**64, -(2**64), 2**200, -(2**2000), 10**400])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "uint64", "float32", "float64", "bool"])
def test_comparisons_are_right_for_every_int(number: int, dtype: str) -> None:
    for values in ([0, 1], ["max", "min"]):
        x = ts.tensor([getattr(ts.iinfo(dtype), v) if isinstance(v, str) else v for v in values], dtype=dtype) if (
            values == [0, 1] or "int" in dtype
        ) else ts.tensor([3e38, -3e38], dtype=dtype)
        for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
            if "float" in dtype and abs(number) == 2**200 and dtype == "float32":
                continue  # near the largest float32
            wanted = [getattr(v, name)(number) for v in x.tolist()]
            assert getattr(x, name)(number).tolist() == wanted, name


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_operations_refuse_numbers_that_do_not_fit(dtype: ts.DType) -> None:
    low, high = limits(dtype)
    x = ts.tensor([1, 2], dtype=dtype)
    wrong = [n for n in (low - 1, high + 1) if -(2**63) <= n < 2**63]
    for number in wrong:
        for call in (
            lambda n: x.fill_(n), lambda n: ts.full((1,), n, dtype=dtype), lambda n: assign(x, 0, n), lambda n: x + n,
            lambda n: x.__iadd__(n), lambda n: x.masked_fill(x > 0, n), lambda n: ts.where(x > 0, x, n),
            lambda n: assign(x, x > 0, n), lambda n: ts.full_like(x, n),
        ):  # fmt: skip
            with pytest.raises(ts.InvalidValueError):
                call(number)
        assert (x == number).tolist() == [False, False] and (x < number).tolist() == [number > 0] * 2
        assert x.clip(max=number).tolist() == [1, 2] if number > 0 else x.clip(min=number).tolist() == [1, 2]
    with pytest.raises(ts.InvalidValueError):
        x ** -1
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("dtype, most", [(ts.float16, 65504.0), (ts.bfloat16, 255 * 2.0**120), (ts.float32, 3.4028234e38)])
def test_uniform_numbers_stay_within_the_dtype(dtype: ts.DType, most: float) -> None:
    x = ts.zeros(100, dtype=dtype)
    for low, high in ((0, 2 * most), (-2 * most, 0), (-most, most), (0, float("inf")), (float("nan"), 1), (1, 0)):
        with pytest.raises(ts.InvalidValueError, match="high"):
            x.uniform_(low, high)
    assert x.tolist() == [0] * 100
    x.uniform_(most / 2, most)
    assert (x >= most / 2).all() and (x <= most).all()


def test_normal_numbers_may_have_infinite_parameters() -> None:
    assert set(ts.zeros(100).normal_(0, float("inf")).tolist()) == {float("inf"), -float("inf")}
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ts.InvalidValueError, match="std"):
            ts.zeros(1).normal_(0, wrong)


def test_large_ints_are_floats_where_floats_are_asked_for() -> None:
    assert ts.tensor([2**70, 1], dtype=ts.float64).tolist() == [2.0**70, 1.0]
    assert (ts.ones(1) * float(2**70)).item() == 2.0**70
    assert ts.tensor([2**64 - 1]).dtype is ts.uint64


def test_arrays_are_converted_as_by_astype() -> None:
    array = np.array([300, -1])
    assert ts.tensor(array, dtype=ts.uint8).tolist() == ts.tensor(array).astype(ts.uint8).tolist()


@pytest.mark.parametrize("endpoint", [True, False])
def test_sequences_reach_from_the_lowest_number_to_the_largest(endpoint: bool) -> None:
    most = ts.finfo(ts.float64).max
    expected = [most, most / 2, 0.0, -most / 2] + [-most] * endpoint
    assert ts.linspace(most, -most, 4 + endpoint, dtype=ts.float64, endpoint=endpoint).tolist() == expected
    rounded = ts.linspace(1e308, -1e308, 2 + endpoint, dtype=ts.float32, endpoint=endpoint).tolist()
    assert rounded == [float("inf"), 0.0] + [-float("inf")] * endpoint
