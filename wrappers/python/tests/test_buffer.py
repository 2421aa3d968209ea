# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The buffer protocol of tensors: formats, strides, lifetime of the memory, requests that must be refused."""

from __future__ import annotations

import ctypes
import gc
import struct
from typing import Any

import numpy as np
import pytest

import tessera as ts

FORMATS = {
    "bool_": "?", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "L", "int8": "b", "int16": "h", "int32": "i",
    "int64": "l", "float16": "e", "float32": "f", "float64": "d", "complex64": "Zf", "complex128": "Zd",
}  # fmt: skip

# Flags of a request, from CPython's object.h.
SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 0x1, 0x4, 0x8, 0x18
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x38, 0x58, 0x98
FULL = 0x11D


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


def requested(given: Any, flags: int) -> dict[str, Any]:
    """The result of one request of the protocol."""
    api = ctypes.pythonapi
    get, release = api.PyObject_GetBuffer, api.PyBuffer_Release
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    release.argtypes, release.restype = [ctypes.POINTER(Buffer)], None
    view = Buffer()
    get(given, ctypes.byref(view), flags)
    found = {
        "address": view.buf, "len": view.len, "itemsize": view.itemsize, "readonly": bool(view.readonly),
        "format": view.format, "shape": view.shape[: view.ndim] if view.shape else None,
        "strides": view.strides[: view.ndim] if view.strides else None,
    }  # fmt: skip
    release(ctypes.byref(view))
    return found


@pytest.mark.parametrize("dtype", FORMATS)
def test_memoryview_has_the_format_of_the_dtype(dtype: str) -> None:
    x = ts.ones((2, 3), dtype=getattr(ts, dtype))
    view = memoryview(x)
    assert (view.format, view.itemsize, view.shape) == (FORMATS[dtype], x.itemsize, (2, 3))
    assert (view.ndim, view.nbytes, view.readonly, view.c_contiguous) == (2, x.nbytes, False, True)
    array = np.asarray(view)
    assert array.dtype == x.dtype.numpy and array.dtype.name == x.dtype.name
    assert array.ctypes.data == x.data_ptr() and (array == 1).all()


def test_bfloat16_has_no_format() -> None:
    with pytest.raises(BufferError, match="bfloat16") as caught:
        memoryview(ts.ones(2, dtype=ts.bfloat16))
    assert isinstance(caught.value, ts.TesseraError)
    with pytest.raises(TypeError, match="bfloat16"):
        ts.ones(2, dtype=ts.bfloat16).numpy()


def test_writes_go_both_ways() -> None:
    x = ts.zeros(3)
    view = memoryview(x)
    view[1] = 2.5
    assert x.tolist() == [0, 2.5, 0]
    x[2] = 7
    assert view.tolist() == [0, 2.5, 7]
    struct.pack_into("f", x, 0, 4.0)
    assert x[0].item() == 4


def test_strides_are_those_of_the_tensor() -> None:
    x = ts.arange(24, dtype=ts.float32).reshape(4, 6)
    for one in (x.mT, x[:, ::2], x[1:3, 2:5], x[2], ts.from_numpy(x.numpy()[::-1, ::-2]), x[:1].expand(3, 6)):
        view = memoryview(one)
        assert view.strides == tuple(4 * s for s in one.stride()) and view.shape == one.shape
        assert view.tolist() == one.tolist() == np.asarray(one).tolist()
        assert np.asarray(one).ctypes.data == one.data_ptr()


def test_negative_strides_start_at_the_first_element() -> None:
    array = np.arange(6.0)[::-2]
    view = memoryview(ts.from_numpy(array))
    assert view.strides == (-16,) and view.tolist() == [5, 3, 1]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_shapes_without_or_with_one_element(shape: tuple[int, ...]) -> None:
    x = ts.ones(shape)
    view = memoryview(x)
    assert (view.shape, view.nbytes) == (shape, 4 * x.size) and view.tolist() == x.tolist()
    assert x.numpy().shape == np.asarray(x).shape == shape and x.numpy().dtype == np.float32


def test_read_only_memory_stays_read_only() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    view = memoryview(x)
    assert view.readonly and not x.numpy().flags.writeable
    with pytest.raises(TypeError):
        view[0] = 2
    with pytest.raises(BufferError, match="read-only"):
        requested(x, WRITABLE)
    with pytest.raises((BufferError, TypeError)):
        struct.pack_into("d", x, 0, 1.0)


def test_tensors_that_require_grad_are_refused() -> None:
    x = ts.ones(3).requires_grad_()
    for one in (x, x * 2, x[1:]):
        with pytest.raises(BufferError, match="detach") as caught:
            memoryview(one)
        assert isinstance(caught.value, ts.TesseraError)
    assert memoryview(x.detach()).tolist() == [1, 1, 1]
    with ts.no_grad():
        assert memoryview(x * 2).tolist() == [2, 2, 2]


def test_requests_get_what_they_ask_for() -> None:
    x = ts.arange(6, dtype=ts.int16).reshape(2, 3)
    simple = requested(x, SIMPLE)
    assert simple["format"] is simple["shape"] is simple["strides"] is None
    assert (simple["address"], simple["len"], simple["itemsize"]) == (x.data_ptr(), 12, 2)
    assert requested(x, ND) == simple | {"shape": [2, 3]}
    assert requested(x, STRIDES) == simple | {"shape": [2, 3], "strides": [6, 2]}
    assert requested(x, FULL) == simple | {"shape": [2, 3], "strides": [6, 2], "format": b"h"}
    assert requested(x, FORMAT)["format"] == b"h"


def test_requests_for_contiguous_memory_are_held_to_it() -> None:
    rows = ts.arange(6).reshape(2, 3)
    columns, gaps = rows.mT, rows[:, ::2]
    for good in ((rows, C_CONTIGUOUS), (rows, SIMPLE), (columns, F_CONTIGUOUS), (columns, ANY_CONTIGUOUS), (gaps, STRIDES)):
        assert requested(*good)["itemsize"] == 8
    for tensor, flags in (
        (rows, F_CONTIGUOUS), (columns, C_CONTIGUOUS), (columns, SIMPLE), (columns, ND), (gaps, ANY_CONTIGUOUS), (gaps, ND),
    ):  # fmt: skip
        with pytest.raises(BufferError, match="contiguous"):
            requested(tensor, flags)


def test_memory_lives_as_long_as_a_view_of_it() -> None:
    gc.collect()
    before = ts.memory.live_handles()
    x = ts.full((1000,), 3.0)
    view, array = memoryview(x), np.asarray(x)
    part = view[10:20]
    del x, view
    gc.collect()
    assert part.tolist() == [3.0] * 10 and array[999] == 3
    assert ts.memory.live_handles() > before
    del array
    part.release()
    del part
    assert ts.memory.live_handles() == before


def test_a_view_keeps_the_old_memory_when_the_tensor_gets_other() -> None:
    x = ts.ones(4)
    view, array = memoryview(x), x.numpy()
    address = x.data_ptr()
    ts.add(ts.ones(100_000), 1.0, out=x)  # resizes x
    assert x.shape == (100_000,) and x.data_ptr() != address
    assert view.shape == (4,) and view.tolist() == [1, 1, 1, 1] and array.tolist() == [1, 1, 1, 1]
    array[0] = 9
    assert view[0] == 9 and x[0].item() == 2


def test_failed_requests_leave_nothing_behind() -> None:
    gc.collect()
    before = ts.memory.live_handles()
    for bad in (ts.ones(2, dtype=ts.bfloat16), ts.ones(2).requires_grad_()):
        for _ in range(100):
            with pytest.raises(BufferError):
                memoryview(bad)
    gaps = ts.ones((4, 4))[:, ::2]
    for _ in range(100):
        with pytest.raises(BufferError):
            requested(gaps, SIMPLE)
    del bad, gaps
    gc.collect()
    assert ts.memory.live_handles() == before


def test_bytes_and_files_take_tensors(tmp_path: Any) -> None:
    x = ts.arange(4, dtype=ts.int32)
    assert bytes(x) == x.numpy().tobytes()
    (tmp_path / "f").write_bytes(x)
    assert ts.frombuffer((tmp_path / "f").read_bytes(), dtype=ts.int32).tolist() == [0, 1, 2, 3]
    assert ts.frombuffer(x, dtype=ts.int32).data_ptr() == x.data_ptr()
