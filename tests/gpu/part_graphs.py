# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs as CUDA graphs: a run gives the same bits as the calls, and costs less time."""

from __future__ import annotations

from collections.abc import Callable

import tessera as ts
from tessera import nn, program

from figures import DEVICE, check_equal, check_that, figure, time_queued, wait
from machine import PRETEND

ROWS, WIDTH = (4, 16) if PRETEND else (32, 256)


def chain(x: ts.Tensor) -> ts.Tensor:
    """Small kernels, whose time is that of their launches."""
    for _ in range(10):
        x = ts.tanh(x * 0.5 + 0.25)
    return x


def layers() -> nn.Module:
    return nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, 8), nn.Softmax(-1),
    )  # fmt: skip


def images() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.Flatten())


def measure(name: str, function: Callable[[ts.Tensor], ts.Tensor], x: ts.Tensor) -> float:
    recorded = program.record(function, x)
    with ts.no_grad():
        for _ in range(3):
            found, wanted = recorded(x), function(x)
            check_that(f"{name}: the bits of the calls", (found == wanted).all().item())
    plan = recorded.describe()["plan"]
    check_equal(f"{name}: why it is no graph", plan.get("graph_reason", ""), "")
    check_that(f"{name}: it is one graph", plan["graph"])
    with ts.no_grad():
        calls, graph = time_queued(lambda: function(x), wait), time_queued(lambda: recorded(x), wait)
    figure(f"graphs.{name}", calls / graph, "x", f"calls {calls * 1e6:.1f} us, graph {graph * 1e6:.1f} us")
    return calls / graph


def main() -> None:
    ts.manual_seed(0)
    x = ts.randn((ROWS, WIDTH)).to(DEVICE)
    ratios = [measure("chain", chain, x), measure("layers", layers().to(DEVICE).eval(), x)]
    measure("images", images().to(DEVICE).eval(), ts.randn((2, 3, 16, 16)).to(DEVICE))
    figure("graphs.worst", min(ratios), "x", "of the programs of small kernels")
    print(f"graphs are {min(ratios):.2f} to {max(ratios):.2f} times as fast as the calls")


if __name__ == "__main__":
    main()
