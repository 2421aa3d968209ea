# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a sample of the tests under compute-sanitizer: memcheck (bad addresses, but not leaks of device memory, because
the library keeps its cache) and racecheck (shared memory without a barrier)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import machine
from figures import figure, skip
from parts import CUDA_TESTS

# Kernels whose threads cooperate, and kernels that use index arrays.
SAMPLE = (
    "test_embedding or test_of_equal_indices or test_nonzero or test_layer_norm or (test_pooling and kernel1)"
    " or (test_sorting_rows and True and float32) or (test_cross_entropy and mean) or (test_value and float32"
    " and (sum or cumulative or softmax or batch_norm or exp or matmul))"
)
TOOLS = ("memcheck", "racecheck")
BAD = 99


def start(tool: str, sanitizer: Path) -> tuple[subprocess.Popen[str], Path]:
    log = machine.LOGS / f"{tool}.log"
    command = [str(sanitizer), "--tool", tool, "--error-exitcode", str(BAD), "--print-limit", "20", sys.executable, "-m", "pytest",
               "-q", "-x", "-p", "no:cacheprovider", CUDA_TESTS, "-k", SAMPLE]  # fmt: skip
    with log.open("w") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, text=True), log


def ended(process: subprocess.Popen[str], end: float) -> int | None:
    """The exit status of the tool; None if it had to be stopped."""
    try:
        return process.wait(max(1.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def judged(tool: str, code: int | None, text: str) -> bool:
    """Prints the findings of the tool; True if there are none."""
    found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    if found:
        figure(f"sanitizer.{tool}", sum(map(int, found)), "errors")
    clean = code == 0 and bool(found) and not any(map(int, found))
    if not clean:
        print(text[-6000:])
    done = "stopped, no time was left" if code is None else f"exit status {code}"
    print(f"{tool}: {'+'.join(found) or 'no count of'} errors, {done}")
    return clean


def main() -> int:
    if machine.PRETEND:
        skip("the stand-ins on the host have nothing for compute-sanitizer to see")
    sanitizer = machine.find_tool("compute-sanitizer")
    if sanitizer is None:
        skip("compute-sanitizer was not found")
    end = time.monotonic() + float(os.environ.get("TSR_GPU_SECONDS", "100")) - 5
    running = [(tool, *start(tool, sanitizer)) for tool in TOOLS]  # both at the same time
    clean = [judged(tool, ended(process, end), log.read_text(errors="replace")) for tool, process, log in running]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
