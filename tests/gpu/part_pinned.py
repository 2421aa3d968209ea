# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies from and to pinned memory: their bandwidth, and that a kernel runs meanwhile."""

from __future__ import annotations

import time

import tessera as ts

from figures import DEVICE, check_that, figure, time_queued, wait
from machine import PRETEND

NUMBERS = 1 << (12 if PRETEND else 26)  # float32: 256 MiB


def main() -> None:
    pageable = ts.arange(NUMBERS, dtype=ts.float32)
    pinned = pageable.pin_memory()
    there = ts.empty((NUMBERS,), device=DEVICE)
    nbytes = 4 * NUMBERS
    fast = nbytes / time_queued(lambda: there.copy_(pinned, non_blocking=True), wait) / 1e9
    slow = nbytes / time_queued(lambda: there.copy_(pageable), wait) / 1e9
    back = nbytes / time_queued(lambda: pinned.copy_(there, non_blocking=True), wait) / 1e9
    wait()
    check_that("the numbers have gone there and back", (pinned == pageable).all().item())
    figure("pinned.to_device", fast, "GB/s", f"from ordinary memory {slow:.2f} GB/s")
    figure("pinned.to_host", back, "GB/s")
    start = time.perf_counter()
    there.copy_(pinned, non_blocking=True)
    queued = time.perf_counter() - start
    wait()
    whole = time.perf_counter() - start
    check_that("the host goes on before the copy is done", PRETEND or queued < whole / 2)
    print(f"to the device {fast:.2f} GB/s, to the host {back:.2f} GB/s, from ordinary memory {slow:.2f} GB/s")


if __name__ == "__main__":
    main()
