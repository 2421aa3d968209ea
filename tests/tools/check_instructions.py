#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts instructions per call of the C ABI and compares them with tests/bench/instructions.json (±2 %).

Usage: check_instructions.py PROGRAM BASELINE [--update]

Instruction counts do not depend on the load of the machine. Counts below the band fail too: an improvement must be
committed (--update), so that it cannot be lost unnoticed. Under valgrind the CPU backend runs its AVX2 level.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = 1000
BAND = 0.02


def count(program: Path) -> dict[str, float]:
    """Instructions per call of every function case_*, including the functions it calls."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder, "callgrind.out")
        subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}", str(program)],
            check=True,
        )
        table = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    counts: dict[str, float] = {}
    for line in table.splitlines():
        match = re.match(r"\s*([\d,]+) \([^)]*\)\s+\S+:case_(\w+)", line)
        if match:
            # The cost of a header's inline functions within a case is on a line of its own.
            counts[match[2]] = counts.get(match[2], 0) + int(match[1].replace(",", "")) / CALLS
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("baseline", type=Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    counts = count(args.program)
    if not counts:
        print("no case was counted")
        return 1
    if args.update:
        args.baseline.write_text(json.dumps({k: round(v, 1) for k, v in sorted(counts.items())}, indent=2) + "\n")
        return 0
    baseline = json.loads(args.baseline.read_text())
    failed = baseline.keys() ^ counts.keys()
    for name in sorted(baseline.keys() & counts.keys()):
        ratio = counts[name] / baseline[name]
        verdict = "ok" if abs(ratio - 1) <= BAND else "outside the band"
        if verdict != "ok":
            failed |= {name}
        print(f"{name}: {counts[name]:.1f} instructions per call, baseline {baseline[name]}, ratio {ratio:.3f}: {verdict}")
    if failed:
        print("differs:", ", ".join(sorted(failed)), "(commit the new counts with --update when they are meant)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
