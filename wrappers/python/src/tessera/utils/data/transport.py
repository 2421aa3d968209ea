# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects from workers: the elements of tensors and arrays through shared memory, the rest through a pipe.

A tensor's memory is mapped by both processes, and only its handle is sent; what collate builds in shared memory is
never copied. A worker fills the memory of a tensor again when the loader's process has released it. The elements of
arrays are written to an anonymous file. The system frees both when the last process that has them is gone, however that
process ended. If there is no such memory, or no more of it, everything goes through the pipe.
"""

from __future__ import annotations

import ctypes
import errno
import io
import mmap
import os
import pickle
import socket
import threading
import weakref
from multiprocessing import reduction
from typing import Any

from ... import _shared
from ..._core import TensorBase
from ..._dtypes import dtype_of
from ..._errors import TesseraError
from ...nn.parameter import Parameter

SHARED_FROM = 1 << 16  # bytes; below, a pipe is faster
_ALIGNMENT = 64
_FILES_AT_ONCE = 200  # the system takes 253


class Message:
    """The pickle of an object, its buffers or their places in a file of their own, and the files of the tensors, which
    the message keeps alive."""

    def __init__(self, value: Any, recycled: bool = False) -> None:
        self.recycled = recycled  # whether memory that the receiver has released may be filled again
        self.tensors: list[Any] = []
        self.files: list[int] = []
        self.places: list[tuple[int, int]] = []
        self.own = -1  # the file of the buffers
        buffers: list[pickle.PickleBuffer] = []
        self.data = _dumped(self, value, buffers.append)
        raw = [b.raw() for b in buffers]
        if sum(r.nbytes for r in raw) >= SHARED_FROM and hasattr(os, "memfd_create"):
            end = 0
            for r in raw:
                self.places.append((end, r.nbytes))
                end = -(-(end + r.nbytes) // _ALIGNMENT) * _ALIGNMENT
            try:
                self.own = _filled(raw, self.places, end)
            except OSError:
                self.places = []  # no memory to share
        self.small = [] if self.own >= 0 else [bytes(r) for r in raw]

    def close(self) -> None:
        if self.own >= 0:
            os.close(self.own)
        self.own, self.files, self.tensors = -1, [], []


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any, message: Message, take_buffer: Any) -> None:
        super().__init__(file, 5, buffer_callback=take_buffer)
        self._message = message

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, TensorBase):
            return NotImplemented
        tensor: Any = obj
        if tensor.nbytes < SHARED_FROM or tensor.requires_grad or tensor.device.type != "cpu":
            return NotImplemented
        try:
            _shared.share(tensor, self._message.recycled)
            given = _shared.exported(tensor, in_transit=True)
        except TesseraError:  # no memory to share
            return NotImplemented
        place: Any = given.name
        if place is None:
            place = len(self._message.files)
            self._message.files.append(given.file)
            self._message.tensors.append(tensor)
        layout = (int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor._strides), tensor.dtype.name)
        return _opened, (type(tensor), place, given.nbytes, given.recycled, layout)


def _dumped(message: Message, value: Any, take_buffer: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file, message, take_buffer).dump(value)
    return file.getvalue()


class _Arriving(threading.local):
    """The files of the message that this thread unpickles; several loaders may run, each on a thread."""

    files: list[int] = []


_arriving = _Arriving()


def _opened(kind: Any, place: int | str, nbytes: int, recycled: bool, layout: tuple[int, Any, Any, str]) -> Any:
    offset, shape, strides, dtype = layout
    if isinstance(place, str):
        given = _shared.Handle(-1, place, nbytes)
    else:
        given = _shared.Handle(_arriving.files[place], None, nbytes, recycled)
    counted = recycled or given.name is not None
    plain = _shared.opened(given, offset, shape, strides, dtype_of(dtype), in_transit=counted, sent_on=False)
    return kind(plain, False) if issubclass(kind, Parameter) else kind(plain)


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
    """Sends a message and closes it."""
    try:
        files = ([message.own] if message.own >= 0 else []) + message.files
        pipe.send_bytes(pickle.dumps((message.data, message.small, message.places, len(files)), 5))
        if files:
            with socket.socket(fileno=os.dup(pipe.fileno())) as connection:
                for start in range(0, len(files), _FILES_AT_ONCE):
                    reduction.sendfds(connection, files[start : start + _FILES_AT_ONCE])
    finally:
        message.close()


def receive(pipe: Any) -> Any:
    """Receives an object; its tensors and arrays use the shared memory directly."""
    data, small, places, count = pickle.loads(pipe.recv_bytes())
    files = _received(pipe, count) if count else []
    try:
        buffers: list[Any] = [bytearray(part) for part in small]
        if places:
            memory = _mapped(files[0])
            buffers = [memory[start : start + size] for start, size in places]
        _arriving.files = files[1:] if places else files
        return pickle.loads(data, buffers=buffers)
    finally:
        _arriving.files = []
        for file in files:
            os.close(file)


def _received(pipe: Any, count: int) -> list[int]:
    files: list[int] = []
    try:
        with socket.socket(fileno=os.dup(pipe.fileno())) as connection:
            while len(files) < count:
                wanted = min(count - len(files), _FILES_AT_ONCE)
                # A program that another thread starts meanwhile must not inherit them.
                message, found, _, _ = socket.recv_fds(connection, 1, wanted, socket.MSG_CMSG_CLOEXEC)
                files += found
                if not message:
                    raise EOFError("the worker is gone")
                if len(found) < wanted:  # the system drops what the process has no numbers for
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    except BaseException:
        for file in files:
            os.close(file)
        raise
    return files


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
