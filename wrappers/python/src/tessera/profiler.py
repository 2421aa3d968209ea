# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The profiler: what a program's time and memory are spent on, as a table, a trace or a page.

    with profiler.profile(record_shapes=True) as prof:
        with profiler.record_function("forward"):
            loss = model(x)
        loss.backward()
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=20))
    prof.export_html("profile.html")
"""

from __future__ import annotations

import functools
import os
import socket
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any, Final, NamedTuple, TypeVar

from ._device import Device, device_pair
from ._errors import ArgumentTypeError, InvalidValueError, as_int
from .capi import check, document, ffi, lib, out, text

__all__ = [
    "Average", "Averages", "ProfilerAction", "ProfilerActivity", "profile", "record_function", "roof", "schedule",
    "tensorboard_trace_handler",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ProfilerActivity(Enum):
    """Whose work a profile has: that of the CPU's threads; that of CUDA's streams, too."""

    CPU = 0
    CUDA = 1


class ProfilerAction(Enum):
    """What a profiler does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class Schedule(NamedTuple):
    """The cycles of a profiler; see schedule()."""

    skip_first: int
    wait: int
    warmup: int
    active: int
    repeat: int

    def __call__(self, step: int) -> ProfilerAction:
        """The action of a step, counted from 0."""
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat > 0 and step >= self.repeat * cycle) or step % cycle < self.wait:
            return ProfilerAction.NONE
        if step % cycle < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if step % cycle == cycle - 1 else ProfilerAction.RECORD


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Cycles of `wait` steps that are not recorded, `warmup` steps whose recording is dropped, and `active` steps.

    `repeat` cycles, or without end for 0, begin after the first `skip_first` steps. profile.step() ends a step.
    """
    made = Schedule(
        as_int(skip_first, "skip_first"), as_int(wait, "wait"), as_int(warmup, "warmup"), as_int(active, "active"),
        as_int(repeat, "repeat"),
    )  # fmt: skip
    if min(made) < 0 or made.active == 0:
        raise InvalidValueError(f"schedule(): expected numbers of at least 0 and active steps, got {made}")
    return made


class record_function:  # noqa: N801
    """record_function(name): a named range in profiles and traces; a context manager, and a decorator.

    Ranges nest. Without a profiler a range costs a test.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self._bytes = (name if args is None else f"{name} {args}").encode()
        self._ranges: list[int] = []

    def __enter__(self) -> record_function:
        self._ranges.append(lib.tsr_profile_range_begin(self._bytes, len(self._bytes)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lib.tsr_profile_range_end(self._ranges.pop())

    def __call__(self, function: _Function) -> _Function:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            number = lib.tsr_profile_range_begin(self._bytes, len(self._bytes))
            try:
                return function(*args, **kwargs)
            finally:
                lib.tsr_profile_range_end(number)

        return run  # type: ignore[return-value]


class Roof(NamedTuple):
    """What a device can do at most."""

    bytes_per_second: float  # of a copy, read and written bytes
    flops_per_second: float  # of a product of float32 matrices


def roof(device: Device | str = "cpu") -> Roof:
    """Measures what a device can do, at the first call for it; about half a second. Tables then have the shares of it."""
    found = ffi.new("double[2]")
    check(lib.tsr_profile_roof(*device_pair(device), found, found + 1))
    return Roof(found[0], found[1])


# ---- Tables ----

_SORTS: Final = {
    "self": lib.TSR_PROFILE_SORT_SELF,
    "total": lib.TSR_PROFILE_SORT_TOTAL,
    "device": lib.TSR_PROFILE_SORT_DEVICE,
    "count": lib.TSR_PROFILE_SORT_COUNT,
    "flops": lib.TSR_PROFILE_SORT_FLOPS,
    "bytes": lib.TSR_PROFILE_SORT_BYTES,
    "name": lib.TSR_PROFILE_SORT_NAME,
}
_SAME: Final = {  # PyTorch's words
    "self_cpu_time_total": "self",
    "cpu_time_total": "total",
    "cpu_time": "total",
    "cuda_time_total": "device",
    "self_cuda_time_total": "device",
    "device_time_total": "device",
    "self_device_time_total": "device",
}
_GROUPS: Final = {
    "ops": lib.TSR_PROFILE_BY_OPS,
    "shapes": lib.TSR_PROFILE_BY_OPS_SHAPES,
    "kernels": lib.TSR_PROFILE_BY_KERNELS,
}


@dataclass(frozen=True)
class Average:
    """A row of a table. Times are microseconds; all but self_cpu_time_total include what is inside."""

    key: str
    kind: str  # range, call, node or kernel
    count: int
    self_cpu_time_total: float
    cpu_time_total: float
    device_time_total: float
    kernel_time_total: float  # of its kernels: on devices, and on the CPU
    self_memory_usage: int  # bytes taken minus bytes given back
    flops: float
    bytes: float  # that its kernels read and write
    floor_time: float  # that the measured roof allows for its kernels; 0 without roof()
    input_shapes: list[Any] | None

    @property
    def cpu_time(self) -> float:
        """The average of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0


class Averages(list[Average]):
    """The rows of a table; print() shows them."""

    def __init__(self, handle: Any, group: int) -> None:
        self._handle, self._group = handle, group
        rows = document(lib.tsr_profiler_rows, handle, group, lib.TSR_PROFILE_SORT_SELF)
        super().__init__(_average(row) for row in rows)

    def table(self, sort_by: str | None = None, row_limit: int = 100) -> str:
        """The rows as text. `sort_by` is self, total, device, count, flops, bytes or name, or PyTorch's word for it."""
        wanted = "self" if sort_by is None else _SAME.get(sort_by, sort_by)
        if wanted not in _SORTS:
            raise InvalidValueError(f"sort_by: expected one of {', '.join((*_SORTS, *_SAME))}, got {sort_by!r}")
        limit = max(as_int(row_limit, "row_limit"), 0)
        return _text(out("tsr_buffer", lib.tsr_profiler_table, self._handle, self._group, _SORTS[wanted], limit))

    def __str__(self) -> str:
        return self.table()


def _text(buffer: Any) -> str:
    return text(lib.tsr_buffer_data, ffi.gc(buffer, lib.tsr_buffer_release))


def _average(row: dict[str, Any]) -> Average:
    return Average(
        key=row["name"],
        kind=row["kind"],
        count=row["count"],
        self_cpu_time_total=row["self_time"] / 1000,
        cpu_time_total=row["total_time"] / 1000,
        device_time_total=row["device_time"] / 1000,
        kernel_time_total=row["kernel_time"] / 1000,
        self_memory_usage=row["allocated"],
        flops=row["flops"],
        bytes=row["bytes"],
        floor_time=row["floor_time"] / 1000,
        input_shapes=row.get("shapes"),
    )


# ---- The profiler ----


class profile:  # noqa: N801
    """profile(*, schedule=None, on_trace_ready=None, record_shapes=False, ...): records what the library does in a block.

    One profiler runs at a time; it records all threads. Without a schedule the recording lasts for the block, else call
    step() after each step; `on_trace_ready(prof)` is called after each cycle. `profile_memory` adds allocations,
    `with_stack` the Python frames of each function, on every thread, `with_flops` the shares of the measured roof
    (operations and bytes are there in any case).
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Schedule | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        capacity: int = 0,
    ) -> None:
        if schedule is not None and not isinstance(schedule, Schedule):
            raise ArgumentTypeError(f"schedule: expected what schedule() returns, got {type(schedule).__name__}")
        for activity in activities or ():
            if not isinstance(activity, ProfilerActivity):
                raise ArgumentTypeError(f"activities: expected ProfilerActivity, got {type(activity).__name__}")
        self.on_trace_ready = on_trace_ready
        self._error: BaseException | None = None
        options = ffi.new("tsr_profiler_options*", {"struct_size": ffi.sizeof("tsr_profiler_options")})
        options.kinds = lib.TSR_TRACE_CALL | lib.TSR_TRACE_LAUNCH | lib.TSR_TRACE_NODE | lib.TSR_TRACE_ANNOTATION
        if profile_memory:
            options.kinds |= lib.TSR_TRACE_ALLOCATE | lib.TSR_TRACE_FREE
        options.shapes, options.stacks = int(record_shapes), int(with_stack)
        options.capacity = as_int(capacity, "capacity")
        for name, value in (schedule._asdict() if schedule is not None else {}).items():
            setattr(options, name, value)
        self._ready = ffi.callback("tsr_profile_ready_fn", _ready_of(weakref.ref(self)))
        made = out("tsr_profiler", lib.tsr_profiler_new, options, self._ready, ffi.NULL, ffi.NULL)
        self._handle = ffi.gc(made, lib.tsr_profiler_release)
        if with_flops:
            roof()

    def start(self) -> None:
        """Begins the first step."""
        check(lib.tsr_profiler_start(self._handle))

    def step(self) -> None:
        """Ends the current step and begins the next one."""
        check(lib.tsr_profiler_step(self._handle))
        self._raise()

    def stop(self) -> None:
        """Ends the profiler and the cycle that it records."""
        check(lib.tsr_profiler_stop(self._handle))
        self._raise()

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    @property
    def current_action(self) -> ProfilerAction:
        return ProfilerAction(out("int32_t", lib.tsr_profiler_action, self._handle))

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # ---- The last recording ----

    def key_averages(self, group_by_input_shape: bool = False, *, group: str | None = None) -> Averages:
        """The recording summed up by function, range and node; by kernel for group="kernels"."""
        wanted = group if group is not None else "shapes" if group_by_input_shape else "ops"
        if wanted not in _GROUPS:
            raise InvalidValueError(f"group: expected one of {', '.join(_GROUPS)}, got {wanted!r}")
        return Averages(self._handle, _GROUPS[wanted])

    def recording(self) -> dict[str, Any]:
        """All events with all facts, as dictionaries; times in nanoseconds."""
        found: dict[str, Any] = document(lib.tsr_profiler_text, self._handle, lib.TSR_PROFILE_EVENTS)
        return found

    def events(self) -> list[dict[str, Any]]:
        """The events of the host, by thread and time."""
        found: list[dict[str, Any]] = self.recording()["events"]
        return found

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace for chrome://tracing or Perfetto."""
        self._export(lib.TSR_PROFILE_CHROME, path)

    def export_html(self, path: str | os.PathLike[str]) -> None:
        """Writes one page that needs no network: timeline, flame graph, operators, memory."""
        self._export(lib.TSR_PROFILE_HTML, path)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Writes a line for each stack of functions, with its microseconds: the input of flame graph programs."""
        if metric != "self_cpu_time_total":
            raise InvalidValueError(f"metric: expected 'self_cpu_time_total', got {metric!r}")
        lines = _folded(self.events())
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{stack} {time}\n" for stack, time in lines.items())

    def _export(self, form: int, path: str | os.PathLike[str]) -> None:
        name = os.fsencode(path)
        check(lib.tsr_profiler_export(self._handle, form, name, len(name)))


def _ready_of(owner: weakref.ref[profile]) -> Callable[[Any, Any], int]:
    """The C callback of a profile. An error waits until step or stop has returned."""

    def ready(_user: Any, _profiler: Any) -> int:
        found = owner()
        if found is not None and found.on_trace_ready is not None:
            try:
                found.on_trace_ready(found)
            except BaseException as error:  # noqa: BLE001
                found._error = error
        return int(lib.TSR_OK)

    return ready


def _folded(events: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Microseconds of each function by itself, keyed by its Python frames and itself."""
    times: dict[str, int] = {}
    for event in events:
        if "stack" in event:
            key = ";".join((*reversed(event["stack"].split("\n")), event["name"]))
            times[key] = times.get(key, 0) + (event["end"] - event["begin"]) // 1000
    return times


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None
) -> Callable[[profile], None]:
    """For on_trace_ready: writes each cycle as a trace into a folder."""

    def handle(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json"))

    return handle
