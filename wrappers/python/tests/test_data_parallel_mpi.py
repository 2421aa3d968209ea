# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of processes that MPI's launcher starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--enable-recovery"]

pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs Open MPI")


def run(ranks: int, *command: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*MPIRUN, "-n", str(ranks), sys.executable, *command], env=settings, capture_output=True, text=True, timeout=240
    )


@pytest.mark.parametrize("ranks", [2, 4])
def test_D9_digits_over_mpi_equal_one_process_with_the_whole_batch(ranks: int) -> None:
    done = run(ranks, str(ROOT / "examples/python/digits_ddp.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "largest difference from one process" in done.stdout
    assert done.stdout.count("loss") == ranks


KILLED = """
import os, signal, sys
import tessera as ts
from tessera import distributed as dist, nn
from tessera.nn.parallel import DistributedDataParallel
dist.init_process_group("mpi", timeout=20)
model = DistributedDataParallel(nn.Linear(8, 8))
for step in range(5):
    if dist.get_rank() == 1 and step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        model(ts.ones((2, 8))).sum().backward()
    except ts.TesseraError as error:
        # One write, because lines of several ranks in pieces would be mixed.
        os.write(1, f"rank {dist.get_rank()} step {step} {type(error).__name__}\\n".encode())
        os._exit(0)
"""


def test_D9_a_killed_rank_ends_the_backward_of_the_others_with_a_typed_error() -> None:
    done = run(3, "-c", KILLED)
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("rank"))
    assert [line.split()[:4] for line in lines] == [["rank", "0", "step", "3"], ["rank", "2", "step", "3"]], done.stderr
    assert all(line.split()[4] in ("CancelledError", "BackendError") for line in lines), lines
