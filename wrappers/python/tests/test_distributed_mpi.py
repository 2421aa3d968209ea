# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.distributed between processes that mpirun starts (rows D9, dist)."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tessera.distributed as dist

SCENES = Path(__file__).with_name("mpi_scenes.py")


def ranks_that_are_right(scene, size):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--enable-recovery", "-n", str(size)]
    run = subprocess.run(
        [*command, sys.executable, str(SCENES), scene],
        capture_output=True, text=True, timeout=240, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    # Lines of several ranks may come without a break between them.
    right = sorted(int(rank) for rank in re.findall(r"rank (\d+) is right", run.stdout))
    return right, run.stdout + run.stderr


@pytest.fixture(autouse=True)
def mpi():
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")


@pytest.mark.parametrize("size", [1, 2, 4])
def test_d9_collectives_of_processes(size):
    """[D9]"""
    right, output = ranks_that_are_right("collectives", size)
    assert right == list(range(size)), output


@pytest.mark.parametrize("scene", ["killed", "raises"])
def test_d9_a_rank_that_ends_ends_the_others(scene):
    """[D9]"""
    right, output = ranks_that_are_right(scene, 3)
    assert right == [0, 2], output


def test_dist_one_process_needs_no_launcher():
    command = [sys.executable, "-c", "import tessera.distributed as d; d.init_process_group('mpi'); print(d.get_world_size())"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout.strip() == "1", run.stderr
    assert not dist.is_initialized()
