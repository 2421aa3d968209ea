# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the library: statistics, limits, caches, live objects, and who holds how much."""

from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._core import plug_allocator
from ._device import CPU, Device, device_of, device_pair
from ._errors import InvalidValueError
from .capi import check, document, ffi, lib, out, text

_NO_BOUND = (1 << 63) - 1


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


def set_memory_fraction(fraction: float, device: Device | str = CPU) -> None:
    """Limits the memory that the library may hold to a fraction of the device's."""
    check(lib.tsr_memory_set_limit_fraction(*device_pair(device), fraction))


def _settings(device: Device | str) -> Any:
    found = ffi.new("tsr_memory_settings*", {"struct_size": ffi.sizeof("tsr_memory_settings")})
    check(lib.tsr_memory_settings_get(*device_pair(device), found))
    return found


def allocator_settings(device: Device | str = CPU) -> dict[str, Any]:
    """How the allocator of the device keeps memory."""
    found = _settings(device)
    return {
        "max_split_size": None if found.max_split_size == _NO_BOUND else found.max_split_size,
        "max_non_split_rounding": found.max_non_split_rounding,
        "garbage_collection_threshold": found.garbage_collection_threshold,
        "roundup_power2_divisions": found.roundup_power2_divisions,
        "expandable_segments": bool(found.expandable_segments),
    }


def set_allocator_settings(device: Device | str = CPU, **settings: Any) -> None:
    """Changes settings of the allocator; those that are not given stay.

    max_split_size: blocks of at least this many bytes are not split and serve no smaller requests; None for no such size.
    It only changes while no memory is in use.
    max_non_split_rounding: such a block may be larger than a request by less than this.
    garbage_collection_threshold: above this fraction of the limit, what was unused for longest is returned; 0 for never.
    roundup_power2_divisions: sizes are rounded to this many steps per power of two; 0 for no.
    expandable_segments: segments grow in place; only on devices that can map memory.
    """
    given = _settings(device)
    known = allocator_settings(device)
    for name, value in settings.items():
        if name not in known:
            raise InvalidValueError(f"expected a setting of {', '.join(known)}, got {name!r}")
        setattr(given, name, _NO_BOUND if name == "max_split_size" and value is None else value)
    check(lib.tsr_memory_settings_set(*device_pair(device), given))


# ---- Allocators of the program ----


class PluggableAllocator:
    """PluggableAllocator(path, allocate, free): the allocator of a shared library, with PyTorch's signatures in C:

    void* allocate(ssize_t nbytes, int device, void* stream);
    void free(void* block, ssize_t nbytes, int device, void* stream);

    Blocks must be aligned to 64 bytes. The functions are called by any thread, without the interpreter's lock.
    """

    def __init__(self, path: str | os.PathLike[str], allocate: str, free: str) -> None:
        try:
            library = ctypes.CDLL(os.fspath(path))
            functions = getattr(library, allocate), getattr(library, free)
        except (OSError, AttributeError) as error:
            raise InvalidValueError(f"PluggableAllocator(): {error}") from None
        self._addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
        _LOADED.append(library)  # tensors may outlive this object


_LOADED: list[ctypes.CDLL] = []


def change_allocator(allocator: PluggableAllocator, device: Device | str = CPU) -> None:
    """Makes the allocator serve the device from now on. Earlier blocks return to the allocator they came from.

    No other thread may use the device meanwhile.
    """
    plug_allocator(*device_pair(device), *allocator._addresses)


def reset_allocator(device: Device | str = CPU) -> None:
    """Gives the device the library's own allocator back."""
    check(lib.tsr_memory_allocator_reset(*device_pair(device)))


# ---- Who holds the memory ----


@dataclass(frozen=True)
class Holder:
    """All blocks in use that one operation asked for at one place of the program."""

    operation: str  # the innermost operation, "" outside all
    path: str  # the operations around it, "backward > MulBackward0 > mul"
    bytes: int
    count: int
    largest: int  # the bytes of its largest block
    tensor: str  # what that block holds, "float32[64, 3, 7, 7]"; "" when it is no tensor
    stack: tuple[str, ...]  # "model.py:12 in Net.forward", innermost first


class record_history:  # noqa: N801
    """record_history(device="cpu", entries=100_000, stacks=32, operations=True): records the allocations of a device.

    It begins at once and ends with stop_history(); as a context manager, with the block. `entries` events are kept, the
    latest ones. `stacks` is the number of frames kept of the Python stack of each block, 0 for none. With `operations`,
    each block is noted with the operation that asked for it, its dtype and its shape. A recording makes calls slower, by
    some microseconds with stacks.

    with memory.record_history():
        train_step()
        memory.viewer("memory.html")
    """

    def __init__(
        self, device: Device | str = CPU, *, entries: int = 100_000, stacks: int = 32, operations: bool = True
    ) -> None:
        self.device = device_of(device)
        options = ffi.new("tsr_memory_history_options*", {"struct_size": ffi.sizeof("tsr_memory_history_options")})
        options.entries, options.stacks = entries, stacks
        options.context = lib.TSR_MEMORY_CONTEXT_OPERATIONS if operations else lib.TSR_MEMORY_CONTEXT_NONE
        check(lib.tsr_memory_history_start(*device_pair(self.device), options))

    def __enter__(self) -> record_history:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop_history(self.device)


def stop_history(device: Device | str = CPU) -> None:
    """Ends the recording, if any. Its events stay in snapshots; what is known of the blocks in use is dropped."""
    check(lib.tsr_memory_history_stop(*device_pair(device)))


def is_recording(device: Device | str = CPU) -> bool:
    """Whether the allocations of the device are recorded now."""
    return bool(out("int32_t", lib.tsr_memory_history_running, *device_pair(device)))


def snapshot(device: Device | str = CPU) -> Any:
    """Every segment and block of the allocator, and what was recorded, as dictionaries and lists.

    json.dump() writes it to a file, and viewer() shows it later.
    """
    return memory_snapshot(device)


def holders(count: int = 10, device: Device | str = CPU) -> list[Holder]:
    """Who holds the memory now, the largest first; needs a recording."""
    rows: list[dict[str, Any]] = document(lib.tsr_memory_holders, *device_pair(device), count)
    for row in rows:
        row["stack"] = tuple(row["stack"])
    return [Holder(**row) for row in rows]


def viewer(path: str | os.PathLike[str], device: Device | str = CPU, *, snapshot: Any = None) -> None:
    """Writes a page about the memory of the device, or about an earlier snapshot, for a browser; it needs no network."""
    if snapshot is None:
        buffer = out("tsr_buffer", lib.tsr_memory_viewer_html, *device_pair(device))
    else:
        given = json.dumps(snapshot).encode()
        buffer = out("tsr_buffer", lib.tsr_memory_viewer_page, given, len(given))
    page = text(lib.tsr_buffer_data, ffi.gc(buffer, lib.tsr_buffer_release))
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
