# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Out of memory: a MemoryError that names the requested size, after which everything still works."""

from __future__ import annotations

import tessera as ts

from figures import DEVICE, check_equal, check_that, memory, refused, seconds_of, wait
from machine import PRETEND

MIB = 1 << 20


def more_than_there_is() -> None:
    text = refused(MemoryError, lambda: ts.zeros((1 << 44,), dtype=ts.uint8, device=DEVICE))
    print(text)
    check_that("the error names the op", "zeros" in text)
    check_equal("the device works on", float(ts.ones(10, device=DEVICE).sum().item()), 10.0)


def a_limit_holds() -> None:
    ts.memory.empty_cache(DEVICE)
    before = ts.memory.memory_limit(DEVICE)
    ts.memory.set_memory_limit(memory("reserved_bytes.all.current") + 256 * MIB, DEVICE)
    try:
        kept = []

        def fill() -> None:
            while True:
                kept.append(ts.empty((32 * MIB,), dtype=ts.uint8, device=DEVICE))

        refused(ts.OutOfMemoryError, fill)
        check_that("the limit's memory was to be had", 6 <= len(kept) <= 8)
        kept.clear()
        check_equal(
            "after a release larger ones fit", ts.empty((200 * MIB,), dtype=ts.uint8, device=DEVICE).numel(), 200 * MIB
        )
    finally:
        ts.memory.set_memory_limit(before, DEVICE)


def a_full_device_is_used_again() -> None:
    """Allocates all memory in pieces of 1 GiB, then frees them; libraries that allocate by themselves still start."""
    if PRETEND:
        print("the stand-ins take the host's memory, which is not filled")
        return
    kept = []

    def fill() -> None:
        while True:
            kept.append(ts.empty((1024 * MIB,), dtype=ts.uint8, device=DEVICE))

    print(refused(ts.OutOfMemoryError, fill))
    taken = len(kept)
    print(f"{taken} GiB were to be had")
    kept.clear()  # into the cache: the device itself has no free memory
    x = ts.ones((512, 512), device=DEVICE)
    check_equal("cuBLAS starts beside a full cache", float((x @ x).max().item()), 512.0)
    image, weight = ts.ones((8, 16, 32, 32), device=DEVICE), ts.ones((16, 16, 3, 3), device=DEVICE)
    check_equal("so does cuDNN", float(ts.nn.functional.conv2d(image, weight).max().item()), 144.0)
    fill_again = [ts.empty((1024 * MIB,), dtype=ts.uint8, device=DEVICE) for _ in range(taken - 4)]
    check_equal("almost all is lent a second time", len(fill_again), taken - 4)
    del fill_again
    ts.memory.empty_cache(DEVICE)
    check_that("and goes back", memory("reserved_bytes.all.current") < 2048 * MIB)


def a_step_that_failed_leaves_nothing() -> None:
    def step() -> None:
        w = ts.ones((100, 100), device=DEVICE).requires_grad_()
        y = (w @ w).exp()
        ts.broadcast_to(y.sum(), (1 << 44,)).contiguous()

    def held() -> tuple[int, int, int]:
        wait()
        return memory("allocated_bytes.all.current"), ts.memory.live_handles(), ts.memory.live_nodes()

    refused(MemoryError, step)  # makes the objects that the backend keeps for a stream
    before = held()
    for _ in range(10):
        refused(MemoryError, step)
    check_equal("bytes, objects and nodes", held(), before)


if __name__ == "__main__":
    for test in (more_than_there_is, a_limit_holds, a_full_device_is_used_again, a_step_that_failed_leaves_nothing):
        with seconds_of(test.__name__):
            test()
    print("out of memory is an error like any other")
