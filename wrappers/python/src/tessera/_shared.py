# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors in memory that several processes map: the functions of share.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._constants import (
    SHARE_FILE_DESCRIPTOR,
    SHARE_FILE_SYSTEM,
    SHARE_RECYCLED,
    SHARED_IN_TRANSIT,
    SHARED_NOT_SENT_ON,
    SHARED_RECYCLED,
)
from ._dtypes import DType
from ._errors import InvalidValueError
from .capi import check, ffi, handle, lib, made, out, text

if TYPE_CHECKING:
    from ._tensor import Tensor

STRATEGIES = {"file_descriptor": SHARE_FILE_DESCRIPTOR, "file_system": SHARE_FILE_SYSTEM}
strategy = "file_descriptor"  # of this process, see multiprocessing.set_sharing_strategy


class Handle(NamedTuple):
    """What another process needs to open the storage of a tensor; one of file and name is there."""

    file: int  # borrowed from the tensor, or -1
    name: str | None
    nbytes: int
    recycled: bool = False  # goes back to its maker when the receiver has released it


def known(name: str) -> str:
    if name not in STRATEGIES:
        raise InvalidValueError(f"sharing strategy: expected one of {', '.join(STRATEGIES)}, got {name!r}")
    return name


def _strategy(recycled: bool) -> int:
    return SHARE_RECYCLED if recycled and strategy == "file_descriptor" else STRATEGIES[strategy]


def share(tensor: Tensor, recycled: bool = False) -> None:
    """Moves the storage of a tensor to shared memory, with all its views."""
    check(lib.tsr_storage_share(handle(tensor), _strategy(recycled)))


def is_shared(tensor: Tensor) -> bool:
    return bool(out("int32_t", lib.tsr_tensor_is_shared, handle(tensor)))


def empty_shared(shape: Sequence[int], dtype: DType, recycled: bool = False) -> Any:
    """A new tensor in shared memory. With recycled the memory may have been another tensor's that all have released."""
    return made("tsr_tensor", lib.tsr_empty_shared, list(shape), len(shape), dtype.bits, _strategy(recycled))


def exported(tensor: Tensor, in_transit: bool = False) -> Handle:
    """The handle of shared memory. With in_transit a name, or recycled memory, counts as a user until opened() gets it
    with in_transit."""
    found = ffi.new("tsr_shared_handle*", {"struct_size": ffi.sizeof("tsr_shared_handle")})
    check(lib.tsr_storage_shared_handle(handle(tensor), SHARED_IN_TRANSIT if in_transit else 0, found))
    name = None if found.name == ffi.NULL else ffi.string(found.name).decode()
    return Handle(found.fd, name, found.nbytes, bool(found.flags & SHARED_RECYCLED))


def opened(
    given: Handle, offset: int, shape: Sequence[int], strides: Sequence[int], dtype: DType, in_transit: bool = False,
    sent_on: bool = True,
) -> Any:
    """A tensor on shared memory; offset and strides are in elements. Memory that is not sent on needs no descriptor."""
    name = ffi.NULL if given.name is None else ffi.new("char[]", given.name.encode())
    value = ffi.new("tsr_shared_handle*", {"struct_size": ffi.sizeof("tsr_shared_handle")})
    value.fd, value.nbytes, value.name = given.file, given.nbytes, name
    value.flags = (SHARED_IN_TRANSIT if in_transit else 0) | (0 if sent_on else SHARED_NOT_SENT_ON)
    if given.recycled:
        value.flags |= SHARED_RECYCLED
    return made(
        "tsr_tensor", lib.tsr_tensor_from_shared, value, offset, list(shape), len(shape), list(strides), len(strides),
        dtype.bits,
    )  # fmt: skip


def counts() -> dict[str, int]:
    """How much shared memory this process has mapped: blocks, nbytes, and descriptors that are kept open."""
    value = ffi.new("tsr_shared_counts*", {"struct_size": ffi.sizeof("tsr_shared_counts")})
    check(lib.tsr_shared_memory_counts(value))
    return {"blocks": value.blocks, "nbytes": value.nbytes, "descriptors": value.descriptors}


# ---- Memory of devices ----


def ipc_export(tensor: Tensor) -> bytes:
    """What one other process needs to open the memory of a tensor on a device, once."""
    buffer = ffi.gc(out("tsr_buffer", lib.tsr_ipc_export, handle(tensor)), lib.tsr_buffer_release)
    return text(lib.tsr_buffer_data, buffer).encode()


def ipc_open(given: bytes, offset: int, shape: Sequence[int], strides: Sequence[int], dtype: DType) -> Any:
    return made(
        "tsr_tensor", lib.tsr_ipc_open, given, len(given), offset, list(shape), len(shape), list(strides), len(strides),
        dtype.bits,
    )  # fmt: skip


def ipc_collect() -> int:
    return int(out("int64_t", lib.tsr_ipc_collect))
