# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the parts: figures for the runner, skips, streams, timing, CUDA's run time by ctypes."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tessera as ts
from tessera._device import device_pair
from tessera.capi import check, ffi, handle, lib

from machine import PRETEND
from runner import SKIPPED

DEVICE = "cuda"
PEER = "cpu" if PRETEND else "cuda"  # the device of PyTorch


def figure(key: str, value: float, unit: str, note: str = "") -> None:
    """Writes one line for the report and for readers of the log."""
    line = json.dumps({"key": key, "value": float(f"{value:.6g}"), "unit": unit, "note": note})
    print(line, flush=True)
    path = os.environ.get("TSR_GPU_FIGURES")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def skip(reason: str) -> None:
    print(reason)
    sys.exit(SKIPPED)


def check_equal(what: str, got: Any, wanted: Any) -> None:
    """Like assert, but also under python -O, and with the values in the message."""
    if got != wanted:
        raise AssertionError(f"{what}: expected {wanted}, got {got}")
    print(f"ok: {what}")


def check_that(what: str, condition: Any) -> None:
    check_equal(what, bool(condition), True)


class Stream:
    """A stream of the library; as a context manager it is the thread's current one."""

    def __init__(self, handle: Any = None) -> None:
        if handle is None:
            box = ffi.new("tsr_stream*")
            check(lib.tsr_stream_create(*device_pair(DEVICE), box))
            handle = box[0]
        self.handle = ffi.gc(handle, lib.tsr_stream_release)

    @classmethod
    def current(cls) -> Stream:
        box = ffi.new("tsr_stream*")
        check(lib.tsr_stream_current(*device_pair(DEVICE), box))
        return cls(box[0])

    @property
    def native(self) -> int:
        box = ffi.new("void**")
        check(lib.tsr_stream_native(self.handle, box))
        return int(ffi.cast("uintptr_t", box[0]))

    def __enter__(self) -> Stream:
        box = ffi.new("tsr_stream*")
        check(lib.tsr_stream_set_current(self.handle, box))
        self.previous = Stream(box[0])
        return self

    def __exit__(self, *exception: object) -> None:
        box = ffi.new("tsr_stream*")
        check(lib.tsr_stream_set_current(self.previous.handle, box))
        lib.tsr_stream_release(box[0])

    def done(self) -> bool:
        box = ffi.new("int32_t*")
        check(lib.tsr_stream_query(self.handle, box))
        return bool(box[0])

    def synchronize(self) -> None:
        check(lib.tsr_stream_synchronize(self.handle))

    def uses(self, tensor: ts.Tensor) -> None:
        """The tensor's memory is not lent again before the work queued on this stream is done."""
        check(lib.tsr_tensor_record_stream(handle(tensor), self.handle))

    def wait_for(self, other: Stream) -> None:
        """Work queued on this stream from now on starts after the work queued on the other stream so far."""
        box = ffi.new("tsr_event*")
        check(lib.tsr_event_create(*device_pair(DEVICE), box))
        event = ffi.gc(box[0], lib.tsr_event_release)
        check(lib.tsr_event_record(event, other.handle))
        check(lib.tsr_stream_wait_event(self.handle, event))


def loaded(library: str) -> list[str]:
    """The files of that name that this process has loaded."""
    maps = Path("/proc/self/maps").read_text("utf-8")
    return sorted({line.split()[-1] for line in maps.splitlines() if library in line})


def cuda_runtime() -> Any:
    """The run time that the plugin has loaded, so that both work in one context; None with the stand-ins."""
    if PRETEND:
        return None
    ts.zeros(1, device=DEVICE)
    found = loaded("libcudart.so")
    return ctypes.CDLL(found[0]) if found else None


def memory(key: str) -> int:
    return ts.memory.memory_stats(DEVICE)[key]


def refused(error: type[BaseException], function: Callable[[], object]) -> str:
    """The text of the error that the call must raise."""
    try:
        function()
    except error as caught:
        return str(caught)
    raise AssertionError(f"expected {error.__name__}, got a result")


@contextlib.contextmanager
def seconds_of(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - start:.2f} s", flush=True)


TARGET, ROUNDS = (0.0, 1) if PRETEND else (0.02, 7)


def time_queued(
    function: Callable[[], object], wait: Callable[[], object], target: float = TARGET, rounds: int = ROUNDS
) -> float:
    """Seconds of one call on the device: the median over rounds of as many calls as take `target` seconds."""
    function()
    wait()
    start = time.perf_counter()
    function()
    wait()
    calls = max(1, int(target / max(time.perf_counter() - start, 1e-6)))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        wait()
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)


def wait() -> None:
    ts.synchronize(DEVICE)
