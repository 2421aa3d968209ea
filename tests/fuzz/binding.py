# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The library for the fuzzers: its functions by name, the last error, and the counters that must return to their start."""

from __future__ import annotations

import mmap
import os
import pathlib
import sys
from typing import Any, NamedTuple

import cffi

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "capi"))

from generator.schema import load  # noqa: E402
from generator.schema.model import Schema  # noqa: E402

OK = 0
CPU = 1
MEMORY_LIMIT = 1 << 30
TRAIL = 100  # bytes


class Fault(Exception):
    """A fault of the library; the text says what was called and what happened."""


class Counters(NamedTuple):
    handles: int
    nodes: int
    nbytes: int


class Library:
    """libtessera in cffi's ABI mode. `trail` is a file that always contains the current step and function."""

    def __init__(self, library: str, trail: str | None = None) -> None:
        self.schema: Schema = load(ROOT / "capi" / "schema")
        self.ffi = cffi.FFI()
        self.ffi.cdef((ROOT / "include/tessera/tessera_ffi.h").read_text(encoding="utf-8"))
        self.lib = self.ffi.dlopen(library)
        self.codes = {c.name.removeprefix("TSR_"): c.value for c in self.schema.status.constants}
        self.names = {value: name for name, value in self.codes.items()}
        self._trail_path = trail
        self._trail: mmap.mmap | None = None
        if trail is not None:
            pathlib.Path(trail).write_bytes(b" " * TRAIL)
            with open(trail, "r+b") as file:
                self._trail = mmap.mmap(file.fileno(), TRAIL)
        self.step = 0
        self._stats = self.ffi.new("tsr_memory_stats*", {"struct_size": self.ffi.sizeof("tsr_memory_stats")})
        self._view = self.ffi.new("tsr_error_view*", {"struct_size": self.ffi.sizeof("tsr_error_view")})
        self.check("tsr_memory_set_limit", CPU, 0, MEMORY_LIMIT)

    def call(self, name: str, *args: Any) -> int:
        """The status of the call. A status that the schema does not list, or INTERNAL, is a fault."""
        if self._trail is not None:
            self._trail[:] = b"step %d: %s" % (self.step, name.encode()) + b" " * (
                TRAIL - len(name) - len(str(self.step)) - 7
            )
        status: int = getattr(self.lib, name)(*args)
        if status not in self.names or status == self.codes["INTERNAL"]:
            raise Fault(f"{name}{args}: status {status}: {self.message()}")
        return status

    def check(self, name: str, *args: Any) -> None:
        """A valid call, which must succeed."""
        if status := self.call(name, *args):
            raise Fault(f"{name}{args}: {self.names[status]}: {self.message()}")

    def made(self, name: str, *args: Any) -> Any:
        """The tensor result of a call that must succeed; the caller releases it."""
        out = self.ffi.new("tsr_tensor*")
        self.check(name, *args, out)
        return out[0]

    def message(self) -> str:
        if self.lib.tsr_error_last(self._view) != OK:
            return "no record of an error"
        return bytes(self.ffi.buffer(self._view.message, self._view.message_len)).decode(errors="replace")

    def counters(self) -> Counters:
        self.check("tsr_memory_stats_get", CPU, 0, self._stats)
        nbytes = self._stats.allocated_bytes.all.current
        return Counters(self.lib.tsr_live_handles(), self.lib.tsr_live_nodes(), nbytes)

    def reset(self) -> None:
        """Restores the ambient state that a call may have changed."""
        lib, ffi = self.lib, self.ffi
        previous = ffi.new("int32_t*")
        lib.tsr_inference_mode_set(0, previous)
        lib.tsr_grad_mode_set(1, previous)
        lib.tsr_deterministic_set(0, previous)
        lib.tsr_deterministic_set_fill(1, previous)
        lib.tsr_defer_drops(0)
        lib.tsr_trace_stop()
        lib.tsr_memory_set_limit(CPU, 0, MEMORY_LIMIT)
        generator = ffi.new("tsr_generator*")
        lib.tsr_generator_set_current(ffi.NULL, generator)
        lib.tsr_generator_release(generator[0])
        while lib.tsr_saved_hooks_pop() == OK:
            pass
        off = ffi.new("tsr_autocast_state*", {"struct_size": ffi.sizeof("tsr_autocast_state"), "dtype": -1, "cache_enabled": 1})
        for off.device_type in (1, 2, 12):
            lib.tsr_autocast_set(off)
        while lib.tsr_autocast_end(off) == OK:
            pass
        lib.tsr_poll(ffi.new("int64_t*"))

    def close(self) -> None:
        """Removes the trail after a run without faults."""
        if self._trail is not None and self._trail_path is not None:
            self._trail.close()
            os.unlink(self._trail_path)
            self._trail = None
