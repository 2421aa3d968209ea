# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _device, _random, _shared, memory as _memory
from .._device import Device
from .._errors import OutOfMemoryError
from .._random import default_generator
from . import _cuda_amp as amp
from . import _cuda_driver as _driver
from . import _nvtx as nvtx
from . import random as _rng
from ._adapters import only as _only
from ._cuda_streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream
from ._namespace import lookup
from ._tensor import TYPES_OF_CUDA as _TYPES

__all__ = [
    "Event", "OutOfMemoryError", "Stream", "StreamContext", "amp", "can_device_access_peer", "current_device", "current_stream",
    "default_stream", "device", "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "get_rng_state", "get_rng_state_all", "get_sync_debug_mode", "init", "initial_seed", "ipc_collect",
    "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory",
    "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats", "memory_summary", "nvtx",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "set_sync_debug_mode", "stream",
    "synchronize",
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
    return default._number if default.type == "cuda" else 0


def device(given: Any) -> Device:
    """The device as a context manager, which makes it the default one."""
    return _place(given)


def set_device(given: Any) -> None:
    _device.set_default_device(_place(given))


def synchronize(device: Any = None) -> None:
    _device.synchronize(_place(device))


def manual_seed(seed: int) -> None:
    """Seeds the default generator, from which all devices draw; without CUDA nothing."""
    if is_available():
        _random.manual_seed(seed)


def seed() -> None:
    if is_available():
        default_generator.seed()


manual_seed_all, seed_all = manual_seed, seed


def initial_seed() -> int:
    return _random.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of the default generator, from which all devices draw."""
    return _rng.get_rng_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    if is_available():
        _rng.set_rng_state(new_state)


def get_rng_state_all() -> list[Any]:
    return [get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    for state in new_states:
        set_rng_state(state)


# ---- devices ----


def init() -> None:
    """Nothing: CUDA begins with the first device that is used."""


def get_device_properties(device: Any = None) -> Any:
    return _driver.properties(_place(device)._number)


def get_device_name(device: Any = None) -> str:
    return str(get_device_properties(device).name)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    found = get_device_properties(device)
    return found.major, found.minor


def is_tf32_supported() -> bool:
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list() -> list[str]:
    """The architectures of the present devices, for which the plugin has code."""
    return sorted({"sm_{}{}".format(*get_device_capability(index)) for index in range(device_count())})


def is_current_stream_capturing() -> bool:
    return False


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """False: tensors go from device to device through the host."""
    return False


def device_of(obj: Any) -> Any:
    """The device of a tensor as a context manager; that of a tensor on the CPU changes nothing."""
    return obj.device if obj.device.type == "cuda" else contextlib.nullcontext()


def get_sync_debug_mode() -> int:
    return 0


def set_sync_debug_mode(debug_mode: Any) -> None:
    """Refuses to watch for synchronizations, which the library does not count."""
    _only(debug_mode in (0, "default"), True, f"torch.cuda.set_sync_debug_mode({debug_mode!r})")


# ---- memory ----


def empty_cache() -> None:
    if is_available():
        _memory.empty_cache(_place(None))


def memory_allocated(device: Any = None) -> int:
    return _memory.memory_allocated(_place(device)) if is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    return _memory.max_memory_allocated(_place(device)) if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    return _memory.memory_reserved(_place(device)) if is_available() else 0


def max_memory_reserved(device: Any = None) -> int:
    return _memory.memory_stats(_place(device))["reserved_bytes.all.peak"] if is_available() else 0


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and all bytes of the device."""
    synchronize(device)
    return _driver.free_and_total()


def memory_snapshot(*_: Any) -> Any:
    return _memory.memory_snapshot(_place(None)) if is_available() else []


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The counters of the allocator, one in a line."""
    counters = _memory.memory_stats(_place(device)) if is_available() else {}
    lines = [f"| {name:<48} | {value:>20} |" for name, value in sorted(counters.items())]
    return "\n".join(["|" + "=" * 73 + "|", *lines, "|" + "=" * 73 + "|"])


def reset_peak_memory_stats(device: Any = None) -> None:
    if is_available():
        _memory.reset_peak_memory_stats(_place(device))


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def ipc_collect() -> None:
    """Gives up memory that was sent to other processes and that none of them uses any more."""
    _shared.ipc_collect()


from . import _cuda_memory as memory  # noqa: E402  (it uses what stands above)

memory_stats, set_per_process_memory_fraction = memory.memory_stats, memory.set_per_process_memory_fraction

globals().update(_TYPES)
__all__ += sorted(_TYPES)
__getattr__, __dir__ = lookup(
    __name__, {name: globals()[name] for name in __all__}, lambda name: is_initialized() if name == "_initialized" else None
)
