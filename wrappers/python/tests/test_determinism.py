# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Deterministic mode [P0 determinism]."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.utils import deterministic


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    ts.use_deterministic_algorithms(False)
    deterministic.fill_uninitialized_memory = True  # type: ignore[misc]


def test_the_mode_is_off_at_first_and_has_three_values() -> None:
    assert not ts.are_deterministic_algorithms_enabled() and ts.get_deterministic_debug_mode() == 0
    ts.use_deterministic_algorithms(True)
    assert ts.are_deterministic_algorithms_enabled() and not ts.is_deterministic_algorithms_warn_only_enabled()
    assert ts.get_deterministic_debug_mode() == 2
    ts.use_deterministic_algorithms(True, warn_only=True)
    assert ts.are_deterministic_algorithms_enabled() and ts.is_deterministic_algorithms_warn_only_enabled()
    assert ts.get_deterministic_debug_mode() == 1
    for number, name in enumerate(("default", "warn", "error")):
        ts.set_deterministic_debug_mode(name)
        assert ts.get_deterministic_debug_mode() == number
        ts.set_deterministic_debug_mode(number)
        assert ts.get_deterministic_debug_mode() == number
    with pytest.raises(ValueError, match="got 3"):
        ts.set_deterministic_debug_mode(3)
    with pytest.raises(TypeError):
        ts.use_deterministic_algorithms(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16, ts.complex128])
def test_empty_memory_is_filled_with_nan(dtype: Any) -> None:
    ts.use_deterministic_algorithms(True)
    made = [ts.empty((3, 2), dtype=dtype), ts.empty_like(ts.ones(4, dtype=dtype))]
    for tensor in made:
        assert np.isnan(np.array(tensor.tolist())).all()
    ts.use_deterministic_algorithms(True, warn_only=True)
    assert np.isnan(np.array(ts.empty((2,), dtype=dtype).tolist())).all()


def test_empty_memory_of_integers_is_filled_with_the_largest() -> None:
    ts.use_deterministic_algorithms(True)
    for dtype in (ts.int8, ts.int16, ts.int32, ts.int64, ts.uint8, ts.uint16, ts.uint32):
        assert ts.empty((2,), dtype=dtype).tolist() == [ts.iinfo(dtype).max] * 2
    assert ts.empty((2,), dtype=ts.bool).tolist() == [True, True]


def test_filling_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert deterministic.fill_uninitialized_memory is True
    deterministic.fill_uninitialized_memory = False  # type: ignore[misc]
    assert deterministic.fill_uninitialized_memory is False
    ts.use_deterministic_algorithms(True)
    for _ in range(3):
        x = ts.full((4,), 7.0)
        del x
    assert not np.isnan(ts.empty((4,)).numpy()).all()  # the memory that x had
    with pytest.raises(TypeError):
        deterministic.fill_uninitialized_memory = 1  # type: ignore[misc]


def test_operations_outside_the_library_can_ask() -> None:
    deterministic.require_deterministic("my_op")
    ts.use_deterministic_algorithms(True)
    with pytest.raises(ts.NotSupportedError, match="my_op, which has no deterministic implementation"):
        deterministic.require_deterministic("my_op")
    ts.use_deterministic_algorithms(True, warn_only=True)
    deterministic.require_deterministic("my_op")


def test_the_list_names_kernels() -> None:
    rows = deterministic.kernels()
    assert {"gemm", "conv", "factor"} <= {row["family"] for row in rows}
    assert all(set(row) == {"family", "backend", "when", "instead"} for row in rows)


def products() -> list[Any]:
    """Forward results and gradients that many threads may share."""
    ts.manual_seed(0)
    found: list[Any] = []
    for dtype in (ts.float32, ts.float64, ts.bfloat16):
        x = ts.randn(300, 700).astype(dtype).requires_grad_()
        w = ts.randn(257, 700).astype(dtype).requires_grad_()
        b = ts.randn(257).astype(dtype).requires_grad_()
        y = ts.nn.functional.linear(x, w, b)
        found += [y, *ts.autograd.grad((y * y).sum(), (x, w, b))]
    x = ts.randn(6, 8, 20, 20, requires_grad=True)
    w = ts.randn(16, 8, 3, 3, requires_grad=True)
    b = ts.randn(16, requires_grad=True)
    y = ts.nn.functional.conv2d(x, w, b, padding=1)
    found += [y, *ts.autograd.grad((y * y).sum(), (x, w, b))]
    return [np.array(t.detach().astype(ts.float64).numpy()) for t in found]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    """With more threads than processors: tests/backend/cpu/test_determinism.cpp."""
    before = ts.get_num_threads()
    ts.use_deterministic_algorithms(True)
    try:
        ts.set_num_threads(1)
        alone = products()
        for threads in (2, 3, 4):
            ts.set_num_threads(threads)
            for a, b in zip(alone, products()):
                assert np.array_equal(a, b)
    finally:
        ts.set_num_threads(before)
