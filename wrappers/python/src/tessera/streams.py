# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams (queues of work on a device) and events (marks in a stream).

    side = streams.Stream("cuda")
    with side:
        y = x @ w                       # beside the work of the other streams
    streams.current_stream("cuda").wait_stream(side)
    y.record_stream(streams.current_stream("cuda"))

The CPU works in order: every stream there is the default stream, every event is done, and every wait returns at once.
"""

from __future__ import annotations

import threading
from typing import Any

from ._device import Device, device_pair, get_default_device, make_device
from ._errors import ArgumentTypeError
from .capi import check, ffi, lib, out

__all__ = ["Event", "Stream", "current_stream"]


def _pair(device: Device | str | None) -> tuple[int, int]:
    return device_pair(get_default_device() if device is None else device)


def _owned(handle: Any) -> Any:
    return ffi.gc(handle, lib.tsr_stream_release)


class Stream:
    """A queue of work on a device (by default the thread's default device).

    The work of one stream runs in order; streams run beside each other. As a context manager it is the thread's current
    stream of its device during the block: functions queue their work on it, and memory that they allocate belongs to it.
    A backward runs each operation on the stream of its forward, and is ordered as one function on the current streams of
    its caller.
    """

    __slots__ = ("_handle",)

    def __init__(self, device: Device | str | None = None) -> None:
        self._handle = _owned(out("tsr_stream", lib.tsr_stream_create, *_pair(device)))

    @classmethod
    def _of(cls, handle: Any) -> Stream:
        made = cls.__new__(cls)
        made._handle = _owned(handle)
        return made

    @classmethod
    def from_native(cls, native: int, device: Device | str | None = None) -> Stream:
        """A stream of other code, such as a cudaStream_t, which its owner keeps alive; 0 is the default stream."""
        return cls._of(out("tsr_stream", lib.tsr_stream_wrap, *_pair(device), ffi.cast("void*", native)))

    @property
    def native(self) -> int:
        """The device's own handle; 0 for the default stream."""
        return int(ffi.cast("intptr_t", out("void*", lib.tsr_stream_native, self._handle)))

    @property
    def device(self) -> Device:
        kind, index = ffi.new("tsr_device_type*"), ffi.new("int32_t*")
        check(lib.tsr_stream_device(self._handle, kind, index))
        return make_device(kind[0], index[0])

    def query(self) -> bool:
        """Whether all work queued so far is done; does not wait."""
        return bool(out("int32_t", lib.tsr_stream_query, self._handle))

    def synchronize(self) -> None:
        """Waits until all work queued so far is done, and raises its failures."""
        check(lib.tsr_stream_synchronize(self._handle))

    def wait_event(self, event: Event) -> None:
        """Makes work queued from now on start after the marked work; does not wait itself."""
        check(lib.tsr_stream_wait_event(self._handle, _event(event)._handle))

    def wait_stream(self, stream: Stream) -> None:
        """Makes work queued from now on start after what is queued on the other stream now; does not wait itself."""
        self.wait_event(as_stream(stream).record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Marks the work queued so far with an event, by default a new one, and returns it."""
        mark = Event(self.device) if event is None else event
        mark.record(self)
        return mark

    def __enter__(self) -> Stream:
        _outside().append(_owned(out("tsr_stream", lib.tsr_stream_set_current, self._handle)))
        return self

    def __exit__(self, *exception: object) -> None:
        _owned(out("tsr_stream", lib.tsr_stream_set_current, _outside().pop()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.native, self.device) == (other.native, other.device)

    def __hash__(self) -> int:
        return hash((self.native, self.device))

    def __repr__(self) -> str:
        return f"Stream(device={self.device}, native={self.native:#x})"


class Event:
    """A mark in a stream, to query or wait for the work that was queued before it."""

    __slots__ = ("_device", "_handle")

    def __init__(self, device: Device | str | None = None) -> None:
        kind, index = _pair(device)
        self._device = make_device(kind, index)
        self._handle = ffi.gc(out("tsr_event", lib.tsr_event_create, kind, index), lib.tsr_event_release)

    def record(self, stream: Stream | None = None) -> None:
        """Marks the work queued so far on the stream, by default the current one; replaces an earlier mark."""
        check(lib.tsr_event_record(self._handle, self._on(stream)._handle))

    def wait(self, stream: Stream | None = None) -> None:
        """Makes work queued from now on the stream, by default the current one, start after the marked work."""
        self._on(stream).wait_event(self)

    def query(self) -> bool:
        """Whether the marked work is done; does not wait."""
        return bool(out("int32_t", lib.tsr_event_query, self._handle))

    def synchronize(self) -> None:
        """Waits until the marked work is done, and raises its failures."""
        check(lib.tsr_event_synchronize(self._handle))

    def _on(self, stream: Stream | None) -> Stream:
        return current_stream(self._device) if stream is None else as_stream(stream)


def current_stream(device: Device | str | None = None) -> Stream:
    """The stream on which functions of this thread queue their work for a device."""
    return Stream._of(out("tsr_stream", lib.tsr_stream_current, *_pair(device)))


def as_stream(given: Any) -> Stream:
    if not isinstance(given, Stream):
        raise ArgumentTypeError(f"stream: expected a Stream, got {type(given).__name__}")
    return given


def _event(given: Any) -> Event:
    if not isinstance(given, Event):
        raise ArgumentTypeError(f"event: expected an Event, got {type(given).__name__}")
    return given


_thread = threading.local()


def _outside() -> list[Any]:
    """The streams that were current outside the blocks that this thread is in."""
    if not hasattr(_thread, "streams"):
        _thread.streams = []
    streams: list[Any] = _thread.streams
    return streams
