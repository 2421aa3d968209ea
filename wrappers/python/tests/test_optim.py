# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers step by step against PyTorch's, and their state."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import nn, optim

CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("Adam", {"amsgrad": True, "maximize": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.2, "amsgrad": True}),
]


@pytest.mark.parametrize("name, options", CASES, ids=[str(i) for i in range(len(CASES))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_twenty_steps_match_pytorch(name: str, options: dict[str, Any], dtype: str) -> None:
    rng = np.random.default_rng(0)
    starts = [rng.standard_normal(s).astype(dtype) for s in [(3, 4), (5,), ()]]
    ours = [nn.Parameter(ts.tensor(s)) for s in starts]
    theirs = [torch.nn.Parameter(torch.tensor(s)) for s in starts]
    options = {"lr": 1e-3, **options}
    one, two = getattr(optim, name)(ours, **options), getattr(torch.optim, name)(theirs, **options)
    for step in range(20):
        for index, (p, q) in enumerate(zip(ours, theirs)):
            grad = rng.standard_normal(p.shape).astype(dtype)
            if index == 1 and step % 3 == 0:
                p.grad = q.grad = None  # a parameter without a gradient stands still
            else:
                p.grad, q.grad = ts.tensor(grad), torch.tensor(grad)
        one.step()
        two.step()
    for p, q in zip(ours, theirs):
        # Near zero a step is lr times a sign-like ratio, which magnifies one rounding of float32.
        rtol, atol = (1e-4, 1e-5) if dtype == "float32" else (1e-10, 1e-12)
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol, atol)


def test_groups_have_their_own_options() -> None:
    a, b = nn.Parameter(ts.ones(1)), nn.Parameter(ts.ones(1))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.1)
    a.grad, b.grad = ts.ones(1), ts.ones(1)
    optimizer.step()
    assert a.item() == 0 and b.item() == pytest.approx(0.9)
    optimizer.zero_grad()
    assert a.grad is None
    text = repr(optimizer)
    assert "Parameter Group 1" in text and "lr: 1.0" in text


def test_state_continues_where_it_was() -> None:
    def train(optimizer: optim.Optimizer, p: ts.Tensor, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()

    p = nn.Parameter(ts.tensor([1.0, -2.0]))
    first = optim.Adam([p], lr=0.1)
    train(first, p, 5)
    q = nn.Parameter(p.detach().clone())
    second = optim.Adam([q])
    second.load_state_dict(first.state_dict())
    assert second.param_groups[0]["lr"] == 0.1
    train(first, p, 5)
    train(second, q, 5)
    assert p.tolist() == q.tolist()
    with pytest.raises(ValueError):
        optim.Adam([p, q]).load_state_dict(first.state_dict())


def train_once(net: nn.Module, optimizer: optim.Optimizer, x: ts.Tensor) -> None:
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()


@pytest.mark.parametrize("name, options", CASES, ids=[str(i) for i in range(len(CASES))])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_copy_of_a_model_with_its_optimizer_goes_on_as_the_original(
    name: str, options: dict[str, Any], copied: Callable[[Any], Any]
) -> None:
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), ts.rand((5, 3))
    optimizer = getattr(optim, name)(net.parameters(), **{"lr": 1e-2, **options})
    for _ in range(3):
        train_once(net, optimizer, x)
    twin, its_optimizer = copied((net, optimizer))
    assert set(its_optimizer.state) <= set(twin.parameters())
    for _ in range(3):
        train_once(net, optimizer, x)
        train_once(twin, its_optimizer, x)
    for p, q in zip(net.parameters(), twin.parameters()):
        assert p is not q and p.tolist() == q.tolist()
        assert len(optimizer.state[p]) == len(its_optimizer.state[q])


def test_state_is_found_by_the_parameter_object() -> None:
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(2))
    optimizer = optim.Adam([p, q])
    p.grad = ts.ones(2)
    optimizer.step()
    assert optimizer.state[p]["step"] == 1 and list(optimizer.state) == [p]
    assert optimizer.state[q] == {}


def test_a_new_parameter_never_has_the_state_of_one_that_is_gone() -> None:
    optimizer = optim.SGD([nn.Parameter(ts.ones(1))], lr=1.0, momentum=0.9)
    group = optimizer.param_groups[0]
    for _ in range(20):
        p = nn.Parameter(ts.zeros(2))
        p.grad = ts.ones(2)
        group["params"] = [p]
        optimizer.step()
        assert p.tolist() == [-1, -1]
        group["params"] = []
        del p
        gc.collect()


def test_closures_compute_the_loss() -> None:
    p = nn.Parameter(ts.tensor(3.0))
    optimizer = optim.SGD([p], lr=0.5)

    def closure() -> ts.Tensor:
        optimizer.zero_grad()
        loss = p * p
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss is not None and loss.item() == 9 and p.item() == 0


@pytest.mark.parametrize("make, kind", [
    (lambda p: optim.SGD([p], lr=-1), ValueError), (lambda p: optim.SGD([], lr=1), ValueError),
    (lambda p: optim.SGD(p, lr=1), TypeError), (lambda p: optim.SGD([3], lr=1), TypeError),
    (lambda p: optim.SGD([p * 2], lr=1), ValueError), (lambda p: optim.SGD([p, p], lr=1), ValueError),
    (lambda p: optim.SGD([p], lr=1, nesterov=True), ValueError), (lambda p: optim.Adam([p], betas=(1.0, 0.9)), ValueError),
])  # fmt: skip
def test_wrong_options_are_refused(make: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        make(nn.Parameter(ts.ones(1)))


def test_a_small_network_learns() -> None:
    ts.manual_seed(0)
    x = ts.linspace(-1, 1, 64).reshape(64, 1)
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = optim.Adam(net.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), x * x)
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-3


def test_training_steps_do_not_leak() -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = ts.rand((16, 4)), ts.randint(0, 2, (16,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    step()
    handles, nodes = ts.memory.live_handles(), ts.memory.live_nodes()
    allocated = ts.memory.memory_allocated()
    for _ in range(200):
        step()
    assert ts.memory.live_handles() == handles and ts.memory.live_nodes() == nodes
    assert ts.memory.memory_allocated() == allocated
