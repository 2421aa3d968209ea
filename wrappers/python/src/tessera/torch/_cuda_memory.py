# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.memory: statistics and recordings; without CUDA, recordings are those of the CPU."""

from __future__ import annotations

import json
import os
from typing import Any

from .. import memory
from .._device import CPU, Device
from . import cuda as _cuda
from ._namespace import lookup

__all__ = [
    "CUDAPluggableAllocator", "_dump_snapshot", "_record_memory_history", "_snapshot", "change_current_allocator",
    "empty_cache", "max_memory_allocated", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_peak_memory_stats", "set_per_process_memory_fraction",
]  # fmt: skip

_MOST = 1 << 20  # PyTorch's default is all that fits; here the ring is made at the start
_FRAMES = 64

empty_cache, memory_allocated, max_memory_allocated = _cuda.empty_cache, _cuda.memory_allocated, _cuda.max_memory_allocated
memory_reserved, reset_peak_memory_stats = _cuda.memory_reserved, _cuda.reset_peak_memory_stats


def _place(device: Any) -> Device:
    return _cuda._place(device) if _cuda.is_available() else CPU


def _record_memory_history(
    enabled: Any = "all", context: str | None = "all", stacks: str = "all", max_entries: int = _MOST,
    device: Any = None, **unused: Any
) -> None:  # fmt: skip
    """Records the allocations of the device; enabled=None ends it. The stacks are Python's, also with stacks="all"."""
    if enabled is None or enabled is False:
        return memory.stop_history(_place(device))
    frames = _FRAMES if context is not None else 0
    memory.record_history(_place(device), entries=min(max_entries, _MOST), stacks=frames)
    return None


def _snapshot(device: Any = None) -> Any:
    return memory.snapshot(_place(device))


def _dump_snapshot(filename: str | os.PathLike[str] = "dump_snapshot.json") -> None:
    """Writes the snapshot as JSON, where PyTorch writes a pickle; memory.viewer(page, snapshot=json.load(...)) shows it."""
    with open(filename, "w", encoding="utf-8") as file:
        json.dump(_snapshot(), file)


CUDAPluggableAllocator = memory.PluggableAllocator


def change_current_allocator(allocator: memory.PluggableAllocator) -> None:
    memory.change_allocator(allocator, _place(None))


def memory_stats(device: Any = None) -> dict[str, int]:
    return memory.memory_stats(_place(device))


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    memory.set_memory_fraction(fraction, _place(device))


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
