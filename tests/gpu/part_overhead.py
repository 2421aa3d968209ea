# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Host time for each op: calls on small tensors that are queued without waiting, compared with PyTorch's."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

import tessera as ts

from figures import DEVICE, PEER, figure, wait
from machine import PRETEND

CALLS, ROUNDS = (20, 3) if PRETEND else (400, 25)  # fewer calls than a device's queue has room for


def cases(t: Any, device: str) -> Iterator[tuple[str, Callable[[], object]]]:
    a, b = t.ones((64, 64), device=device), t.ones((64, 64), device=device)
    g = t.ones((64, 64), device=device).requires_grad_()
    weight, x = t.ones((64, 64), device=device), t.ones((32, 64), device=device)
    yield "a + b", lambda: a + b
    yield "a + 1.0", lambda: a + 1.0
    yield "a.exp()", lambda: a.exp()
    yield "a.sum()", lambda: a.sum()
    yield "a.add_(b)", lambda: a.add_(b)
    yield "a[1:3]", lambda: a[1:3]
    yield "a.reshape", lambda: a.reshape((32, 128))
    yield "a.T.contiguous()", lambda: a.T.contiguous()
    yield "x @ weight", lambda: x @ weight
    yield "softmax", lambda: t.softmax(a, -1)
    yield "g * b with grad", lambda: g * b
    index = t.arange(32, device=device)
    yield "weight[index]", lambda: weight[index]
    yield "embedding", lambda: t.nn.functional.embedding(index, weight)
    yield "linear", lambda: t.nn.functional.linear(x, weight)


def microseconds(function: Callable[[], object], finish: Callable[[], object]) -> float:
    """The time of one call: the median over rounds. After each round the queue is emptied, which is not measured."""
    times = []
    for _ in range(ROUNDS):
        finish()
        start = time.perf_counter()
        for _ in range(CALLS):
            function()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return statistics.median(times)


def main() -> None:
    finish = (lambda: None) if PRETEND else torch.cuda.synchronize
    worst = ("", 0.0)
    for (name, ours), (_, theirs) in zip(cases(ts, DEVICE), cases(torch, PEER)):
        for warm in (ours, theirs):
            warm()
        one, two = microseconds(ours, wait), microseconds(theirs, finish)
        worst = max(worst, (name, one), key=lambda pair: pair[1])
        figure(f"overhead.{name}", one, "us", f"PyTorch {two:.2f} us, ratio {one / two:.2f}")
    figure("overhead.worst", worst[1], "us", worst[0])
    print(f"the slowest call is {worst[0]}: {worst[1]:.2f} us")


if __name__ == "__main__":
    main()
