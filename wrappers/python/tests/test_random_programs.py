# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs of views, writes, modes, hooks and custom functions, compared with PyTorch and with NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program_backends import Ours
from program_model import WINDOWS, generate
from random_programs import failure, report

COUNT = 50_000 if os.environ.get("TSR_TEST_LONG") else 2_000


def test_programs_do_what_pytorch_and_numpy_say() -> None:
    # In a separate process: PyTorch brings threads and libraries that other tests must not have.
    script = Path(__file__).with_name("random_programs.py")
    done = subprocess.run([sys.executable, script, "--count", str(COUNT)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [int(word) for word in done.stdout.replace(",", "").split() if word.isdigit()]
    assert counts[0] == COUNT and sum(counts[2:4]) > COUNT // 2, done.stdout


@pytest.mark.parametrize("seed", [34505, 38847])
def test_programs_that_longer_runs_have_found(seed: int) -> None:
    assert failure(generate(seed), None) is None


def test_a_program_is_the_same_each_time() -> None:
    assert generate(7) == generate(7) and generate(7) != generate(8)


def test_every_op_comes_up() -> None:
    seen = {step.op for seed in range(300) for step in generate(seed)}
    methods = {name for name in dir(Ours) if not name.startswith("_")}
    helpers = {"array", "custom_product", "custom_scale", "lib", "loss_of", "mask_of", "mode", "wrap"}
    assert seen == methods - helpers and set(WINDOWS) < seen


class LosesHooks(Ours):
    def hooked(self, a: Any, by: float) -> Any:
        return a * 1


class ForgetsWrites(Ours):
    """A write through a view does not reach the graph of the base."""

    def scale_(self, a: Any, by: float) -> None:
        a.detach().mul_(by)


class AcceptsLeaves(Ours):
    def fill_(self, a: Any, value: float) -> None:
        a.detach().fill_(value)


class WrongValue(Ours):
    def sin(self, a: Any) -> Any:
        return super().sin(a) + 1e-3


@pytest.mark.parametrize("faulty", [LosesHooks, ForgetsWrites, AcceptsLeaves, WrongValue])
def test_faults_are_found_and_made_small(faulty: type[Ours]) -> None:
    library = faulty()
    for seed in range(500):
        program = generate(seed)
        message = failure(program, None, library)
        if message is not None and "NumPy" in message:
            text = report(seed, program, message, None, library)
            break
    else:
        pytest.fail("the fault was not found")
    assert len(text.splitlines()) <= 6, text
    assert failure(program, None) is None  # the library itself is right
