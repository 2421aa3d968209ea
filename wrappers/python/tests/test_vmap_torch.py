# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of torch_expressions.py inside vmap, in PyTorch's names: what a loop over the samples gives. So the methods and
functions that are made of several operators are tried, too."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest
from torch_expressions import FAMILIES, expressions, inputs

import tessera as ts
import tessera.torch as torch

ROWS = list(dict.fromkeys(row for family in FAMILIES for row in expressions(family)))
# What a function inside vmap must not do; the texts of the errors are in test_vmap.py.
REFUSED = re.compile(
    r"^grad\(|^D\.|f\[f > 0\]|F\.one_hot\(y\)$|^torch\.zeros\(3, [45]\)\.scatter|^F\.batch_norm\(im, torch\.zeros\(2\), .*True"
)


@functools.cache
def known() -> dict[str, Any]:
    return inputs(torch)


def tensors(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in tensors(item)]
    return [value]


def evaluated(row: str, given: dict[str, Any]) -> list[Any]:
    torch.manual_seed(0)
    return tensors(eval(row, {**known(), **given}))


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("row", ROWS)
def test_a_call_inside_vmap_gives_what_a_loop_gives(row: str) -> None:
    first = {n: v.detach() for n, v in known().items() if isinstance(v, torch.Tensor) and re.search(rf"\b{n}\b", row)}
    second = {n: v * 0.5 if v.dtype.is_floating_point else v.clone() for n, v in first.items()}
    try:
        wanted = [evaluated(row, first), evaluated(row, second)]
    except (ts.TesseraError, NotImplementedError, AttributeError):
        return  # another test has what tessera.torch lacks
    if not first or not all(isinstance(t, torch.Tensor) for w in wanted for t in w):
        return
    if [t.shape for t in wanted[0]] != [t.shape for t in wanted[1]]:
        return
    batch = {n: torch.stack([first[n], second[n]]) for n in first}
    run = torch.vmap(lambda given: tuple(evaluated(row, given)), randomness="same")
    if REFUSED.search(row):
        with pytest.raises(ts.TesseraError, match="vmap"):
            run(batch)
        return
    got = run(batch)
    assert len(got) == len(wanted[0])
    for place, whole in enumerate(got):
        assert isinstance(whole, torch.Tensor)
        for sample, want in enumerate(wanted):
            assert whole[sample].shape == want[place].shape
            assert whole.dtype is want[place].dtype
            np.testing.assert_allclose(whole[sample].numpy(), want[place].detach().numpy(), 1e-4, 1e-5)


INDICES = ["0, :, [1, 0]", "[1, 0], :, 0", ":, [0, 1], ..., [1, 0]", ":, 1, ..., [1, 0]", "0, :, own", "own, :, 1", "one, :, own"]


@pytest.mark.parametrize("index", INDICES)
def test_integers_of_an_index_come_before_lists_in_each_sample(index: str) -> None:
    x, own, one = torch.arange(54.0).reshape(2, 3, 3, 3), torch.tensor([[0, 2], [1, 1]]), torch.tensor([2, 0])

    def take(x: Any, own: Any, one: Any) -> Any:
        return eval(f"x[{index}]", {"x": x, "own": own, "one": one})

    def store(x: Any, own: Any, one: Any) -> Any:
        names = {"x": x.clone(), "own": own, "one": one}
        exec(f"x[{index}] = 2 * x[{index}]", names)
        return names["x"]

    for function in (take, store):
        wanted = torch.stack([function(x[n], own[n], int(one[n])) for n in range(2)])
        assert torch.equal(torch.vmap(function)(x, own, one), wanted)


def test_a_masked_argmax_converts_inside_vmap() -> None:
    x = torch.tensor([[1.0, 3, 2], [5, 4, 0]])
    found = torch.vmap(lambda row: torch.masked.argmax(row))(x)
    assert found.tolist() == [1, 0] and found.dtype is torch.float32
