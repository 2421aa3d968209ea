# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder under PyTorch and under tessera, and prints their losses side by side.

Usage: compare.py --torch PYTHON [--steps N] [--write]

PYTHON is an interpreter that has PyTorch. --write stores PyTorch's losses in losses.json, which the tests compare with.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*.py") if path != Path(__file__).resolve())


def losses(command, program, steps):
    """The losses that a program prints, one list for each step."""
    run = [*command, str(HERE / f"{program}.py"), "--steps", str(steps)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(run)} failed:\n{done.stderr}")
    found = re.findall(r"^step \d+ loss ((?:-?[\d.]+ ?)+)", done.stdout, re.M)
    return [[float(number) for number in line.split()] for line in found]


def difference(ours, theirs):
    """The largest relative difference of a step's losses."""
    return max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", required=True, metavar="PYTHON")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    version = subprocess.check_output([args.torch, "-c", "import torch; print(torch.__version__)"], text=True).strip()
    stored = {"torch": version}
    print(f"| program | step | PyTorch {version} | tessera.torch | largest difference up to there |\n|---|---|---|---|---|")
    for program in PROGRAMS:
        theirs = losses([args.torch], program, args.steps)
        ours = losses([sys.executable, "-m", "tessera.torch"], program, args.steps)
        stored[program] = theirs[:6]
        for step in (0, 4, args.steps - 1):
            texts = [" ".join(f"{n:.6f}" for n in found[step]) for found in (theirs, ours)]
            worst = max(map(difference, ours[: step + 1], theirs))
            print(f"| {program} | {step} | {texts[0]} | {texts[1]} | {worst:.0e} |")
    if args.write:
        (HERE / "losses.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
