# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/torch, which are PyTorch's own kind of programs, lose what they lose under PyTorch."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "torch"
LOSSES = json.loads((FOLDER / "losses.json").read_text())  # by compare.py --write
STEPS = 5


@pytest.mark.parametrize("program", [name for name in LOSSES if name != "torch"])
def test_a_program_has_pytorchs_losses(program: str) -> None:
    command = [sys.executable, "-m", "tessera.torch", str(FOLDER / f"{program}.py"), "--steps", str(STEPS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^step \d+ loss ((?:-?[\d.]+ ?)+)", done.stdout, re.M)
    found = [[float(number) for number in line.split()] for line in lines]
    assert found == [pytest.approx(step, rel=1e-4, abs=1e-5) for step in LOSSES[program][:STEPS]]


def test_every_program_is_compared() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - {"compare"} == set(LOSSES) - {"torch"}
