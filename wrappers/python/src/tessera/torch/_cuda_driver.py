# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What programs ask of a CUDA device itself, by the driver's library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._errors import BackendError

_MAJOR, _MINOR, _PROCESSORS, _WARP = 75, 76, 16, 10  # CU_DEVICE_ATTRIBUTE_...


@dataclass(frozen=True)
class Properties:
    """The properties of a device."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int


def _library() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _called(function: Callable[..., int], *args: Any) -> None:
    status = function(*args)
    if status != 0:
        raise BackendError(f"{getattr(function, '__name__', 'the driver')}: the CUDA driver's error {status}")


def properties(index: int) -> Properties:
    driver, device = _library(), ctypes.c_int()
    _called(driver.cuInit, 0)
    _called(driver.cuDeviceGet, ctypes.byref(device), index)
    name, total = ctypes.create_string_buffer(256), ctypes.c_size_t()
    _called(driver.cuDeviceGetName, name, len(name), device)
    _called(driver.cuDeviceTotalMem_v2, ctypes.byref(total), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        _called(driver.cuDeviceGetAttribute, ctypes.byref(value), number, device)
        return value.value

    numbers = [attribute(number) for number in (_PROCESSORS, _WARP)]
    return Properties(name.value.decode(), attribute(_MAJOR), attribute(_MINOR), total.value, *numbers)


def free_and_total() -> tuple[int, int]:
    """Bytes of the device whose context this thread has."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    _called(_library().cuMemGetInfo_v2, ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


__all__ = ["Properties", "free_and_total", "properties"]
