# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory shared with NumPy and PyTorch, and DLPack in all its forms."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera._interop import read_only_capsule

NUMPY = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
         "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip
VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # NumPy speaks DLPack 1: run by tests/run.sh --full
TORCH = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def test_dlpack_round_trip_shares_memory() -> None:
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    back = ts.from_dlpack(x)
    back[0, 0] = 9
    assert x[0, 0].item() == 9 and back.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("dtype", NUMPY)
def test_numpy_shares_memory_both_ways(dtype: str) -> None:
    array = np.ones((3, 4), dtype)
    x = ts.from_numpy(array)
    assert x.dtype.name == dtype and x.data_ptr() == array.ctypes.data
    back = x.numpy()
    assert back.dtype == array.dtype and back.ctypes.data == array.ctypes.data and back.flags.writeable
    back[1, 2] = 0
    assert array[1, 2] == 0


@pytest.mark.parametrize("dtype", NUMPY)
def test_numpy_reads_our_dlpack(dtype: str) -> None:
    x = ts.ones((2, 3), dtype=getattr(ts, dtype))
    if dtype == "bool" and np.lib.NumpyVersion(np.__version__) < "1.25.0":
        with pytest.raises((BufferError, RuntimeError)):
            np.from_dlpack(x)
        return
    array = np.from_dlpack(x)
    assert array.dtype == np.dtype(dtype) and array.ctypes.data == x.data_ptr()


@pytest.mark.parametrize("dtype", [d for d in NUMPY if d != "bool"])
def test_we_read_numpys_dlpack(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    x = ts.from_dlpack(array)
    assert x.shape == (2, 3) and x.data_ptr() == array.ctypes.data
    np.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize("dtype", TORCH)
def test_torch_round_trip(dtype: str) -> None:
    theirs = torch.ones(2, 3, dtype=getattr(torch, dtype))
    ours = ts.from_dlpack(theirs)
    assert ours.dtype.name == dtype and ours.data_ptr() == theirs.data_ptr()
    again = torch.from_dlpack(ours)
    assert again.data_ptr() == theirs.data_ptr() and again.dtype == theirs.dtype


def test_bfloat16_goes_to_torch_but_not_to_numpy() -> None:
    x = ts.ones(3, dtype=ts.bfloat16)
    assert torch.from_dlpack(x).dtype == torch.bfloat16
    with pytest.raises(TypeError, match="bfloat16"):
        x.numpy()


def test_strides_survive() -> None:
    array = np.arange(24.0).reshape(4, 6)[::-2, ::3]
    x = ts.from_numpy(array)
    assert x.stride() == (-12, 3)
    np.testing.assert_array_equal(x.numpy(), array)
    np.testing.assert_array_equal(np.from_dlpack(ts.from_numpy(np.arange(6.0).reshape(2, 3)).mT), np.arange(6.0).reshape(2, 3).T)


def capsule_name(capsule: Any) -> str:
    return repr(capsule).split('"')[1]


def test_capsules_are_legacy_unless_a_version_is_named() -> None:
    x = ts.ones(2)
    assert capsule_name(x.__dlpack__()) == "dltensor"
    assert capsule_name(x.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert capsule_name(x.__dlpack__(max_version=(1, 0))) == "dltensor_versioned"
    assert capsule_name(x.__dlpack__(max_version=(2, 1))) == "dltensor_versioned"


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_consumed_once(version: Any) -> None:
    capsule = ts.ones(2).__dlpack__(max_version=version)
    assert ts.from_dlpack(capsule).tolist() == [1, 1]
    assert capsule_name(capsule).startswith("used_")
    with pytest.raises(ValueError, match="consumed"):
        ts.from_dlpack(capsule)


def test_bool_goes_through_versioned_capsules() -> None:
    x = ts.tensor([True, False])
    back = ts.from_dlpack(x.__dlpack__(max_version=(1, 0)))
    assert back.dtype is ts.bool and back.tolist() == [True, False]


def test_read_only_capsule_gives_a_tensor_that_refuses_writes() -> None:
    x = ts.ones(2)
    back = ts.from_dlpack(read_only_capsule(x))
    assert back.data_ptr() == x.data_ptr()
    with pytest.raises(BufferError):
        back += 1
    with pytest.raises(BufferError):
        back.__dlpack__()


def test_read_only_numpy_gives_a_tensor_that_refuses_writes() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    assert not x.numpy().flags.writeable
    with pytest.raises(BufferError):
        x.fill_(2.0)


def test_numpy_keeps_read_only_memory_read_only() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    if not VERSIONED:  # a legacy capsule cannot be marked read-only
        with pytest.raises(BufferError):
            np.from_dlpack(x)
        with pytest.raises((BufferError, TypeError)):
            ts.from_dlpack(array)
        return
    assert not np.from_dlpack(x).flags.writeable and np.from_dlpack(x).ctypes.data == array.ctypes.data
    back = ts.from_dlpack(array)
    assert back.data_ptr() == array.ctypes.data
    with pytest.raises(BufferError):
        back += 1


def test_numpy_asks_for_copies_and_devices() -> None:
    x = ts.ones(3)
    if not VERSIONED:
        with pytest.raises(TypeError):
            np.from_dlpack(x, copy=True)
        return
    assert np.from_dlpack(x, copy=True).ctypes.data != x.data_ptr()
    assert np.from_dlpack(x, copy=False, device="cpu").ctypes.data == x.data_ptr()
    assert np.asarray(x, copy=False).ctypes.data == x.data_ptr()
    assert np.array(x, copy=True).ctypes.data != x.data_ptr()
    with pytest.raises(ValueError):
        np.asarray(x, dtype=np.float64, copy=False)
    assert ts.from_dlpack(np.ones(3, np.float32), copy=True).dtype is ts.float32


def test_bools_of_numpy_come_through_dlpack() -> None:
    array = np.array([True, False])
    if np.lib.NumpyVersion(np.__version__) < "1.25.0":
        with pytest.raises((BufferError, TypeError)):
            ts.from_dlpack(array)
        return
    back = ts.from_dlpack(array)
    assert back.dtype is ts.bool and back.data_ptr() == array.ctypes.data


def test_copy_and_device_requests() -> None:
    x = ts.ones(2)
    copied = ts.from_dlpack(x.__dlpack__(copy=True))
    assert copied.data_ptr() != x.data_ptr()
    assert ts.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert ts.from_dlpack(x.__dlpack__(dl_device=(1, 0))).data_ptr() == x.data_ptr()
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError):
        x.__dlpack__(stream=1)
    assert x.__dlpack_device__() == (1, 0)


def test_tensors_that_require_grad_say_detach() -> None:
    x = ts.ones(2, ).requires_grad_()
    for call in (x.numpy, x.__dlpack__, lambda: np.asarray(x)):
        with pytest.raises((BufferError, ValueError), match="detach"):
            call()
    assert x.detach().numpy().tolist() == [1, 1]


def test_unsupported_devices_and_types_are_refused() -> None:
    class Foreign:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (8, 0)

        def __dlpack__(self) -> Any:
            raise AssertionError

    with pytest.raises(BufferError):
        ts.from_dlpack(Foreign())
    if ts.device_count("cuda") == 0:
        Foreign.__dlpack_device__ = lambda self: (2, 0)  # type: ignore[method-assign]
        with pytest.raises(ts.DeviceError, match="cuda:0"):  # before anything is exported
            ts.from_dlpack(Foreign())
    with pytest.raises(TypeError):
        ts.from_dlpack([1, 2])
    with pytest.raises(TypeError):
        ts.from_numpy(np.array(["a"]))
    with pytest.raises(TypeError):
        ts.from_numpy([1, 2])


def test_owners_live_as_long_as_the_memory_is_used() -> None:
    class Owner(np.ndarray):
        pass

    array = np.ones(3).view(Owner)
    gone = weakref.ref(array)
    x = ts.from_numpy(array)
    view = x[1:]
    del array, x
    gc.collect()
    assert gone() is not None and view.tolist() == [1, 1]
    del view
    assert gone() is None


def test_unused_capsules_and_arrays_give_their_memory_back() -> None:
    gc.collect()
    before = ts.memory.live_handles()
    x = ts.ones(1000)
    array = x.numpy()
    capsule, versioned = x.__dlpack__(), x.__dlpack__(max_version=(1, 0))
    assert array[0] == 1 and capsule is not versioned
    del x, array, capsule, versioned
    gc.collect()
    assert ts.memory.live_handles() == before


def test_sharing_takes_constant_time() -> None:
    array = np.zeros(1 << 27, np.uint8)
    times = []
    for _ in range(100):
        start = time.perf_counter()
        ts.from_numpy(array).numpy()
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-4


def test_array_protocols() -> None:
    x = ts.tensor([[1, 2], [3, 4]])
    assert np.asarray(x).tolist() == [[1, 2], [3, 4]]
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert x.__array__(copy=True).ctypes.data != x.data_ptr()
    with pytest.raises(ValueError):
        x.__array__(np.float64, copy=False)
    assert x.__array_namespace__() is ts
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.01")


def test_numpy_leaves_operators_to_us() -> None:
    x = ts.tensor([1.0, 2.0])
    for result in (np.float64(2) * x, np.float32(2) * x, x * np.float32(2), np.int64(2) * x):
        assert isinstance(result, ts.Tensor) and result.dtype is ts.float32 and result.tolist() == [2, 4]


@pytest.mark.parametrize("data, dtype", [
    (1.5, "float32"), (2, "int64"), (True, "bool"), (1j, "complex64"), ([1, 2.5], "float32"), ([[1], [2]], "int64"),
    (np.float64(1), "float64"), (np.arange(3, dtype=np.int16), "int16"), ([], "float32"), (bytearray(b"ab"), "uint8"),
])  # fmt: skip
def test_asarray_picks_the_dtype(data: Any, dtype: str) -> None:
    assert ts.asarray(data).dtype.name == dtype


def test_asarray_copies_when_it_must_or_is_told() -> None:
    array = np.ones(3, np.float32)
    assert ts.asarray(array).data_ptr() == array.ctypes.data
    assert ts.asarray(array, copy=True).data_ptr() != array.ctypes.data
    assert ts.asarray(array, dtype=ts.float64).dtype is ts.float64
    x = ts.ones(2)
    assert ts.asarray(x) is x and ts.asarray(x, copy=True).data_ptr() != x.data_ptr()
    for bad in (lambda: ts.asarray([1], copy=False), lambda: ts.asarray(array, dtype=ts.int8, copy=False)):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(ValueError):
        ts.tensor([[1, 2], [3]])
    assert ts.tensor([ts.tensor(1.0), ts.tensor(2.0)]).tolist() == [1, 2]


def test_frombuffer_shares_bytes() -> None:
    data = bytearray(np.arange(4, dtype=np.float32).tobytes())
    x = ts.frombuffer(data)
    x[0] = 5
    assert np.frombuffer(data, np.float32)[0] == 5
    assert ts.frombuffer(data, dtype=ts.int32, count=1, offset=4).shape == (1,)
    with pytest.raises(ValueError):
        ts.frombuffer(b"abc", count=4)
    with pytest.raises(ts.InvalidValueError, match="multiple of 4 bytes for float32, got 6"):
        ts.frombuffer(b"abcdefgh", offset=2)
    assert ts.frombuffer(b"abcdefgh", offset=2, count=1).shape == ts.frombuffer(b"abcdefgh", offset=4).shape == (1,)
    assert ts.frombuffer(b"").shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16"])
def test_memory_that_is_not_aligned_is_copied_or_refused(dtype: str) -> None:
    memory = bytearray(1 + 36 * np.dtype(dtype).itemsize)
    packed = np.frombuffer(memory, np.uint8)[1:].view(dtype)
    packed[:] = np.eye(6).ravel()
    x = ts.asarray(packed)
    assert x.data_ptr() % 64 == 0 or x.data_ptr() % np.dtype(dtype).itemsize == 0
    np.testing.assert_array_equal(x.numpy(), packed)
    np.testing.assert_array_equal((ts.ones(36) + packed).numpy(), 1 + packed)
    if dtype == "complex128":
        ts.linalg.inv(x.reshape(6, 6), out=x.reshape(6, 6))  # which OpenBLAS ends the process for without a copy
    for refused in (ts.from_numpy, lambda array: ts.asarray(array, copy=False)):
        with pytest.raises(ts.InvalidValueError, match="aligned"):
            refused(packed)
    with pytest.raises(ts.MemoryAccessError, match="aligned"):
        ts.frombuffer(memory, dtype=getattr(ts, dtype), offset=1)
    kept = ts.frombuffer(bytes(memory), dtype=getattr(ts, dtype), offset=1)
    np.testing.assert_array_equal(kept.numpy(), packed)
    with pytest.raises(ts.MemoryAccessError, match="read-only"):
        kept += 1
    assert ts.asarray(packed[:0]).shape == (0,)


def test_numpy_needs_no_detach_where_nothing_is_recorded() -> None:
    x = ts.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    with ts.no_grad():
        assert x.numpy().ctypes.data == np.asarray(x).ctypes.data == memoryview(x).obj.data_ptr() == x.data_ptr()


def test_data_is_the_memory_without_history_or_count() -> None:
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * y
    for plain in (x.data, y.data):
        assert plain.is_leaf and not plain.requires_grad
    y.data.add_(1)
    assert y._version == 0 and y.tolist() == [2, 3] and y.data.data_ptr() == y.data_ptr()
    z.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [4, 6]
    view = ts.arange(6).reshape(2, 3).T
    assert view.data.stride() == view.stride() and ts.ones(0).data.shape == (0,)
