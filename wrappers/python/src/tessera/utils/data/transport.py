# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects between processes: the elements of tensors and arrays through shared memory, the rest through a pipe.

Shared memory is an anonymous file that is sent with the message: the system frees it when the last process that has it
is gone, however that process ended. If there is no such memory, or no more of it, everything goes through the pipe.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import weakref
from multiprocessing import reduction
from typing import Any, NamedTuple

_SHARED_FROM = 1 << 16  # bytes; below, a pipe is faster
_ALIGNMENT = 64


class Message(NamedTuple):
    """The pickle of an object, the positions of its buffers, and the file that holds them, or -1."""

    data: bytes
    places: list[tuple[int, int]]
    file: int


def pack(value: Any) -> Message:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, 5, buffer_callback=buffers.append)
    if not buffers:
        return Message(data, [], -1)
    raw = [b.raw() for b in buffers]
    if sum(r.nbytes for r in raw) >= _SHARED_FROM and hasattr(os, "memfd_create"):
        places, end = [], 0
        for r in raw:
            places.append((end, r.nbytes))
            end = -(-(end + r.nbytes) // _ALIGNMENT) * _ALIGNMENT
        try:
            return Message(data, places, _filled(raw, places, end))
        except OSError:
            pass  # no memory to share
    return Message(pickle.dumps(value, 5), [], -1)


def _filled(raw: list[memoryview], places: list[tuple[int, int]], size: int) -> int:
    """A new anonymous file that holds the buffers."""
    file = os.memfd_create("tessera-batch", os.MFD_CLOEXEC)
    try:
        os.ftruncate(file, size)
        for r, (start, _) in zip(raw, places):
            done = 0
            while done < r.nbytes:
                done += os.pwrite(file, r[done:], start + done)
    except BaseException:
        os.close(file)
        raise
    return file


def send(pipe: Any, message: Message) -> None:
    """Sends a message; takes over its file."""
    try:
        pipe.send_bytes(pickle.dumps((message.data, message.places, message.file >= 0), 5))
        if message.file >= 0:
            reduction.send_handle(pipe, message.file, None)
    finally:
        if message.file >= 0:
            os.close(message.file)


def receive(pipe: Any) -> Any:
    """Receives an object; its tensors and arrays use the shared memory directly."""
    data, places, shared = pickle.loads(pipe.recv_bytes())
    if not shared:
        return pickle.loads(data)
    file = reduction.recv_handle(pipe)
    try:
        memory = _mapped(file)
    finally:
        os.close(file)
    return pickle.loads(data, buffers=[memory[start : start + size] for start, size in places])


def _mapped(file: int) -> memoryview:
    """The file's memory, mapped as long as it is used. The module mmap is not used, because its objects keep the file
    open, and a process cannot have many open files."""
    size = os.fstat(file).st_size
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "a batch could not be mapped")
    block = (ctypes.c_char * size).from_address(address)
    weakref.finalize(block, library.munmap, ctypes.c_void_p(address), ctypes.c_size_t(size)).atexit = False
    return memoryview(block).cast("B")
