#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares calls from Python with PyTorch's, in turns in one process on one thread: one JSON line each, then a table.

Figures are the best of many short rounds. The statements are in python_cases.py and python_training_cases.py.

Usage: python tests/bench/bench_python.py [--only TEXT ...] [--rounds N] [--above RATIO]
--only takes sections and parts of statements; --above limits the table to rows above this ratio.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import timeit
from typing import Any

import torch

import tessera as ts

import python_training_cases  # noqa: F401 (adds its sections)
from python_cases import SECTIONS

ROUND_SECONDS = 1e-3
Row = tuple[str, str, float, float]


def timer(statement: str, names: dict[str, Any]) -> timeit.Timer:
    return timeit.Timer(statement, "enable()", globals={**names, "enable": gc.enable})


def calls_a_round(one: timeit.Timer) -> int:
    calls = 1
    while (seconds := one.timeit(calls)) < ROUND_SECONDS / 2:
        calls *= 2
    return max(1, int(calls * ROUND_SECONDS / seconds))


def compare(ours: timeit.Timer, theirs: timeit.Timer, rounds: int) -> tuple[float, float]:
    """Nanoseconds for each call in both libraries, timed in turns."""
    calls = [calls_a_round(side) for side in (ours, theirs)]
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, side in enumerate((ours, theirs)):
            best[i] = min(best[i], side.timeit(calls[i]) / calls[i] * 1e9)
    return best[0], best[1]


def run(only: list[str], rounds: int) -> list[Row]:
    rows = []
    for name, (make, statements) in SECTIONS.items():
        pairs = [(s, s) if isinstance(s, str) else s for s in statements]
        chosen = [p for p in pairs if not only or any(o == name or o in p[0] for o in only)]
        if not chosen:
            continue
        mine, peer = {"t": ts, **make(ts)}, {"t": torch, **make(torch)}
        for statement, other in chosen:
            one, two = compare(timer(statement, mine), timer(other, peer), rounds)
            rows.append((name, statement, one, two))
            record = {"name": statement, "section": name, "threads": 1, "best": one, "peer": two, "ratio": one / two}
            print(json.dumps(record), flush=True)
    return rows


def table(rows: list[Row]) -> str:
    lines = ["| section | call | Tessera, ns | PyTorch, ns | ratio |", "|---|---|---|---|---|"]
    lines += [f"| {name} | `{call}` | {one:.0f} | {two:.0f} | {one / two:.2f} |" for name, call, one, two in rows]
    return "\n".join(lines)


def import_seconds() -> float:
    code = "import numpy, time; t = time.perf_counter(); import tessera; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--above", type=float, default=0.0, metavar="RATIO")
    options = parser.parse_args()
    ts.set_num_threads(1)
    torch.set_num_threads(1)
    rows = run(options.only, options.rounds)
    worst = sorted(rows, key=lambda row: row[2] / row[3], reverse=True)
    print(json.dumps({"name": "import beyond NumPy", "seconds": import_seconds()}))
    print(table([row for row in rows if row[2] / row[3] >= options.above]))
    print(f"\nThe worst ten:\n\n{table(worst[:10])}")
    print(f"\nPyTorch {torch.__version__}, load {os.getloadavg()[0]:.1f}, {len(rows)} calls")


if __name__ == "__main__":
    main()
