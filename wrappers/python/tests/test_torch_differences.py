# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Where tessera.torch differs from tessera because PyTorch 2.15 does; the expected values are what it computes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn, optim


def gradient(function: Any, *values: Any) -> list[list[float]]:
    given = [torch.tensor(value, requires_grad=True) for value in values]
    function(*given).sum().backward()
    return [tensor.grad.tolist() for tensor in given]


X = [-1.0, 0.0, 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.clamp(0, 1), [0, 0, 1, 0, 0]),
        (lambda x: torch.clip(x, 0.0, 1.0), [0, 0, 1, 0, 0]),
        (lambda x: x.clamp(min=0), [0, 0, 1, 1, 1]),
        (lambda x: torch.clamp_max(x, 1), [1, 1, 1, 0, 0]),
        (lambda x: (x * 1).clamp_(0, 1), [0, 0, 1, 0, 0]),
        (lambda x: x.clamp(2, 1), [0, 0, 0, 0, 0]),
        (lambda x: x.clamp(torch.zeros(5), torch.ones(5)), [0, 0.5, 1, 0.5, 0]),
        (lambda x: (x * 1).clamp_(min=torch.zeros(5)), [0, 0.5, 1, 1, 1]),
    ],
)
def test_the_derivative_of_clamp_on_a_bound_is_pytorchs(function: Any, expected: list[float]) -> None:
    assert gradient(function, X) == [expected]


def test_bounds_that_are_tensors_share_the_gradient() -> None:
    found = gradient(torch.clamp, X, [0.0] * 5, [1.0] * 5)
    assert found == [[0, 0.5, 1, 0.5, 0], [1, 0.5, 0, 0, 0], [0, 0, 0, 0.5, 1]]


def test_clamp_wants_a_bound_and_no_mixture() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError):
        x.clamp()
    with pytest.raises(TypeError):
        torch.clamp(x, torch.zeros(2), 1.0)
    assert torch.tensor([1, 5]).clamp(max=2.5).tolist() == [1, 2.5]


def test_repeat_needs_a_number_for_each_axis() -> None:
    x = torch.arange(6).reshape(2, 3)
    with pytest.raises(RuntimeError):
        x.repeat(2)
    assert x.repeat(1, 2).shape == (2, 6) and x.repeat(2, 1, 1).shape == (2, 2, 3)


def test_complex_numbers_become_real_with_a_warning() -> None:
    z = torch.tensor([1 + 2j, 0j, 3j])
    for convert in (lambda: z.to(torch.float32), lambda: z.float(), lambda: torch.zeros(3).copy_(z), lambda: z.type(torch.float32)):
        with pytest.warns(UserWarning, match="discards the imaginary part"):
            assert convert().tolist() == [1, 0, 0]
    with pytest.warns(UserWarning):
        assert z.int().dtype is torch.int32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert z.to(torch.bool).tolist() == z.bool().tolist() == [True, False, True]
        assert z.to(torch.complex128).dtype is torch.complex128
    with pytest.warns(UserWarning):
        assert gradient(lambda x: (x * 1j).to(torch.float32) + (x * 2j * 1j).to(torch.float32), [1.0]) == [[-2]]


def test_filling_integers_cuts_fractions_off() -> None:
    x, mask = torch.tensor([1, 2]), torch.tensor([True, False])
    assert x.masked_fill(mask, 2.5).tolist() == [2, 2]
    assert x.masked_fill(mask, torch.tensor(-2.5)).tolist() == [-2, 2]
    assert x.clone().masked_fill_(mask, 7.9).tolist() == [7, 2]
    assert x.index_fill(0, torch.tensor([1]), 3.5).tolist() == [1, 3]
    assert torch.tensor([True, False]).masked_fill(mask, 2.5).tolist() == [True, False]
    assert torch.tensor([1, 2], dtype=torch.uint8).masked_fill(mask, -1).tolist() == [255, 2]
    for value in (float("inf"), float("nan"), 2 + 1j):
        with pytest.raises(RuntimeError):
            x.masked_fill(mask, value)
    with pytest.raises(RuntimeError):
        torch.tensor([1, 2], dtype=torch.uint8).masked_fill(mask, 300)


@pytest.mark.parametrize("name", ["poisson_nll_loss", "kl_div", "soft_margin_loss", "hinge_embedding_loss"])
def test_losses_broadcast_without_a_warning(name: str) -> None:
    x, y = torch.full((2, 3), 0.5), torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = getattr(F, name)(x, y, reduction="sum")
        assert torch.allclose(found, getattr(F, name)(x, y.expand(2, 3), reduction="sum"))
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(x, y)


# ---- optimizers ----


def test_adafactor_steps_as_pytorchs() -> None:
    w = nn.Parameter(torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]))
    b = nn.Parameter(torch.tensor([0.5, -0.5]))
    optimizer = optim.Adafactor([w, b], lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ((w @ torch.tensor([1.0, 2.0, 3.0]) + b) ** 2).sum().backward()
        optimizer.step()
    expected = [[1.1254039, -1.7854933, 0.6402544], [-0.1108665, 2.5574558, -1.3237401]]
    assert torch.allclose(w, torch.tensor(expected), atol=1e-5), w
    assert torch.allclose(b, torch.tensor([0.5336890, -0.6051317]), atol=1e-5), b
    assert sorted(optimizer.state[w]) == ["col_var", "row_var", "step"] and sorted(optimizer.state[b]) == ["step", "variance"]
    with pytest.raises(ValueError, match="beta2_decay"):
        optim.Adafactor([w], beta2_decay=0.5)


def test_sparse_adam_leaves_the_other_rows_alone() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    with torch.no_grad():
        table.weight.copy_(torch.arange(10.0).reshape(5, 2))
    optimizer = optim.SparseAdam(table.parameters(), lr=0.1)
    for rows in ([0, 1, 1], [1, 3], [0, 3]):
        optimizer.zero_grad()
        (table(torch.tensor(rows)) ** 2).sum().backward()
        optimizer.step()
    expected = [[0.0, 0.8145077], [1.8075399, 2.8072815], [4.0, 5.0], [5.8397694, 6.8397651], [8.0, 9.0]]
    assert torch.allclose(table.weight, torch.tensor(expected), atol=1e-5)
    again = optim.SparseAdam(table.parameters(), lr=1.0)
    again.load_state_dict(optimizer.state_dict())
    assert again.param_groups[0]["lr"] == 0.1 and again.state[table.weight]["step"] == 3


# ---- ranks of a group ----


def test_a_rank_may_be_a_place_in_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.torch import distributed as dist

    class Members:
        def _first_rank(self, place: int) -> int:
            return (4, 6)[place]

    called: list[Any] = []
    monkeypatch.setattr("tessera.distributed.broadcast", lambda *args: called.append(args))
    monkeypatch.setattr("tessera.distributed.gather", lambda *args: called.append(args))
    group, x = Members(), torch.ones(2)
    dist.broadcast(x, group_src=1, group=group)
    dist.broadcast(x, 6, group)
    dist.gather(x, dst=None, group_dst=0, group=group)
    dist.gather(x)
    assert called == [(x, 6, group, False), (x, 6, group, False), (x, None, 4, group, False), (x, None, 0, None, False)]
    with pytest.raises(ValueError, match="both"):
        dist.broadcast(x, 0, group_src=0)
    with pytest.raises(ValueError, match="neither"):
        dist.send(x)
