# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Allocator and streams: memory is reused, statistics are consistent, events order streams, threads are independent."""

from __future__ import annotations

import threading

import numpy as np

import tessera as ts

from figures import DEVICE, Stream, check_equal, check_that, memory, seconds_of, wait

SIZES = [1, 100, 4096, 1 << 18, (1 << 20) + 1, 5 << 20]  # of float32: small, middle and large segments


def memory_is_lent_again() -> None:
    ts.ones((8, 8), device=DEVICE).sum().item()  # makes the objects that the backend keeps for a stream
    before = memory("allocated_bytes.all.current")
    kept = [ts.full((n,), float(i), device=DEVICE) for i, n in enumerate(SIZES)]
    for i, (n, tensor) in enumerate(zip(SIZES, kept)):
        check_equal(f"{n} numbers hold their value", float(tensor.sum(dtype=ts.float64).item()), float(i * n))
    held = memory("allocated_bytes.all.current") - before
    check_that("statistics hold at least what tensors need", held >= 4 * sum(SIZES))
    del kept, tensor
    check_equal("all is given back", memory("allocated_bytes.all.current"), before)
    made = memory("num_device_alloc")
    again = [ts.zeros((n,), device=DEVICE) for n in SIZES]
    check_equal("the second time nothing is asked of the device", memory("num_device_alloc"), made)
    del again
    ts.memory.empty_cache(DEVICE)
    check_that("an emptied cache goes back", memory("reserved_bytes.all.current") <= before + (64 << 20))


def copies_keep_bytes() -> None:
    random = np.random.default_rng(0)
    for n in (0, 1, 511, 4097, 1 << 20):
        array = random.integers(0, 256, n).astype(np.uint8)
        there = ts.from_numpy(array).to(DEVICE)
        check_that(f"{n} bytes go there and back", (there.clone().to("cpu").numpy() == array).all())


def streams_are_ordered_by_events() -> None:
    side, main = Stream(), Stream.current()
    check_that("a stream of its own", side.native != main.native)
    x = ts.zeros((1 << 20,), device=DEVICE)
    side.wait_for(main)
    with side:
        check_equal("it is the current one", Stream.current().native, side.native)
        for _ in range(50):
            x += 1.0
    check_equal("and the former one again", Stream.current().native, main.native)
    main.wait_for(side)
    check_equal("work of the side stream is seen", float(x.max().item()), 50.0)
    side.synchronize()
    check_that("a stream that was waited for is done", side.done())


def threads_do_not_disturb_each_other() -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        try:
            with Stream() as stream:
                for step in range(60):
                    size = 1000 * (number + 1) + step
                    total = float(ts.full((size,), float(number), device=DEVICE).sum(dtype=ts.float64).item())
                    if total != size * number:
                        wrong.append(f"thread {number}, step {step}: expected {size * number}, got {total}")
                stream.synchronize()
        except Exception as error:
            wrong.append(f"thread {number}: {error}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_equal("four threads with a stream each", wrong, [])


if __name__ == "__main__":
    for test in (
        memory_is_lent_again,
        copies_keep_bytes,
        streams_are_ordered_by_events,
        threads_do_not_disturb_each_other,
    ):
        with seconds_of(test.__name__):
            test()
            wait()
    print("allocator and streams are right")
