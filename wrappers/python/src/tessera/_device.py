# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Devices: a type and an index."""

from __future__ import annotations

import threading
from typing import Any, Final

from ._constants import DEVICE_CPU, DEVICE_CUDA, DEVICE_SIMULATED
from ._core import DeviceBase
from ._dtypes import DType
from ._errors import ArgumentTypeError, DeviceError
from .capi import check, ffi, lib, out

TYPES: Final = {"cpu": DEVICE_CPU, "cuda": DEVICE_CUDA, "simulated": DEVICE_SIMULATED}
_NAMES: Final = {v: k for k, v in TYPES.items()}


class Device(DeviceBase):
    """The device of a tensor's memory: Device("cpu"), Device("cuda:1"), Device("cuda", 1), Device(1), which is one of CUDA.

    As a context manager it is the thread's default device during the block.
    """

    __slots__ = ("_number", "type")

    def __init__(
        self, name: Device | str | int | None = None, index: int | None = None, *, type: str | None = None, device: Any = None
    ) -> None:
        given: Any = next((one for one in (name, type, device) if one is not None), None)
        if index is None and isinstance(given, Device):
            given, index = given.type, given._number
        if index is None and isinstance(given, int) and not isinstance(given, bool):
            given, index = "cuda", given
        if not isinstance(given, str):
            raise ArgumentTypeError(f"expected a device, its name, or its number, got {given.__class__.__name__}")
        if index is not None and index < 0:
            raise DeviceError(f"index: expected a number of a device from 0, got {index}")
        kind, _, number = given.partition(":")
        if kind not in TYPES or (number and (index is not None or not number.isdigit())):
            raise DeviceError(f"expected a device such as 'cpu' or 'cuda:0', got {given!r}")
        self.type: str = kind
        self._number: int = int(number) if number else (index or 0)

    @property
    def index(self) -> int | None:
        """The number of the device among those of its type; None for the CPU, which is the only one."""
        return None if self.type == "cpu" else self._number

    def __repr__(self) -> str:
        if DType.prefix != "torch":
            return f"device('{self}')"
        return f"device(type='{self.type}'{'' if self.type == 'cpu' else f', index={self.index}'})"

    def __str__(self) -> str:
        return self.type if self.type == "cpu" else f"{self.type}:{self.index}"

    def _same(self, other: object) -> bool:
        """Equality with an object that is not the same one."""
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, Device) and (self.type, self._number) == (other.type, other._number)

    def __hash__(self) -> int:
        return hash((self.type, self._number))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Device, (self.type, self._number))

    def __enter__(self) -> Device:
        before = set_default_device(self)
        _outside().append(before)
        return self

    def __exit__(self, *exception: object) -> None:
        set_default_device(_outside().pop())

    @property
    def code(self) -> int:
        """The device type as the C ABI and DLPack number it."""
        return TYPES[self.type]


CPU: Final[Device] = Device("cpu")


def make_device(code: int, index: int) -> Device:
    return CPU if code == DEVICE_CPU else Device(_NAMES[code], index)


def device_of(given: Any) -> Device:
    """A device from a Device or a name."""
    if isinstance(given, Device):
        return given
    if isinstance(given, str):
        return Device(given)
    raise ArgumentTypeError(f"expected a device or its name, got {type(given).__name__}")


def device_pair(given: Any) -> tuple[int, int]:
    device = device_of(given)
    return device.code, device._number


def get_default_device() -> Device:
    """The device on which this thread makes tensors if no device is given."""
    kind, index = ffi.new("tsr_device_type*"), ffi.new("int32_t*")
    check(lib.tsr_device_default(kind, index))
    return make_device(kind[0], index[0])


def set_default_device(device: Device | str) -> Device:
    """Sets the device on which this thread makes tensors if no device is given; returns the former one."""
    kind, index = ffi.new("tsr_device_type*"), ffi.new("int32_t*")
    check(lib.tsr_device_set_default(*device_pair(device), kind, index))
    return make_device(kind[0], index[0])


_thread = threading.local()


def _outside() -> list[Device]:
    """The default devices outside the blocks that this thread is in."""
    if not hasattr(_thread, "devices"):
        _thread.devices = []
    devices: list[Device] = _thread.devices
    return devices


def device_count(kind: str = "cpu") -> int:
    """The number of usable devices of a type."""
    if not isinstance(kind, str) or kind not in TYPES:
        raise DeviceError(f"expected a type of device, one of {', '.join(TYPES)}, got {kind!r}")
    return int(out("int32_t", lib.tsr_device_count, TYPES[kind]))


def synchronize(device: Device | str = CPU) -> None:
    """Waits for all work queued on a device and raises its failures."""
    check(lib.tsr_device_synchronize(*device_pair(device)))
