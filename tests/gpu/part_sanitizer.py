# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a sample of the tests under compute-sanitizer: memcheck (bad addresses, with leaks of device memory left
alone, since the library keeps its cache) and racecheck (shared memory without a barrier)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import machine
from figures import figure, skip
from parts import CUDA_TESTS

# Kernels whose threads work together, and those that follow indices.
SAMPLE = (
    "test_embedding or test_of_equal_indices or test_nonzero or test_sorting_rows or test_layer_norm or test_pooling"
    " or (test_cross_entropy and mean) or (test_value and float32 and (sum or cumulative or softmax or batch_norm or exp or matmul))"
)
TOOLS = ("memcheck", "racecheck")
BAD = 99


def start(tool: str, sanitizer: Path) -> tuple[subprocess.Popen[str], Path]:
    log = machine.LOGS / f"{tool}.log"
    command = [str(sanitizer), "--tool", tool, "--error-exitcode", str(BAD), "--print-limit", "20", sys.executable, "-m", "pytest",
               "-q", "-x", "-p", "no:cacheprovider", CUDA_TESTS, "-k", SAMPLE]  # fmt: skip
    with log.open("w") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, text=True), log


def main() -> int:
    sanitizer = machine.find_tool("compute-sanitizer")
    if machine.PRETEND:
        skip("the stand-ins on the host have nothing for compute-sanitizer to see")
    if sanitizer is None:
        skip("compute-sanitizer was not found")
    failed = 0
    for tool, (process, log) in [(tool, start(tool, sanitizer)) for tool in TOOLS]:  # both at a time
        code = process.wait()
        text = log.read_text(errors="replace")
        found = re.findall(r"ERROR SUMMARY: (\d+)|RACECHECK SUMMARY: (\d+)", text)
        count = sum(int(number) for pair in found for number in pair if number)
        if not found:
            print(f"{tool} gave no summary")
            failed += 1
        else:
            figure(f"sanitizer.{tool}", count, "errors")
        if code != 0 or count:
            failed += 1
            print(text[-6000:])
        print(f"{tool}: {count} errors, exit status {code}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
