# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""DLPack's C exchange API as an extension module uses it: here through ctypes."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from dlpack_structs import DLTensor, Managed, pointer_of

import tessera as ts


OUT = ctypes.POINTER(ctypes.POINTER(Managed))
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), OUT, ctypes.c_void_p, SET_ERROR)),
        ("from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, OUT)),
        ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.py_object))),
        ("view", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))),
        ("stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]


def exchange_api() -> Any:
    capsule = ts.Tensor.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    return ExchangeApi.from_address(pointer_of(capsule, b"dlpack_exchange_api"))


def test_table_is_on_the_type_and_says_its_version() -> None:
    api = exchange_api()
    assert (api.major, api.minor, api.previous) == (1, 3, None)
    assert type(ts.ones(1)).__dlpack_c_exchange_api__ is ts.Tensor.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    assert all(ctypes.cast(getattr(api, name), ctypes.c_void_p).value for name, _ in ExchangeApi._fields_[3:])


def test_tensor_goes_out_and_comes_back_on_the_same_memory() -> None:
    gc.collect()
    api, before = exchange_api(), ts.memory.live_handles()
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    managed = ctypes.POINTER(Managed)()
    assert api.from_object(x, ctypes.byref(managed)) == 0
    assert managed.contents.tensor.shape[:2] == [2, 2] and managed.contents.tensor.strides[:2] == [2, 1]
    back = ctypes.py_object()
    assert api.to_object(managed, ctypes.byref(back)) == 0
    made: Any = back.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))  # the reference that the entry gave
    assert type(made) is ts.Tensor and made.data_ptr() == x.data_ptr()
    del x, back, made
    gc.collect()
    assert ts.memory.live_handles() == before


def test_view_borrows_without_a_managed_tensor() -> None:
    x = ts.arange(6.0).reshape(2, 3).requires_grad_()
    view = DLTensor()
    assert exchange_api().view(x, ctypes.byref(view)) == 0
    assert view.data == x.data_ptr() and view.ndim == 2 and (view.code, view.bits) == (2, 32)


def test_failures_are_exceptions() -> None:
    api, managed, view = exchange_api(), ctypes.POINTER(Managed)(), DLTensor()
    with pytest.raises(BufferError, match="detach"):
        api.from_object(ts.ones(2).requires_grad_(), ctypes.byref(managed))
    assert not managed
    with pytest.raises(TypeError, match="expected a Tensor"):
        api.view(np.ones(2), ctypes.byref(view))
    foreign = Managed(major=2)
    with pytest.raises(Exception, match="version"):
        api.to_object(ctypes.pointer(foreign), ctypes.byref(ctypes.py_object()))
    with pytest.raises(Exception, match="device"):
        api.stream(99, 0, ctypes.byref(ctypes.c_void_p()))


def test_memory_in_the_image_of_a_prototype() -> None:
    api, managed = exchange_api(), ctypes.POINTER(Managed)()
    said: list[tuple[bytes, bytes]] = []
    report = SET_ERROR(lambda context, kind, message: said.append((kind, message)))
    shape = (ctypes.c_int64 * 2)(2, 3)
    like = DLTensor(device_type=1, ndim=2, code=2, bits=64, lanes=1, shape=shape)
    assert api.allocate(ctypes.byref(like), ctypes.byref(managed), None, report) == 0 and not said
    made = managed.contents.tensor
    assert made.data and made.shape[:2] == [2, 3] and made.strides[:2] == [3, 1] and made.bits == 64
    managed.contents.deleter(managed)
    like.lanes = 2
    assert api.allocate(ctypes.byref(like), ctypes.byref(managed), None, report) == -1
    assert said[0][0] == b"BufferError" and b"lane" in said[0][1] and not managed


def test_cpu_works_on_no_stream() -> None:
    stream = ctypes.c_void_p(1)
    assert exchange_api().stream(1, 0, ctypes.byref(stream)) == 0 and stream.value is None
