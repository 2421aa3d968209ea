# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory shared with NumPy and through DLPack, and tensors from Python data."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._constants import DEVICE_CPU, DEVICE_CUDA, DEVICE_SIMULATED, DLPACK_COPY, DLPACK_READ_ONLY
from ._core import TensorBase
from ._core import from_array as _from_array
from ._core import from_numbers as _from_numbers
from ._device import CPU, device_pair, get_default_device
from ._dtypes import ALL, DType, bfloat16, complex64, complex128, dtype_of, float32, float64, get_default_dtype, int64
from ._errors import ArgumentTypeError, DTypeError, IndexTypeError, InvalidValueError, MemoryAccessError
from .capi import check, ffi, handle, lib

if TYPE_CHECKING:
    from ._tensor import Tensor


# ---- to NumPy ----


def array_interface(tensor: Tensor) -> dict[str, Any]:
    if tensor.requires_grad and _core.is_grad_enabled():
        raise MemoryAccessError("numpy(): the tensor requires grad; use .detach().numpy()")
    if tensor.device.type != "cpu":
        raise MemoryAccessError(f"numpy(): the tensor is on {tensor.device}; use .to('cpu').numpy()")
    dtype = tensor.dtype.numpy
    step = dtype.itemsize
    return {
        "version": 3,
        "typestr": dtype.str,
        "shape": tensor.shape,
        "strides": tuple(s * step for s in tensor._strides),
        "data": (tensor._data_address, tensor._read_only),
    }


def to_array(tensor: Tensor, dtype: Any, copy: bool | None) -> Any:
    plain = tensor.numpy()
    if dtype is not None and plain.dtype != np.dtype(dtype):
        if copy is False:
            raise InvalidValueError(f"__array__(): {plain.dtype} to {np.dtype(dtype)} needs a copy")
        return plain.astype(dtype)
    return plain.copy() if copy else plain


def bits(tensor: Tensor) -> Any:
    """The elements of a contiguous tensor as unsigned integers, whatever the dtype."""
    if not tensor.is_contiguous():
        raise InvalidValueError("view_bits(): expected a contiguous tensor")
    count = tensor.numel()
    kind = np.dtype(f"u{min(tensor.itemsize, 8)}")
    if count == 0:
        return np.empty(0, kind)
    info = ffi.new("tsr_info*", {"struct_size": ffi.sizeof("tsr_info")})
    check(lib.tsr_tensor_info(handle(tensor), info))
    return np.frombuffer(ffi.buffer(info.data, info.nbytes), kind).copy()


# ---- from NumPy and memory ----


def from_numpy(array: Any) -> Tensor:
    """A tensor on the memory of a NumPy array, of any strides."""
    if isinstance(array, np.ndarray) and (made := _from_array(array)) is not None:
        return made
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(f"from_numpy(): expected a numpy.ndarray, got {type(array).__name__}")
    dtype = ALL.get(array.dtype.name)
    if dtype is None or not array.dtype.isnative:
        raise DTypeError(f"from_numpy(): no dtype for numpy's {array.dtype.str}; one of {', '.join(ALL)}")
    if array.ndim > 64:
        raise InvalidValueError(f"from_numpy(): expected at most 64 axes, got {array.ndim}")
    if _has_uneven_strides(array):
        raise InvalidValueError("from_numpy(): strides must be multiples of the item size; copy the array")
    raise InvalidValueError("from_numpy(): expected memory that is aligned to its elements; copy the array")


def _has_uneven_strides(array: Any) -> bool:
    """Whether the strides of an array are no multiples of its item size, as those of a structured array's field may be."""
    return any(s % array.itemsize for s in array.strides)


def from_ndarray(array: Any, copy: bool) -> Tensor:
    """The tensor that replaces an array in an operation with tensors."""
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentTypeError("a masked array beside a Tensor: write array.filled(value), a Tensor has no mask")
    return asarray(array.copy() if copy else array)  # asarray() copies what no tensor can lie on


def from_bytes(data: Any, dtype: DType, shape: tuple[int, ...], offset: int = 0) -> Tensor:
    """A row-major tensor on the memory of an object with the buffer protocol."""
    return _core.from_buffer(data, dtype, shape, offset)


def frombuffer(buffer: Any, *, dtype: Any = float32, count: int = -1, offset: int = 0) -> Tensor:
    """A 1-D tensor on the memory of an object with the buffer protocol, or on a copy of memory that nobody may write to and
    that is not aligned to the elements."""
    kind = dtype_of(dtype)
    try:
        memory = memoryview(buffer).cast("B")
    except TypeError as error:
        raise ArgumentTypeError(f"frombuffer(): {error}") from None
    whole, rest = divmod(memory.nbytes - offset, kind.itemsize)
    if count < 0 and rest and 0 <= offset <= memory.nbytes:
        raise InvalidValueError(
            f"frombuffer(): expected a multiple of {kind.itemsize} bytes for {kind.name}, got {memory.nbytes - offset}"
        )
    size = whole if count < 0 else count
    try:
        return from_bytes(memory, kind, (size,), offset)
    except MemoryAccessError:
        if not memory.readonly:
            raise
        return from_bytes(bytes(memory[offset : offset + size * kind.itemsize]), kind, (size,))


# ---- from Python ----


def from_python(data: Any, dtype: DType | None) -> Tensor:
    """A tensor with a copy of numbers and nested sequences; floats become the default dtype, ints int64. Integers that the dtype
    cannot hold are an error."""
    if dtype is bfloat16:
        return from_python(data, float32).astype(bfloat16)
    whole = dtype is not None and dtype.category == "integral"
    try:
        array = np.array(_plain(data), dtype=None if dtype is None or whole else dtype.numpy)
    except (ValueError, OverflowError) as error:
        raise InvalidValueError(f"expected numbers or nested sequences of equal lengths ({error})") from None
    except TypeError as error:
        raise ArgumentTypeError(f"expected numbers or nested sequences of them ({error})") from None
    if array.dtype.kind not in "biufc":
        if (other := _no_number(data)) is not None:
            raise ArgumentTypeError(f"expected numbers or nested lists and tuples of them, got {other}")
        raise InvalidValueError(
            "expected numbers or nested sequences of equal lengths, and ints of 64 bits: write larger ones as floats"
        )
    if dtype is not None and whole:
        array = _whole(array, dtype)
    elif dtype is None:
        given = set(_array_types(data))
        default = get_default_dtype()
        array = _of_default(array, given, default)
        if default is bfloat16 and not given and array.dtype.kind == "f":
            return from_numpy(np.require(array, requirements="W")).astype(bfloat16)
    return from_numpy(np.require(array, requirements="W"))


def _whole(array: Any, dtype: DType) -> Any:
    """The numbers converted to an integer dtype, which must be able to hold them; fractions are dropped."""
    limits = np.iinfo(dtype.name)
    if array.dtype.kind == "c":
        raise DTypeError(f"expected real numbers for {dtype.name}, got complex ones")
    if array.size and array.dtype.kind in "iuf":
        for number in (array.min(), array.max()):
            if not np.isfinite(number) or not limits.min <= int(number) <= limits.max:
                raise InvalidValueError(
                    f"expected numbers from {limits.min} to {limits.max}, which {dtype.name} can hold, got {number}"
                )
    return array.astype(dtype.numpy)


def for_storing(data: Any, dtype: DType) -> Tensor:
    """The tensor for a value that is assigned to elements of a tensor of this dtype; plain ints must fit it."""
    made = asarray(data)
    if isinstance(data, (list, tuple)) and made.dtype.category == dtype.category == "integral":
        return from_python(data, dtype)
    return made


def _plain(data: Any) -> Any:
    """Converts the tensors within nested sequences to objects that NumPy understands."""
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data.detach().numpy() if hasattr(data, "requires_grad") else data


def _no_number(data: Any) -> str | None:
    """The first thing within nested sequences that is no number; None if there is none."""
    if isinstance(data, (list, tuple)):
        return next((found for item in data if (found := _no_number(item)) is not None), None)
    if isinstance(data, np.ndarray):
        return None if data.dtype.kind in "biufc" else f"an array of {data.dtype}"
    return None if isinstance(data, (Number, np.bool_, TensorBase)) else type(data).__name__


def _array_types(data: Any) -> Iterator[Any]:
    """NumPy's dtypes of the arrays, NumPy's numbers and tensors within nested sequences."""
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from _array_types(item)
    elif isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "requires_grad"):
        yield _plain(data).dtype


def _of_default(array: Any, given: set[Any], default: DType) -> Any:
    """The array in the default dtype of its kind, or in the dtype of the arrays and tensors among its elements, which
    Python's numbers beside them raise to another kind only."""
    kind = array.dtype.kind
    if kind == "i":
        return array if given else array.astype(int64.numpy)
    beside = [dtype for dtype in given if dtype.kind in "fc"]
    if kind == "c":
        return array.astype(np.result_type(*beside, (complex128 if default is float64 else complex64).numpy))
    real = float32 if default is bfloat16 else default
    return array.astype(np.result_type(*(beside or [real.numpy]))) if kind == "f" else array


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of the data."""
    plain = type(data) is np.ndarray
    here = device is None or device is CPU or device == "cpu"
    if here and dtype is None and plain:
        quick = _from_array(data.copy("K"))
    else:
        quick = _from_numbers(data, dtype) if here and not plain else None
    if quick is not None:
        if requires_grad:
            quick.requires_grad = True
        return quick
    made: Tensor = asarray(data, dtype=dtype, device=device, copy=True)
    if hasattr(data, "requires_grad"):
        made = made.detach()
    made.requires_grad = requires_grad
    return made


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from numbers, sequences, arrays and buffers; shares memory unless a copy is needed."""
    here = device is None or device is CPU or device == "cpu"
    if type(obj) is np.ndarray:
        quick = _from_array(obj) if dtype is None and here and not copy else None
    else:
        quick = _from_numbers(obj, dtype) if here and copy is not False else None
    if quick is not None:
        return quick
    kind = None if dtype is None else dtype_of(dtype)
    if isinstance(obj, TensorBase):
        made, copied = obj, False
    elif isinstance(obj, np.ndarray):
        made, copied = _shared(obj, kind, copy)
    elif hasattr(obj, "__dlpack__") and not isinstance(obj, np.generic):
        made, copied = from_dlpack(obj), False
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        made, copied = _shared(np.asarray(memoryview(obj)), kind, copy)
    elif hasattr(obj, "__array_interface__") and not isinstance(obj, np.generic):
        made, copied = _shared(np.asarray(obj), kind, copy)
    else:
        if copy is False:
            raise InvalidValueError("asarray(): Python data can only be copied")
        made, copied = from_python(obj, kind), True
        device = get_default_device() if device is None else device
    return _as(made, kind, device, None if copied else copy)


def _shared(array: Any, kind: DType | None, copy: bool | None) -> tuple[Tensor, bool]:
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if copy is False and native is not array:
        raise InvalidValueError("asarray(): another byte order needs a copy")
    uneven = _has_uneven_strides(native)
    if uneven or not native.flags.aligned:  # fields of packed records
        if copy is False:
            reason = "strides that are no multiples of the item size need" if uneven else "memory that is not aligned to its elements needs"
            raise InvalidValueError(f"asarray(): {reason} a copy")
        return from_numpy(native.copy()), True
    if copy and kind in (None, ALL.get(native.dtype.name)):
        return from_numpy(np.array(native)), True
    return from_numpy(native), native is not array


def _as(given: Any, dtype: DType | None, device: Any, copy: bool | None) -> Tensor:
    return _core.convert(given, dtype, device, copy)


def to_index(item: Any) -> Tensor:
    """Converts an item of an index to a tensor of integers or a mask."""
    if isinstance(item, (list, tuple, range)) and len(item) == 0:
        return from_python([], int64)
    if isinstance(item, (bool, list, tuple, range, np.ndarray, np.generic)):
        made = asarray(list(item) if isinstance(item, range) else item)
        if made.dtype.category in ("integral", "bool"):
            return made
    raise IndexTypeError(
        f"expected ints, slices, None, ... and tensors of integers or bools as indices, got {type(item).__name__}"
    )


# ---- DLPack ----


def to_dlpack(given: Tensor, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    if stream not in (None, -1) and given.device.type == "cpu":
        raise InvalidValueError("__dlpack__(): a tensor on the CPU has no stream")
    if dl_device is not None and tuple(dl_device) != device_pair(given.device):
        if tuple(dl_device) != (DEVICE_CPU, 0) or copy is False:
            raise MemoryAccessError(f"__dlpack__(): cannot export to device {tuple(dl_device)}")
        given, copy = given.to("cpu"), False
    if given.requires_grad:
        raise MemoryAccessError("__dlpack__(): the tensor requires grad; use .detach()")
    flags = DLPACK_COPY if copy else 0
    major = 0 if max_version is None or max_version[0] < 1 else int(max_version[0])
    return _core.to_capsule(given, major, flags)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of a DLPack capsule."""
    if type(x).__name__ == "PyCapsule":
        capsule = x
    else:
        if not hasattr(x, "__dlpack__"):
            raise ArgumentTypeError(f"from_dlpack(): expected an object with __dlpack__, got {type(x).__name__}")
        kind, index = map(int, x.__dlpack_device__())
        if kind not in _DLPACK_DEVICES:
            raise MemoryAccessError(f"from_dlpack(): device {(kind, index)} is not supported")
        capsule = _export(x, {"stream": _stream_for(index)} if kind == DEVICE_CUDA else {})
    made = _core.from_capsule(capsule, DLPACK_COPY if copy else 0)
    return _as(made, None, device, None if copy else copy)


_DLPACK_DEVICES = (DEVICE_CPU, 3, DEVICE_CUDA, DEVICE_SIMULATED)  # 3: memory of the host that CUDA has pinned


def _stream_for(index: int) -> int:
    """The current stream of a CUDA device, for a DLPack producer, whose work must finish before later work of that
    stream."""
    stream, native = ffi.new("tsr_stream*"), ffi.new("void**")
    check(lib.tsr_stream_current(DEVICE_CUDA, index, stream))
    try:
        check(lib.tsr_stream_native(stream[0], native))
    finally:
        lib.tsr_stream_release(stream[0])
    return int(ffi.cast("intptr_t", native[0])) or 1  # 1: the default stream that waits for others


def _export(x: Any, options: dict[str, Any]) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 1), **options)
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(**options)


def read_only_capsule(given: Tensor) -> Any:
    """A versioned capsule that consumers must not write through."""
    return _core.to_capsule(given, 1, DLPACK_READ_ONLY)


__all__ = ["CPU", "asarray", "from_dlpack", "from_numpy", "frombuffer", "tensor"]
