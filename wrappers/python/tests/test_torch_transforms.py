# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions and derivatives in PyTorch's names: cases that tests/tools/compare_pytorch_transforms.py found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera.torch as torch

func = torch.func


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
