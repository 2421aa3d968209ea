# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Pressure callbacks run on the thread that called the library, also where its own threads need memory."""

from __future__ import annotations

import threading

import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera.capi import check, ffi, lib


@pytest.fixture
def two_threads():  # type: ignore[no-untyped-def]
    before = ts.get_num_threads()
    ts.set_num_threads(2)
    yield
    ts.set_num_threads(before)


def test_pressure_callbacks_never_run_on_the_librarys_threads(two_threads: None) -> None:
    met: list[int] = []

    @ffi.callback("int32_t(void*, const tsr_memory_event*)")
    def note(user: object, event: object) -> int:
        met.append(threading.get_ident())
        return 0

    threshold, number = ffi.new("int64_t*"), ffi.new("int64_t*")
    check(lib.tsr_memory_pressure_threshold(lib.TSR_DEVICE_CPU, 0, threshold))
    check(lib.tsr_memory_pressure_add(lib.TSR_DEVICE_CPU, 0, note, ffi.NULL, ffi.NULL, number))
    check(lib.tsr_memory_pressure_threshold_set(lib.TSR_DEVICE_CPU, 0, 1))
    try:
        for _ in range(10):  # each part of the work needs memory for its long rows
            F.interpolate(ts.rand((16, 1, 2, 1000)), size=(4, 100_000), mode="bilinear")
            ts.memory.empty_cache("cpu")
    finally:
        check(lib.tsr_memory_pressure_threshold_set(lib.TSR_DEVICE_CPU, 0, threshold[0]))
        check(lib.tsr_memory_pressure_remove(number[0]))
    assert met and set(met) == {threading.get_ident()}
