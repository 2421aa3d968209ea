# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Containers of modules and parameters, parameters as one vector, and initial values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import nn


def names(module: nn.Module) -> list[str]:
    return list(module._modules)


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_lists_of_modules_change_like_lists(kind: Any) -> None:
    a, b, c, d = nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.Identity()
    made = kind(a, b) if kind is nn.Sequential else kind([a, b])
    made.insert(1, c)
    assert list(made) == [a, c, b] and names(made) == ["0", "1", "2"] and c in made and d not in made
    made.extend([d]).append(a)
    assert made.pop() is a and made.pop(0) is a and list(made) == [c, b, d]
    del made[1]
    assert list(made) == [c, d] and names(made) == ["0", "1"]
    del made[1:]
    made[0] = b
    assert list(made) == [b] and list(made + kind(c) if kind is nn.Sequential else made + [c]) == [b, c]
    made.insert(-1, d)
    assert list(made) == [d, b] and type(made[:1]) is kind
    for call in (lambda: made.insert(3, a), lambda: made.insert(-3, a), lambda: made[5]):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(TypeError):
        made.insert(0, 5)
    assert list(made) == [d, b]


def test_named_parts_of_a_sequential_keep_their_names() -> None:
    made = nn.Sequential({"one": nn.ReLU(), "two": nn.Tanh()})
    del made[0]
    assert names(made) == ["two"]


def test_dicts_of_modules_lose_items() -> None:
    relu = nn.ReLU()
    made = nn.ModuleDict({"a": relu, "b": nn.Tanh()})
    assert made.pop("a") is relu and list(made) == ["b"]
    made.clear()
    assert len(made) == 0
    with pytest.raises(KeyError):
        made.pop("a")


def test_parameters_in_lists_and_dicts_are_trained() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.listed = nn.ParameterList([ts.ones(2), nn.Parameter(ts.zeros(3))])
            self.named = nn.ParameterDict({"w": ts.ones(4)})

    model = Model()
    assert [n for n, _ in model.named_parameters()] == ["listed.0", "listed.1", "named.w"]
    assert all(p.requires_grad for p in model.parameters())
    model.listed += [ts.ones(1)]
    model.listed[0] = ts.zeros(2)
    assert len(model.listed) == 3 and model.listed[0].tolist() == [0, 0] and len(model.listed[1:]) == 2
    model.named["b"] = ts.zeros(1)
    assert list(model.named) == ["w", "b"] and "b" in model.named and model.named.pop("b").shape == (1,)
    del model.named["w"]
    assert len(model.named) == 0 and [p.shape for p in model.listed] == [(2,), (3,), (1,)]
    assert "(2,)" in repr(model.listed)
    for call in (lambda: nn.ParameterList([5]), lambda: nn.ParameterDict([1]), lambda: nn.ParameterDict({"a": 1})):
        with pytest.raises(TypeError):
            call()


def test_parameters_are_one_vector() -> None:
    params = [nn.Parameter(ts.ones((2, 3))), nn.Parameter(ts.full((), 5.0))]
    vector = nn.utils.parameters_to_vector(params)
    assert vector.tolist() == [1] * 6 + [5]
    vector.sum().backward()
    assert params[1].grad.item() == 1
    nn.utils.vector_to_parameters(ts.arange(7).astype(ts.float32), params)
    assert params[0].tolist() == [[0, 1, 2], [3, 4, 5]] and params[1].item() == 6 and params[0].requires_grad
    with pytest.raises(ValueError):
        nn.utils.vector_to_parameters(ts.ones(6), params)


# ---- initial values ----


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (5, 5), (3, 2, 2), (8, 3, 3, 1)])
def test_orthogonal_weights_are_orthonormal(shape: tuple[int, ...]) -> None:
    ts.manual_seed(0)
    weight = nn.Parameter(ts.empty(shape, dtype=ts.float64))
    nn.init.orthogonal_(weight, 2.0)
    matrix = weight.detach().numpy().reshape(shape[0], -1) / 2
    square = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(square, np.eye(min(matrix.shape)), atol=1e-12)
    assert weight.requires_grad and weight.is_leaf


def test_orthogonal_weights_favour_no_direction() -> None:
    # Without the signs of R the first element would almost never be positive.
    ts.manual_seed(1)
    first = [nn.init.orthogonal_(ts.empty((3, 3)))[0, 0].item() for _ in range(400)]
    assert abs(np.mean(np.array(first) > 0) - 0.5) < 0.1


def test_sparse_weights_have_their_share_of_zeros() -> None:
    ts.manual_seed(2)
    weight = nn.init.sparse_(ts.empty((50, 40)), 0.25, 2.0).numpy()
    assert ((weight == 0).sum(0) == 13).all()
    rows = (weight == 0).sum(1)
    assert rows.min() < rows.max()  # other rows in every column
    assert abs(weight[weight != 0].std() - 2) < 0.15


@pytest.mark.parametrize("shape, groups", [((4, 4, 3), 1), ((6, 2, 3, 3), 3), ((4, 1, 2, 2), 4), ((2, 5, 1, 3, 2), 2)])
def test_dirac_weights_are_pytorchs(shape: tuple[int, ...], groups: int) -> None:
    wanted = torch.nn.init.dirac_(torch.empty(shape), groups).numpy()
    np.testing.assert_array_equal(nn.init.dirac_(ts.empty(shape), groups).numpy(), wanted)
    assert nn.init.dirac_(ts.empty((0, 2, 3)), 2**63 - 1).shape == (0, 2, 3)


def test_initial_values_need_fitting_shapes() -> None:
    for call in (
        lambda: nn.init.eye_(ts.ones(3)), lambda: nn.init.dirac_(ts.ones((2, 2))), lambda: nn.init.dirac_(ts.ones((3, 2, 1)), 2),
        lambda: nn.init.orthogonal_(ts.ones(3)), lambda: nn.init.sparse_(ts.ones(3), 0.5), lambda: nn.init.sparse_(ts.ones((3, 3)), 1.5),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    assert nn.init.calculate_gain("conv_transpose3d") == 1
