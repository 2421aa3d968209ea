#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of the same calls in every language: runs the benchmark programs in turns, and prints one table.

Each program measures its own processor time on one thread, so that other load disturbs little. Build the
preset `release` with -DTSR_BENCH=ON first, and Rust's with `cargo build --release --examples`.

Usage: .venv/bin/python tests/bench/bench_languages.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BENCH = ROOT / "tests/bench"
PROGRAMS = {
    "C": [BUILD / "release/tests/bench/bench_overhead"],
    "C++": [BUILD / "release/tests/bench/bench_cpp"],
    "Rust": [BUILD / "rust/release/examples/bench_rust"],
    "Julia": [BUILD / "julia/bin/julia", "--startup-file=no", f"--project={ROOT}/wrappers/julia", BENCH / "bench_julia.jl"],
    "Python": [sys.executable, BENCH / "bench_python_overhead.py"],
}
CASES = {"add": "small add", "add_with_node": "add with node", "backward": "backward per node"}


def run(command: list[Path | str]) -> dict[str, dict[str, float]]:
    """Best and median of each case, in nanoseconds."""
    told = {
        "TSR_BENCH_ONLY": ",".join(CASES), "TSR_BENCH_CLOCK": "cpu", "OMP_NUM_THREADS": "1",
        "TESSERA_BUILD_DIR": str(BUILD / "release"), "JULIA_DEPOT_PATH": str(BUILD / "julia/depot"),
    }  # fmt: skip
    words = [str(part) for part in command]
    output = subprocess.run(words, env={**os.environ, **told}, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["name"]: line for line in lines if line["name"] in CASES}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    there = {name: line for name, line in PROGRAMS.items() if all(Path(p).exists() for p in (line[0], line[-1]))}
    for name in PROGRAMS.keys() - there.keys():
        print(f"{name}: {PROGRAMS[name][-1]} or {PROGRAMS[name][0]} is missing", file=sys.stderr)
    rounds: dict[str, list[dict[str, dict[str, float]]]] = {name: [] for name in there}
    for _ in range(options.rounds):
        for name, line in there.items():
            rounds[name].append(run(line))
    print(f"ns of {options.rounds} rounds in turns, the best and in brackets the median; one thread\n")
    print("| language | " + " | ".join(CASES.values()) + " |\n" + "|---" * (len(CASES) + 1) + "|")
    for name, found in rounds.items():
        cells = [[one[case] for one in found if case in one] for case in CASES]
        texts = [
            f"{min(t['best'] for t in c):.0f} ({statistics.median(t['median'] for t in c):.0f})" if c else "-" for c in cells
        ]
        print(f"| {name} | " + " | ".join(texts) + " |")
    print(f"\nload {os.getloadavg()[0]:.1f}")
    return 0 if len(there) == len(PROGRAMS) else 1


if __name__ == "__main__":
    sys.exit(main())
