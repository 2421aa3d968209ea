#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums up runs of bench_kernels_python.py as the tables of docs/benchmarks.md.

Usage: kernel_summary.py RUN [RUN]    # each run: its output, with one JSON line for each case

For each family the number of cases and the median of the ratios (our time to PyTorch's), then the ten best and all cases above
1.0 of the first run, which is mostly that with one thread.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics


def cases_of(path: pathlib.Path) -> list[dict]:
    """The cases of a run, each name once: a family may repeat a case of another one."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.startswith("{")]
    rows = [row for row in rows if "ratio" in row]
    return list({row["name"]: row for row in reversed(rows)}.values())[::-1]


def title(run: list[dict]) -> str:
    threads = run[0]["threads"]
    return "1 thread" if threads == 1 else f"{threads} threads"


def totals(run: list[dict]) -> list[str]:
    ratios = [row["ratio"] for row in run]
    above = [sum(ratio > limit for ratio in ratios) for limit in (1.0, 1.1)]
    return [str(len(ratios)), f"{statistics.median(ratios):.2f}", str(above[0]), str(above[1])]


def by_family(runs: list[list[dict]]) -> list[str]:
    heads = [f"{title(run)}: {what}" for run in runs for what in ("cases", "median", "above 1.0", "above 1.1")]
    lines = ["| family | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for family in dict.fromkeys(row["family"] for run in runs for row in run):
        cells: list[str] = []
        for run in runs:
            rows = [row for row in run if row["family"] == family]
            cells += totals(rows) if rows else ["", "", "", ""]
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    return [*lines, "| all | " + " | ".join(cell for run in runs for cell in totals(run)) + " |"]


def table(rows: list[dict]) -> list[str]:
    lines = ["| case | Tessera, us | PyTorch, us | ratio |", "|---|---|---|---|"]
    for row in rows:
        name = row["name"] if " " in row["name"] and "(" not in row["name"] else f"`{row['name']}`"
        digits = 0 if row["time"] >= 10 else 1
        lines.append(f"| {name} | {row['time']:.{digits}f} | {row['peer']:.{digits}f} | {row['ratio']:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    runs = [cases_of(path) for path in options.runs]
    ranked = sorted(runs[0], key=lambda row: row["ratio"])
    slower = [row for row in reversed(ranked) if row["ratio"] > 1.0]
    print("\n".join([*by_family(runs), "", *table(ranked[:10]), "", *table(slower)]))


if __name__ == "__main__":
    main()
