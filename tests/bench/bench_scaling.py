#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How much more two Python threads do than one, each with backwards of a graph of its own; one JSON line for each graph.

Usage: bench_scaling.py [word...]    # only the graphs whose names contain one of the words

Kernels use one thread, so that two Python threads are what fills two processors. A call of the library releases the
interpreter's lock. Each thread keeps its graph and runs it again and again. The best of 5 rounds; by_processor_time leaves
out what other programs take, but also a thread's waiting for another.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable

import tessera as ts

ROUND = 0.3  # seconds, at least
ROUNDS = 5
Build = Callable[[], ts.Tensor]


def small(count: int) -> Build:
    def build() -> ts.Tensor:
        x, c = ts.rand((4,), requires_grad=True), ts.rand((4,))
        y = x
        for _ in range(count // 3):
            y = ts.tanh(y * c + x)
        return y.sum()

    return build


def matrices(count: int, side: int) -> Build:
    def build() -> ts.Tensor:
        x, c = ts.rand((side, side), requires_grad=True), ts.rand((side, side)) * (2 / side)
        y = x
        for _ in range(count):
            y = y @ c
        return y.sum()

    return build


def seconds(threads: int, build: Build, calls: int) -> tuple[float, float]:
    """Of all threads together: wall clock, and the processor time of one."""
    barrier = threading.Barrier(threads + 1)
    spent: list[float] = []

    def work() -> None:
        root = build()
        root.backward(retain_graph=True)
        barrier.wait()
        begin = time.thread_time()
        for _ in range(calls):
            root.backward(retain_graph=True)
        spent.append(time.thread_time() - begin)
        barrier.wait()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    barrier.wait()
    begin = time.perf_counter()
    barrier.wait()
    wall = time.perf_counter() - begin
    for worker in workers:
        worker.join()
    return wall, sum(spent) / threads


def compare(name: str, build: Build) -> None:
    if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
        return
    calls = 1
    while seconds(1, build, calls)[0] < ROUND:
        calls *= 2
    one = [seconds(1, build, calls) for _ in range(ROUNDS)]
    two = [seconds(2, build, calls) for _ in range(ROUNDS)]
    row = {
        "name": name, "threads": 2, "us_alone": round(min(wall for wall, _ in one) / calls * 1e6, 1),
        "by_wall_clock": round(2 * min(wall for wall, _ in one) / min(wall for wall, _ in two), 3),
        "by_processor_time": round(2 * min(own for _, own in one) / min(own for _, own in two), 3),
    }  # fmt: skip
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    ts.set_num_threads(1)
    compare("600 nodes of 4 elements", small(600))
    compare("60 nodes of 4 elements", small(60))
    compare("20 matrix products of 256", matrices(20, 256))
