#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Overhead from Python beside PyTorch's, case by case in turns: a JSON line each, then a table."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

import tessera as ts

Case = Callable[[], object]


def nanoseconds(function: Case, calls: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(calls):
        function()
    return (time.perf_counter_ns() - start) / calls


def chain(x: object) -> None:
    """Forward and backward through 100 multiplications."""
    y = x
    for _ in range(100):
        y = y * x  # type: ignore[operator]
    y.sum().backward()  # type: ignore[attr-defined]


def cases() -> dict[str, tuple[Case, Case, int]]:
    """name: (ours, PyTorch's, calls a round)."""
    data = [1.0, 2.0, 3.0, 4.0]
    a, b, g = ts.tensor(data), ts.tensor(data), ts.tensor(data, requires_grad=True)
    c, d, h = torch.tensor(data), torch.tensor(data), torch.tensor(data, requires_grad=True)
    weights = [ts.nn.Parameter(ts.rand((10, 10))) for _ in range(50)]
    theirs = [torch.nn.Parameter(torch.rand(10, 10)) for _ in range(50)]
    for p, q in zip(weights, theirs):
        p.grad, q.grad = ts.rand((10, 10)), torch.rand(10, 10)
    adam, peer = ts.optim.Adam(weights), torch.optim.Adam(theirs, foreach=True)
    return {
        "a + b": (lambda: a + b, lambda: c + d, 5000),
        "a + b with grad": (lambda: g + b, lambda: h + d, 5000),
        "a + 1.0": (lambda: a + 1.0, lambda: c + 1.0, 5000),
        "a += b": (lambda: a.add_(b), lambda: c.add_(d), 5000),
        "exp(a)": (lambda: ts.exp(a), lambda: torch.exp(c), 5000),
        "a.sum()": (lambda: a.sum(), lambda: c.sum(), 5000),
        "a @ b": (lambda: a @ b, lambda: c @ d, 5000),
        "a[1:3]": (lambda: a[1:3], lambda: c[1:3], 5000),
        "a.shape": (lambda: a.shape, lambda: c.shape, 5000),
        "a.numpy()": (lambda: a.numpy(), lambda: c.numpy(), 2000),
        "100-op chain, forward and backward": (lambda: chain(g), lambda: chain(h), 20),
        "Adam, 50 tensors of 100": (adam.step, peer.step, 20),
    }


def import_seconds() -> float:
    code = "import numpy, time; t = time.perf_counter(); import tessera; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    ts.set_num_threads(1)
    torch.set_num_threads(1)
    table = ["| case | tessera ns | PyTorch ns | ratio |", "|---|---|---|---|"]
    for name, (ours, theirs, calls) in cases().items():
        pairs = [(nanoseconds(ours, calls), nanoseconds(theirs, calls)) for _ in range(rounds)]
        one, two = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        print(json.dumps({"name": name, "threads": 1, "median": one, "peer": two, "ratio": one / two}), flush=True)
        table.append(f"| {name} | {one:.0f} | {two:.0f} | {one / two:.2f} |")
    print(json.dumps({"name": "import beyond NumPy", "seconds": import_seconds()}))
    print("\n".join(table))
    print(f"\nPyTorch {torch.__version__}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
