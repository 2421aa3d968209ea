#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of one call in a Python program: the cases of bench_overhead.cpp, one JSON line each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import tessera as ts

ROUNDS = 20
CHOSEN = os.environ.get("TSR_BENCH_ONLY", "").split(",")
CLOCK = time.process_time if os.environ.get("TSR_BENCH_CLOCK") == "cpu" else time.perf_counter


def run(name: str, unit: str, count: int, work: Callable[[], object]) -> None:
    """Runs the work in rounds, after one to warm up, and prints best and percentiles."""
    if CHOSEN != [""] and name not in CHOSEN:
        return
    work()
    found = []
    for _ in range(ROUNDS):
        begin = CLOCK()
        work()
        found.append((CLOCK() - begin) * 1e9 / count)
    found.sort()
    last = ROUNDS - 1
    times = {"best": found[0], "median": found[last // 2], "p10": found[last // 10], "p90": found[last - last // 10]}
    line = {"name": name, "shape": "[4]", "device": "cpu", "unit": f"ns per {unit}", **times}
    print(json.dumps(line), flush=True)


def small_ops(count: int) -> None:
    a, b, w = ts.rand((4,)), ts.rand((4,)), ts.rand((4,)).requires_grad_()

    def add() -> None:
        for _ in range(count):
            a + b

    def add_scalar() -> None:
        for _ in range(count):
            a + 1.5

    def exp() -> None:
        for _ in range(count):
            ts.exp(a)

    def add_out() -> None:
        for _ in range(count):
            ts.add(a, b, out=a)

    def add_with_node() -> None:
        for _ in range(count):
            a + w

    def multiply_with_node() -> None:
        for _ in range(count):
            a * w

    for work in (add, add_scalar, exp, add_out, add_with_node, multiply_with_node):
        run(work.__name__, "call", count, work)


def chain(length: int) -> None:
    w, factor, seed = ts.rand((4,)).requires_grad_(), ts.rand((4,)), ts.ones((4,))

    def forward() -> ts.Tensor:
        y = w
        for _ in range(length):
            y = y * factor
        return y

    ready = [forward() for _ in range(ROUNDS + 1)]
    run("backward", "node", length, lambda: ready.pop().backward(seed))
    run("chain_forward_backward", "op", length, lambda: forward().backward(seed))


if __name__ == "__main__":
    small_ops(20_000)
    chain(10_000)
