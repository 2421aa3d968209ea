# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams with delayed work: ordered work must wait for it, memory in use must not be lent, and the host continues.

A host function in a stream, libc's usleep, delays it: a kernel or a copy that is queued behind it starts when it
returns. The stand-ins on the host have no such call; there everything is done at once.
"""

from __future__ import annotations

import ctypes
import time

import numpy as np

import tessera as ts

from figures import DEVICE, Stream, check_equal, check_that, cuda_runtime, seconds_of, wait

SIZE = 1 << 20
HELD = 0.05  # seconds
runtime = cuda_runtime()
usleep = ctypes.CDLL(None).usleep


def hold(stream: Stream, seconds: float = HELD) -> None:
    """Delays later work of the stream. The pointer argument of the call carries the number for usleep."""
    if runtime is None:
        return
    error = runtime.cudaLaunchHostFunc(ctypes.c_void_p(stream.native), usleep, ctypes.c_void_p(int(seconds * 1e6)))
    check_equal("cudaLaunchHostFunc", error, 0)


def queued(what: str, start: float) -> None:
    """Checks that the host has not waited for delayed work."""
    check_that(f"{what}: the host goes on", runtime is None or time.perf_counter() - start < HELD / 2)


def an_event_waits_for_held_work() -> None:
    side, main = Stream(), Stream.current()
    x = ts.zeros((SIZE,), device=DEVICE)
    ts.ones((SIZE,), device=DEVICE).sum().item()  # loads kernels
    wait()
    start = time.perf_counter()
    with side:
        hold(side)
        x += 7.0
    check_that("held work is not done", runtime is None or not side.done())
    main.wait_for(side)
    y = x * 2.0
    queued("event", start)
    check_equal("what waits for the event sees the work", float(y.min().item()), 14.0)


def a_copy_to_the_host_waits() -> None:
    x = ts.zeros((SIZE,), device=DEVICE)
    hold(Stream.current())
    x += 3.0
    check_equal("the copy has the new numbers", float(x.to("cpu").numpy().min()), 3.0)


def memory_of_a_held_stream_is_not_lent() -> None:
    """The block of a released tensor, which another stream still reads, must not be written by its next owner."""
    side, main = Stream(), Stream.current()
    x = ts.full((SIZE,), 5.0, device=DEVICE)
    result = ts.zeros((SIZE,), device=DEVICE)
    side.wait_for(main)
    with side:
        hold(side)
        result.copy_(x)
    side.uses(x)
    del x
    others = [ts.full((SIZE,), 9.0, device=DEVICE) for _ in range(4)]
    main.wait_for(side)
    check_equal("the held copy read its source", float(result.max().item()), 5.0)
    check_equal("the others have their own numbers", [float(t.min().item()) for t in others], [9.0] * 4)


def memory_freed_in_its_own_stream_is_lent_at_once() -> None:
    with Stream() as side:
        hold(side)
        x = ts.full((SIZE,), 5.0, device=DEVICE)
        y = x + 1.0
        del x
        z = ts.full((SIZE,), 9.0, device=DEVICE)  # may get the memory of x: the stream orders both uses
        check_equal("order within a stream", (float(y.max().item()), float(z.max().item())), (6.0, 9.0))


def a_batch_from_the_host_does_not_change_behind_the_call() -> None:
    """The source of a copy to the device is read before the call returns, also if the stream is delayed."""
    batch = np.full(SIZE, 1.0, np.float32)
    with Stream() as side:
        hold(side)
        x = ts.from_numpy(batch).to(DEVICE)
        batch[:] = 2.0
        check_equal("the copy has the numbers of the call", float(x.max().item()), 1.0)


def gradients_behind_held_work() -> None:
    with Stream() as side:
        w = ts.full((SIZE,), 2.0, device=DEVICE).requires_grad_()
        hold(side)
        (w * w).sum().backward()
        check_equal("forward and backward in one stream", float(w.grad.max().item()), 4.0)


def backward_crosses_streams() -> None:
    """Each half of the graph was made on its own held stream; the backward pass, started on a third one, must run each
    node where its forward ran, and order what they hand over."""
    w = ts.full((SIZE,), 2.0, device=DEVICE).requires_grad_()
    one, two = Stream(), Stream()
    for side in (one, two):
        side.wait_for(Stream.current())
    start = time.perf_counter()
    with one:
        hold(one)
        left = w * 3.0
    two.wait_for(one)
    with two:
        hold(two)
        right = left * w
        loss = right.sum()
    with Stream() as third:
        third.wait_for(two)
        loss.backward()
        queued("backward", start)
        check_equal("the gradient is whole", float(w.grad.max().item()), 12.0)
        check_equal("the gradient is the same everywhere", float(w.grad.min().item()), 12.0)


if __name__ == "__main__":
    for test in (
        an_event_waits_for_held_work, a_copy_to_the_host_waits, memory_of_a_held_stream_is_not_lent,
        memory_freed_in_its_own_stream_is_lent_at_once, a_batch_from_the_host_does_not_change_behind_the_call,
        gradients_behind_held_work, backward_crosses_streams,
    ):  # fmt: skip
        with seconds_of(test.__name__):
            test()
            wait()
    print("streams are ordered as they say")
