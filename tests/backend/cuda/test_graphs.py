# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs as CUDA graphs. The plugin is found as in test_op_table.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn, program
from tessera.nn import functional as F
from tessera.streams import Stream

CUDA = "cuda:0"


def numbers(*shape: int, seed: int = 0) -> ts.Tensor:
    return ts.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32)).to(CUDA)


class Net(nn.Module):
    """Kernels with workspace: products, reductions in parts, normalization, a convolution that copies its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.last = nn.Conv2d(2, 4, 3, padding=1), nn.LayerNorm(64), nn.Linear(64, 5)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        x = F.relu(self.conv(x)).mean(1).reshape(len(x), 64)
        return ts.softmax(self.last(self.norm(x)), -1) + x.sum()


def plan(recorded: program.Program) -> dict[str, Any]:
    found = recorded.describe()["plan"]
    assert isinstance(found, dict)
    return found


def test_P17_a_model_is_one_graph_and_follows_inputs_and_weights() -> None:
    model = Net().to(CUDA).eval()
    recorded = program.record(model, numbers(3, 2, 8, 8))
    held = []
    for seed in range(5):
        x = numbers(3, 2, 8, 8, seed=seed)
        with ts.no_grad():
            wanted = model(x)
        held.append((recorded(x), wanted))
    assert plan(recorded)["graph"], plan(recorded)
    for found, wanted in held:
        assert found.tolist() == wanted.tolist()
    with ts.no_grad():
        model.last.weight.mul_(2)
        x = numbers(3, 2, 8, 8, seed=9)
        assert recorded(x).tolist() == model(x).tolist()


def test_P17_graphs_run_on_any_stream_one_after_the_other() -> None:
    w = numbers(40, 40, seed=1)
    recorded = program.record(lambda x: (x @ w).sum(0) + x.sum(0), numbers(40, 40))
    streams, results = [Stream(CUDA), Stream(CUDA)], []
    for seed in range(8):
        x = numbers(40, 40, seed=seed)
        ts.synchronize(CUDA)
        with streams[seed % 2]:
            results.append((recorded(x), x))
    ts.synchronize(CUDA)
    assert plan(recorded)["graph"], plan(recorded)
    for found, x in results:
        assert found.tolist() == ((x @ w).sum(0) + x.sum(0)).tolist()


def test_P17_memory_of_a_graph_comes_back_with_its_program() -> None:
    def run() -> None:
        recorded = program.record(lambda x: (x @ x).sum(), numbers(64, 64))
        for _ in range(4):
            recorded(numbers(64, 64))
        assert plan(recorded)["graph"], plan(recorded)

    run()
    before = ts.memory.memory_allocated(CUDA)
    for _ in range(3):
        run()
    assert ts.memory.memory_allocated(CUDA) == before


KINDS: list[tuple[str, Callable[[ts.Tensor], ts.Tensor]]] = [
    ("graph", lambda x: (x * 2).sum(0)),
    ("calls", lambda x: (x.add_(1) * 2).sum(0)),
]


@pytest.mark.parametrize("name, function", KINDS, ids=[row[0] for row in KINDS])
def test_P17_memory_of_a_released_program_waits_for_the_stream_of_its_last_run(
    name: str, function: Callable[[ts.Tensor], ts.Tensor]
) -> None:
    recorded, x = program.record(function, ts.zeros((64, 64), device=CUDA)), ts.ones((64, 64), device=CUDA)
    for _ in range(3):
        recorded(x.clone())
    assert plan(recorded)["graph"] == (name == "graph"), plan(recorded)
    side = Stream(CUDA)
    wanted, given = function(x.clone()).tolist(), x.clone()
    ts.synchronize(CUDA)
    with side:
        found = recorded(given)
    del recorded
    others = [ts.full(shape, -1.0, device=CUDA) for shape in [(64, 64), (64,)] * 4]
    assert others[0].sum().item() == -64 * 64  # the work of this stream comes first
    ts.synchronize(CUDA)
    assert found.tolist() == wanted
    assert all((other == -1).all() for other in others)


def test_P17_an_index_out_of_range_in_a_graph_is_reported_by_the_next_wait() -> None:
    table = numbers(5, 1)
    recorded = program.record(lambda i: ts.gather(table, 0, i) * 2, ts.tensor([[0], [1], [4]], device=CUDA))
    for _ in range(3):
        recorded(ts.tensor([[3], [2], [1]], device=CUDA))
    assert plan(recorded)["graph"], plan(recorded)
    ts.synchronize(CUDA)
    recorded(ts.tensor([[3], [7], [1]], device=CUDA))
    with pytest.raises(ts.AsyncError, match="axis 0 of size 5, got 7"):
        ts.synchronize(CUDA)


REFUSED: list[tuple[str, Callable[[ts.Tensor], ts.Tensor], str]] = [
    ("random", lambda x: (x * 1).uniform_(), "random numbers"),
    ("to_host", lambda x: x.to("cpu").to(CUDA) + 1, "several devices"),
    ("nonzero", lambda x: ts.nonzero(x)[0], "."),
    ("inverse", lambda x: ts.linalg.inv(x + 9 * ts.eye(3, device=CUDA)), "."),
]


@pytest.mark.parametrize("name, function, reason", REFUSED, ids=[row[0] for row in REFUSED])
def test_P17_what_a_graph_cannot_hold_runs_by_calls_and_says_why(
    name: str, function: Callable[[ts.Tensor], ts.Tensor], reason: str
) -> None:
    x = numbers(3, 3)
    recorded = program.record(function, x)
    for _ in range(4):
        ts.manual_seed(3)
        found = recorded(x)
        ts.manual_seed(3)
        assert found.tolist() == function(x).tolist()
    if "plan" in recorded.describe() and plan(recorded) is not None:
        assert not plan(recorded)["graph"] and reason in plan(recorded)["graph_reason"] + ".", name
    # Later work is not harmed by the attempt.
    assert (x + 1).sum().item() == pytest.approx(x.sum().item() + 9, 1e-5)
