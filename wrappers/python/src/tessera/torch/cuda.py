# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda."""

from __future__ import annotations

from typing import Any

from .. import _device, _random, _shared, memory as _memory
from .._device import Device
from . import _cuda_amp as amp
from ._namespace import lookup

__all__ = [
    "amp", "device", "device_count", "empty_cache", "current_device", "ipc_collect", "is_available", "is_bf16_supported",
    "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "memory", "memory_allocated", "memory_reserved",
    "memory_stats", "reset_peak_memory_stats", "set_device", "set_per_process_memory_fraction", "synchronize",
]  # fmt: skip


def device_count() -> int:
    try:
        return _device.device_count("cuda")
    except Exception:  # without the plugin there is no CUDA at all
        return 0


def is_available() -> bool:
    return device_count() > 0


def is_initialized() -> bool:
    return is_available()


def is_bf16_supported() -> bool:
    return is_available()


def _place(given: Any) -> Device:
    if given is None:
        return Device("cuda", current_device())
    return Device("cuda", given) if isinstance(given, int) else _device.device_of(given)


def current_device() -> int:
    default = _device.get_default_device()
    return default.index if default.type == "cuda" else 0


def device(given: Any) -> Device:
    """The device as a context manager, which makes it the default one."""
    return _place(given)


def set_device(given: Any) -> None:
    _device.set_default_device(_place(given))


def synchronize(device: Any = None) -> None:
    _device.synchronize(_place(device))


def manual_seed(seed: int) -> None:
    _random.manual_seed(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    if is_available():
        _memory.empty_cache(_place(None))


def memory_allocated(device: Any = None) -> int:
    return _memory.memory_allocated(_place(device)) if is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    return _memory.max_memory_allocated(_place(device)) if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    return _memory.memory_reserved(_place(device)) if is_available() else 0


def reset_peak_memory_stats(device: Any = None) -> None:
    if is_available():
        _memory.reset_peak_memory_stats(_place(device))


def ipc_collect() -> None:
    """Gives up memory that was sent to other processes and that none of them uses any more."""
    _shared.ipc_collect()


from . import _cuda_memory as memory  # noqa: E402  (it uses what stands above)

memory_stats, set_per_process_memory_fraction = memory.memory_stats, memory.set_per_process_memory_fraction

__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
