# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams and events from Python. The CPU has one stream; tests/backend/cuda_on_host has tests with several."""

from __future__ import annotations

from typing import Any

import pytest

import tessera as ts
from tessera.streams import Event, Stream, current_stream


def test_stream_of_the_cpu_is_the_default_stream_and_always_done() -> None:
    """[R3]"""
    stream = Stream("cpu")
    assert stream.native == 0 and stream.device == ts.device("cpu") and stream.query()
    assert stream == current_stream("cpu") == Stream.from_native(0) and len({stream, current_stream()}) == 1
    assert stream != "cpu" and repr(stream) == "Stream(device=cpu, native=0x0)"
    with stream as entered:
        assert entered is stream
        x = ts.ones(3) * 2
    assert x.tolist() == [2, 2, 2]
    stream.synchronize()


def test_events_of_the_cpu_are_done() -> None:
    """[R3]"""
    stream = Stream("cpu")
    event = stream.record_event()
    assert isinstance(event, Event) and event.query() and stream.record_event(event) is event
    event.record()
    event.wait()
    event.wait(stream)
    event.synchronize()
    stream.wait_event(event)
    stream.wait_stream(current_stream())


def test_memory_of_a_tensor_is_recorded_on_a_stream() -> None:
    """[R6]"""
    x = ts.ones(3)
    x.record_stream(Stream("cpu"))
    assert x.tolist() == [1, 1, 1]


def test_current_stream_comes_back_after_an_error() -> None:
    before = current_stream()
    with pytest.raises(ValueError, match="stop"), Stream("cpu"), Stream("cpu"):
        raise ValueError("stop")
    assert current_stream() == before


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Stream("cpu:7"), ts.DeviceError),
        (lambda: Event("no device"), ts.DeviceError),
        (lambda: Stream.from_native(8, "cpu"), ts.DeviceError),
        (lambda: Stream("cpu").wait_event(Stream("cpu")), ts.ArgumentTypeError),  # type: ignore[arg-type]
        (lambda: Stream("cpu").wait_stream("cpu"), ts.ArgumentTypeError),  # type: ignore[arg-type]
        (lambda: Event("cpu").record("cpu"), ts.ArgumentTypeError),  # type: ignore[arg-type]
        (lambda: ts.ones(1).record_stream("cpu"), ts.ArgumentTypeError),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_typed_errors(call: Any, error: type[BaseException]) -> None:
    with pytest.raises(error):
        call()
