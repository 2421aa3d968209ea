# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the library: statistics, limits, caches, live objects."""

from __future__ import annotations

from typing import Any

from ._device import CPU, Device, device_pair
from .capi import check, document, lib, out


def memory_stats(device: Device | str = CPU) -> dict[str, int]:
    """Counters of the allocator, under keys such as "allocated_bytes.all.peak"."""
    found: dict[str, int] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else key, inner)
        else:
            found[prefix] = value

    walk("", document(lib.tsr_memory_stats_json, *device_pair(device)))
    return found


def memory_snapshot(device: Device | str = CPU) -> Any:
    """Every segment and block of the allocator."""
    return document(lib.tsr_memory_snapshot, *device_pair(device))


def memory_allocated(device: Device | str = CPU) -> int:
    """The bytes in use by live tensors."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Device | str = CPU) -> int:
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Device | str = CPU) -> int:
    """The bytes that the allocator has taken from the system, in use or cached."""
    return memory_stats(device)["reserved_bytes.all.current"]


def reset_peak_memory_stats(device: Device | str = CPU) -> None:
    check(lib.tsr_memory_reset_peak(*device_pair(device)))


def empty_cache(device: Device | str = CPU) -> int:
    """Returns all cached memory to the system; the result is the number of bytes."""
    return int(out("int64_t", lib.tsr_memory_empty_cache, *device_pair(device)))


def trim(keep: int, device: Device | str = CPU) -> int:
    """Returns cached memory to the system until at most `keep` bytes are cached."""
    return int(out("int64_t", lib.tsr_memory_trim, *device_pair(device), keep))


def memory_limit(device: Device | str = CPU) -> int:
    return int(out("int64_t", lib.tsr_memory_limit, *device_pair(device)))


def set_memory_limit(nbytes: int, device: Device | str = CPU) -> None:
    check(lib.tsr_memory_set_limit(*device_pair(device), nbytes))


def live_handles() -> int:
    """The number of live objects of the library; for tests of leaks."""
    return int(lib.tsr_live_handles())


def live_nodes() -> int:
    """The number of live nodes of autograd graphs."""
    return int(lib.tsr_live_nodes())
