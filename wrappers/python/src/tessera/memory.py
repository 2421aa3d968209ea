# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the library: statistics, limits, caches, live objects."""

from __future__ import annotations

import json
from typing import Any

from ._core import ffi, lib
from ._device import CPU, Device, device_pair
from ._errors import check


def _json(function: Any, device: Device | str) -> Any:
    buffer = ffi.new("tsr_buffer*")
    check(function(*device_pair(device), buffer))
    try:
        data, size = ffi.new("const char**"), ffi.new("int64_t*")
        check(lib.tsr_buffer_data(buffer[0], data, size))
        return json.loads(ffi.unpack(data[0], size[0]))
    finally:
        lib.tsr_buffer_release(buffer[0])


def memory_stats(device: Device | str = CPU) -> dict[str, int]:
    """Counters of the allocator, under keys such as "allocated_bytes.all.peak"."""
    found: dict[str, int] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else key, inner)
        else:
            found[prefix] = value

    walk("", _json(lib.tsr_memory_stats_json, device))
    return found


def memory_snapshot(device: Device | str = CPU) -> Any:
    """Every segment and block of the allocator."""
    return _json(lib.tsr_memory_snapshot, device)


def memory_allocated(device: Device | str = CPU) -> int:
    """Bytes that live tensors hold."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Device | str = CPU) -> int:
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Device | str = CPU) -> int:
    """Bytes that the allocator holds, in use or cached."""
    return memory_stats(device)["reserved_bytes.all.current"]


def reset_peak_memory_stats(device: Device | str = CPU) -> None:
    check(lib.tsr_memory_reset_peak(*device_pair(device)))


def empty_cache(device: Device | str = CPU) -> int:
    """Gives all cached blocks back to the system; tells how many bytes."""
    freed = ffi.new("int64_t*")
    check(lib.tsr_memory_empty_cache(*device_pair(device), freed))
    return int(freed[0])


def trim(keep: int, device: Device | str = CPU) -> int:
    """Gives cached blocks back until at most `keep` bytes are cached."""
    freed = ffi.new("int64_t*")
    check(lib.tsr_memory_trim(*device_pair(device), keep, freed))
    return int(freed[0])


def memory_limit(device: Device | str = CPU) -> int:
    limit = ffi.new("int64_t*")
    check(lib.tsr_memory_limit(*device_pair(device), limit))
    return int(limit[0])


def set_memory_limit(nbytes: int, device: Device | str = CPU) -> None:
    check(lib.tsr_memory_set_limit(*device_pair(device), nbytes))


def live_handles() -> int:
    """How many objects of the library exist now; for tests of leaks."""
    return int(lib.tsr_live_handles())


def live_nodes() -> int:
    """How many nodes of autograd graphs exist now."""
    return int(lib.tsr_live_nodes())
