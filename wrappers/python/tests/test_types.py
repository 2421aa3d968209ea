# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that the stubs allow and the package understands, and calls that both refuse.

pytest runs this file and mypy --strict reads it: an ignore that nothing needs, or a wrong assert_type, fails there.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import pytest

import tessera as ts
from tessera._results import TopkResult
from tessera.autograd import Node


def test_results_have_their_types() -> None:
    x = ts.ones((2, 3))
    assert_type(x.sum(), ts.Tensor)
    assert_type(x.topk(2), TopkResult)
    assert_type(ts.topk(x, 2).indices, ts.Tensor)
    assert_type(x.split(1), tuple[ts.Tensor, ...])
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, ts.DType)
    assert_type(x.device, ts.Device)
    assert_type(x.grad, ts.Tensor | None)
    assert_type(x.grad_fn, Node | None)
    assert_type(x.numpy(), np.ndarray[Any, np.dtype[Any]])
    assert_type(x + 1, ts.Tensor)
    assert_type(2.0 - x, ts.Tensor)
    assert_type(x == x, ts.Tensor)
    assert_type(x[0], ts.Tensor)
    assert_type(ts.nn.functional.relu(x), ts.Tensor)
    assert_type(ts.linalg.vector_norm(x), ts.Tensor)


def test_axes_go_by_all_their_names() -> None:
    x = ts.ones((2, 3))
    for found in (
        x.sum(1), x.sum(axis=1), x.sum(dim=1), x.sum(axes=[1]), x.sum((1,)), ts.sum(x, dims=(1,)), x.sum(dim=1, keepdim=False),
    ):  # fmt: skip
        assert found.shape == (2,)
    for found in (ts.select(x, 1, 0), ts.select(x, dim=1, index=0), x.select(axis=1, index=0)):
        assert found.shape == (2,)
    for found in (x.permute_dims((1, 0)), x.permute_dims(1, 0), x.permute(axes=[1, 0]), ts.permute_dims(x, dims=(1, 0))):
        assert found.shape == (3, 2)
    with pytest.raises(TypeError):
        x.sum(dmi=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        ts.select(x, 0, 0, 0)  # type: ignore[call-overload]


def test_shapes_go_as_one_or_as_many() -> None:
    x = ts.ones(6)
    for found in (x.reshape(2, 3), x.reshape((2, 3)), x.reshape(shape=[2, 3]), ts.reshape(x, (2, -1)), ts.zeros(2, 3)):
        assert found.shape == (2, 3)
    assert ts.zeros((2,), dtype=ts.int64).dtype is ts.int64 and ts.ones(2, 2, dtype=float).dtype.is_floating_point
    assert ts.zeros(size=(2, 3)).shape == (2, 3)
    with pytest.raises(TypeError):
        x.reshape("2, 3")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ts.zeros(2, 3, dtyp=ts.int64)  # type: ignore[call-overload]


def test_operands_are_tensors_and_numbers() -> None:
    x = ts.ones(2)
    for found in (x + 1, x + 0.5, 1 + x, x * np.float32(2), x ** 2, x / ts.ones(2), x @ x, x - True, -x):
        assert isinstance(found, ts.Tensor)
    assert (ts.ones(2) * (1 + 2j)).dtype.is_complex
    with pytest.raises(TypeError):
        x + "1"  # type: ignore[operator]
    with pytest.raises(TypeError):
        x @ 2  # type: ignore[operator]


def test_indices_are_those_of_numpy() -> None:
    x = ts.arange(12).reshape(3, 4)
    mask = x > 5
    for found in (
        x[1], x[1:, ::2], x[..., None], x[[0, 2]], x[ts.tensor([0, 1])], x[np.array([0, 1]), 1], x[mask], x[mask, None],
        x[np.int64(1)], x[[[0], [1]], [1, 2]], x[(slice(1), 0)], x[True],
    ):  # fmt: skip
        assert isinstance(found, ts.Tensor)
    x[0] = 1
    x[1, :2] = [5, 6]
    x[mask] = ts.tensor(0)
    x[2] = np.zeros(4)
    with pytest.raises(IndexError):
        x[1.5]  # type: ignore[index]


def test_out_takes_what_the_op_gives() -> None:
    x = ts.tensor([3.0, 1.0, 2.0])
    values, indices = ts.empty(2), ts.empty(2, dtype=ts.int64)
    assert ts.add(x, x, out=ts.empty(3)).tolist() == [6, 2, 4]
    assert ts.topk(x, 2, out=(values, indices)).values is values
    with pytest.raises(TypeError):
        ts.topk(x, 2, out=values)  # type: ignore[arg-type]
