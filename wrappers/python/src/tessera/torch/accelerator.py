# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.accelerator: CUDA, where there is a device."""

from __future__ import annotations

from .._device import Device
from . import cuda as _cuda
from ._namespace import lookup

__all__ = ["current_accelerator", "current_device_index", "device_count", "is_available", "synchronize"]

current_device_index, device_count, is_available = _cuda.current_device, _cuda.device_count, _cuda.is_available


def current_accelerator(check_available: bool = False) -> Device | None:
    return Device("cuda") if is_available() else None


def synchronize(device: object = None) -> None:
    if is_available():
        _cuda.synchronize(device)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
