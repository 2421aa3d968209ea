# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions and derivatives in PyTorch's names: cases that tests/tools/compare_pytorch_transforms.py found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera.torch as torch

func = torch.func


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), 1e-6, 1e-6)


# ---- several elements in one place ----

INDEX = [1, 1, 2]
WRITES = {
    "scatter": lambda x, i, a: x.scatter(0, i, a),
    "index_put": lambda x, i, a: x.index_put((i,), a),
    "index_copy": lambda x, i, a: x.index_copy(0, i, a),
    "put": lambda x, i, a: x.put(i, a),
    "setitem": lambda x, i, a: _set(x.clone(), i, a),
    "scatter_": lambda x, i, a: x.clone().scatter_(0, i, a),
}


def _set(x: Any, i: Any, a: Any) -> Any:
    x[i] = a
    return x


@pytest.mark.parametrize("name", WRITES)
def test_the_tangent_of_the_element_that_stays_is_that_of_the_result(name: str) -> None:
    x, source = torch.arange(4.0), torch.tensor([5.0, 6.0, 7.0])
    tangent, own = torch.tensor([1.0, 10.0, 100.0]), torch.tensor([0.5, 0.25, 0.125, 2.0])
    index = torch.tensor(INDEX)
    value, pushed = func.jvp(lambda b, a: WRITES[name](b, index, a), (x, source), (own, tangent))
    stayed = [int(np.flatnonzero(source.numpy() == value[place].item())[0]) for place in (1, 2)]
    assert pushed.tolist() == [0.5, tangent[stayed[0]].item(), tangent[stayed[1]].item(), 2.0]


def test_tangents_of_elements_that_are_added_are_added() -> None:
    x, source, tangent = torch.arange(4.0), torch.tensor([5.0, 6.0, 7.0]), torch.tensor([1.0, 10.0, 100.0])
    index = torch.tensor(INDEX)
    for add in (lambda a: x.scatter_add(0, index, a), lambda a: x.index_put((index,), a, True), lambda a: x.put(index, a, True)):
        assert func.jvp(add, (source,), (tangent,))[1].tolist() == [0, 11, 100, 0]


def test_the_tangent_of_a_number_that_is_scattered_is_zero() -> None:
    x, index = torch.arange(4.0), torch.tensor(INDEX)
    assert func.jvp(lambda b: b.scatter(0, index, 3.0), (x,), (x + 1,))[1].tolist() == [1, 0, 0, 4]


def test_max_unpool_pushes_the_tangent_of_the_element_that_stays() -> None:
    places = torch.tensor([[1, 1, 4]])
    value, pushed = func.jvp(
        lambda a: torch.nn.functional.max_unpool1d(a, places, 2), (torch.tensor([[5.0, 6, 7]]),), (torch.tensor([[1.0, 10, 100]]),)
    )
    assert pushed[value == 6].tolist() == [10] or pushed[value == 5].tolist() == [1]
    assert pushed.sum().item() in (110, 101)


# ---- derivatives of special forms ----


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (2, 2)])
def test_a_batch_of_gradients_of_slogdet_has_its_axis(shape: tuple[int, ...]) -> None:
    matrices = torch.eye(shape[-1]).expand(shape)
    for found in func.jacrev(torch.linalg.slogdet)(matrices):
        assert found.shape == (*shape[:-2], *shape)
    gradients = torch.zeros(4, *shape[:-2])
    given = matrices.clone().requires_grad_()
    sign = torch.linalg.slogdet(given)[0]
    assert torch.autograd.grad(sign, given, gradients, is_grads_batched=True)[0].shape == (4, *shape)


def test_logcumsumexp_pushes_tangents_along_its_scan() -> None:
    x = torch.tensor([1.0, -3, 900, 2, 901], dtype=torch.float64)
    tangent = torch.tensor([1.0, -2, 3, 0, -1], dtype=torch.float64)
    run = lambda a: torch.logcumsumexp(a, 0)
    found = func.jvp(run, (x,), (tangent,))[1]
    assert not found.requires_grad
    same(found, func.jacrev(run)(x) @ tangent)
    least = torch.tensor([float("-inf"), float("-inf"), 1, 2], dtype=torch.float64)
    same(func.jacfwd(run)(least), func.jacrev(run)(least))
    same(func.jvp(run, (x[0],), (tangent[2],))[1], tangent[2])
    given = torch.randn(3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradgradcheck(run, (given,), check_fwd_over_rev=True)
    same(func.jacfwd(func.jacfwd(run))(given.detach()), func.jacrev(func.jacrev(run))(given.detach()))
