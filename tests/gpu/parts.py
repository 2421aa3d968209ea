# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a run, in order: description, time limit and command."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from machine import PRETEND, ROOT

HERE = Path(__file__).resolve().parent
CUDA_TESTS = str(ROOT / "tests" / "backend" / "cuda")
# A sample of the op table: one row of each kind.
FEW = "test_value and (exp-float32 or add-int64 or matmul-float64 or cumulative_sum-float32 or conv2d-float32)"


@dataclass(frozen=True)
class Part:
    name: str
    title: str
    seconds: int  # its own limit; the rest of the whole run may be shorter
    command: tuple[str, ...]
    needs_torch: bool = False


def script(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / f"part_{name}.py"), *arguments)


def tests(wanted: str, few: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "shards.py"), CUDA_TESTS, "-k", few if PRETEND else wanted)


BUILD_PART = Part("build", "library, plugin and Python extension", 240, (sys.executable, str(HERE / "build.py")))
PARTS = [
    Part("device", "the device is found and told", 40, script("device")),
    Part("memory", "allocator and streams", 30, script("memory")),
    Part("ops", "op table, CPU against CUDA, every dtype and layout", 120, tests("not gradient", FEW)),
    Part("gradients", "gradients, CPU against CUDA", 60, tests("gradient", "gradient and exp")),
    Part("streams", "streams with a delayed kernel", 30, script("streams")),
    Part("pinned", "copies of pinned memory", 30, script("pinned")),
    Part("graphs", "programs as CUDA graphs", 30, script("graphs")),
    Part("timeline", "the profiler's timeline of the device", 30, script("timeline")),
    Part("nccl", "NCCL with one device", 60, script("nccl")),
    Part("out-of-memory", "out of memory", 40, script("out_of_memory")),
    Part("leaks", "leaks over 1000 steps", 40, script("leaks")),
    Part("digits", "the digits network", 60, script("digits")),
    Part("sanitizer", "memcheck and racecheck on a sample", 100, script("sanitizer")),
    Part("bandwidth", "bandwidth of kernels by family", 60, script("bandwidth")),
    Part("gemm", "matrix products against cuBLAS alone", 40, script("gemm")),
    Part("overhead", "host time per op", 40, script("overhead"), needs_torch=True),
    Part("models", "training steps against PyTorch", 180, script("models"), needs_torch=True),
]  # fmt: skip
