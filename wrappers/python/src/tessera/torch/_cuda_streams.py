# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams and events of torch.cuda, and of torch itself: the library's, with PyTorch's arguments."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from .. import streams
from .._device import Device, device_of
from .._errors import InvalidArgumentError


def _place(given: Any) -> Any:
    if given is None:
        return "cuda"
    return Device("cuda", given) if isinstance(given, int) else device_of(given)


class Stream(streams.Stream):
    """A queue of work on a device."""

    __slots__ = ()

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        super().__init__(_place(device))

    @property
    def cuda_stream(self) -> int:
        return self.native

    def record_event(self, event: Any = None) -> Any:
        mark = Event(device=self.device) if event is None else event
        mark.record(self)
        return mark

    def wait_stream(self, stream: streams.Stream) -> None:
        self.wait_event(streams.Stream.record_event(stream))


class Event(streams.Event):
    """A mark in a stream. One with `enable_timing` waits for the work before it when it is recorded, and keeps the time."""

    __slots__ = ("_time",)

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        if isinstance(device, bool):  # torch.cuda.Event(enable_timing)
            device, enable_timing = None, device
        super().__init__(_place(device))
        self._time: float | None = 0.0 if enable_timing else None

    def record(self, stream: Any = None) -> None:
        super().record(stream)
        if self._time is not None:
            self.synchronize()
            self._time = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another one."""
        if not self._time or not end_event._time:
            raise InvalidArgumentError("elapsed_time(): expected two recorded events with enable_timing=True")
        return (end_event._time - self._time) * 1e3


def stream(given: Any) -> Any:
    """The stream as a context manager, which makes it the current one; None changes nothing."""
    return contextlib.nullcontext() if given is None else given


StreamContext = stream


def _known(found: streams.Stream) -> Any:
    made = Stream.__new__(Stream)
    made._handle = found._handle
    return made


def current_stream(device: Any = None) -> Any:
    return _known(streams.current_stream(_place(device)))


def default_stream(device: Any = None) -> Any:
    return _known(streams.Stream.from_native(0, _place(device)))


def set_stream(stream: Any) -> None:
    """Makes a stream the current one of its device, from now on."""
    if stream is not None:
        stream.__enter__()


__all__ = ["Event", "Stream", "StreamContext", "current_stream", "default_stream", "set_stream", "stream"]
