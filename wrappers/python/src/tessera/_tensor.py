# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensor: the class of tensors, with the methods written in Python."""

from __future__ import annotations

import math
import operator
import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import numpy as np

from . import _array_functions, _core, _forms, _interop, _ops, _repr, _shared, _ufuncs, _variadic
from ._backward import backward as run_backward
from ._core import TensorBase
from ._device import CPU, Device, device_of, device_pair, make_device
from ._dtypes import ALL, BY_BITS, DType, dtype_of
from ._errors import (
    ArgumentTypeError,
    AutogradError,
    InvalidValueError,
)
from ._graph import HookHandle, Node
from ._results import RESULTS
from .capi import check, handle, lib
from .streams import Stream, as_stream

S = TypeVar("S", bound="Tensor")


class Tensor(TensorBase):
    """An array on a device; it can record how it was computed, for gradients.

    `tessera.tensor(data)` makes one. Operators, indexing and broadcasting follow NumPy and the
    Python Array API standard; gradients follow PyTorch.
    """

    __slots__ = ()

    # ---- shape ----

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise ArgumentTypeError("iteration over a 0-dim tensor")
        return iter([self[i] for i in range(self.shape[0])])

    @property
    def T(self) -> Tensor:
        """The transpose of a matrix."""
        if self.ndim != 2:
            raise InvalidValueError(f"T: expected 2 axes, got {self.ndim}; mT swaps the last two of any stack")
        return self.matrix_transpose()

    @property
    def real(self) -> Tensor:
        """The real parts as a view; a real tensor is returned as it is."""
        return _ops.real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary parts of a complex tensor as a view."""
        return _ops.imag(self)

    @property
    def mT(self) -> Tensor:
        """The last two axes swapped."""
        return self.matrix_transpose()

    @property
    def mH(self) -> Tensor:  # noqa: N802 (PyTorch's name)
        """The last two axes swapped, of complex numbers the conjugates."""
        return self.matrix_transpose().conj() if self.is_complex() else self.matrix_transpose()

    @property
    def H(self) -> Tensor:  # noqa: N802 (PyTorch's name)
        """The adjoint of a matrix."""
        return self.T.conj() if self.is_complex() else self.T

    def t(self) -> Tensor:
        """The transpose of a matrix; a tensor of fewer axes is returned as it is."""
        return self if self.ndim < 2 else self.T

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def view_as(self, other: Tensor) -> Tensor:
        return self.view(other.shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        return self.reshape(other.shape)

    def expand_as(self, other: Tensor) -> Tensor:
        return self.expand(other.shape)

    def tensor_split(self, indices_or_sections: Any, axis: int = 0, *, dim: int | None = None) -> tuple[Tensor, ...]:
        return _variadic.tensor_split(self, indices_or_sections, axis, dim=dim)

    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return _variadic.hsplit(self, indices_or_sections)

    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return _variadic.vsplit(self, indices_or_sections)

    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return _variadic.dsplit(self, indices_or_sections)

    def take_along_dim(self, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
        return _forms.take_along_dim(self, indices, dim, out=out)

    def repeat_interleave(
        self, repeats: Tensor | int | None = None, dim: int | None = None, *, axis: int | None = None, output_size: int | None = None
    ) -> Tensor:
        return _forms.repeat_interleave(self, repeats, dim, axis=axis, output_size=output_size)

    def bernoulli_(self, p: Tensor | float = 0.5, *, generator: Any = None) -> Tensor:
        return _forms.bernoulli_(self, p, generator=generator)

    if TYPE_CHECKING:  # made in C: native/overloads.c

        @overload
        def view(self, shape: int | Sequence[int] | DType) -> Tensor: ...

        @overload
        def view(self, *, size: int | Sequence[int] = ...) -> Tensor: ...

        @overload
        def view(self, *shape: int) -> Tensor: ...

        def view(self, *args: Any, **options: Any) -> Tensor: ...

    # ---- new tensors of the same dtype, on the same device ----

    def new_empty(self, *shape: Any, **options: Any) -> Tensor:
        return self._new(_ops.empty, shape, options)

    def new_empty_strided(self, shape: Any, strides: Any, **options: Any) -> Tensor:
        return self._new(_ops.empty_strided, (shape, strides), options)

    def new_zeros(self, *shape: Any, **options: Any) -> Tensor:
        return self._new(_ops.zeros, shape, options)

    def new_ones(self, *shape: Any, **options: Any) -> Tensor:
        return self._new(_ops.ones, shape, options)

    def new_full(self, shape: Any, value: complex, **options: Any) -> Tensor:
        return self._new(_ops.full, (shape, value), options)

    def new_tensor(self, data: Any, **options: Any) -> Tensor:
        return self._new(_interop.tensor, (data,), options)

    def _new(self, function: Callable[..., Tensor], args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
        if not options:
            return function(*args, dtype=self.dtype, device=self.device)
        return function(*args, **{"dtype": self.dtype, "device": self.device, **options})

    # ---- values ----

    def __complex__(self) -> complex:
        return complex(self.item())

    def __round__(self, digits: Any = None) -> Any:
        return round(self.item(), digits)

    def __trunc__(self) -> Any:
        return math.trunc(self.item())

    def __floor__(self) -> Any:
        return math.floor(self.item())

    def __ceil__(self) -> Any:
        return math.ceil(self.item())

    def __pos__(self) -> Tensor:
        return self.clone()

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.ndim else self

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __repr__(self) -> str:
        return _repr.representation(self)

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.numel() == 1 else format(str(self), spec)

    # ---- NumPy, DLPack, the array API ----

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return _interop.array_interface(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return _interop.to_array(self, dtype, copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufuncs.call(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return _array_functions.call(function, types, args, options)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return _interop.to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return device_pair(self.device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise InvalidValueError(f"array API version {api_version!r} is not supported")
        import tessera

        return tessera

    def to_device(self, device: Device | str, /, *, stream: Any = None) -> Tensor:
        """The tensor on another device."""
        return self.to(device)

    def record_stream(self, stream: Stream) -> None:
        """Tells the allocator that the stream uses this memory too: once the tensor is gone, the memory is used again
        only after the work that is queued on the stream by then."""
        check(lib.tsr_tensor_record_stream(handle(self), as_stream(stream)._handle))

    def is_inference(self) -> Any:
        """Whether the tensor was made in inference mode."""
        return self._inference

    # ---- dtype and device ----

    def type_as(self, other: Tensor) -> Tensor:
        return self.astype(other.dtype)

    if TYPE_CHECKING:  # implemented in C; in the stub of TensorBase these names would hide the types

        def float(self) -> Tensor: ...

        def double(self) -> Tensor: ...

        def half(self) -> Tensor: ...

        def bfloat16(self) -> Tensor: ...

        def int(self) -> Tensor: ...

        def short(self) -> Tensor: ...

        def char(self) -> Tensor: ...

        def byte(self) -> Tensor: ...

        def long(self) -> Tensor: ...

        def bool(self) -> Tensor: ...

    def cuda(self, index: Any = None, non_blocking: Any = False) -> Tensor:
        return self.to(device=Device("cuda", index), non_blocking=non_blocking)

    @property
    def is_cuda(self) -> Any:
        return self.device.type == "cuda"

    def share_memory_(self: S) -> S:
        """Moves the storage to memory that other processes can map, with all views of it; returns the tensor. Does
        nothing if it is there, or not on the CPU. NumPy arrays made before keep the old memory."""
        _shared.share(self)
        return self

    def is_shared(self) -> Any:
        """Whether the tensor can go to another process without a copy."""
        return _shared.is_shared(self)

    # ---- autograd ----

    def retain_grad(self) -> None:
        """Makes a backward keep the gradient of this computed tensor."""
        check(lib.tsr_tensor_retain_grad(handle(self)))

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: Any = None,
        create_graph: Any = False,
        inputs: Sequence[Tensor] | Tensor | None = None,
    ) -> None:
        """Computes the gradients of this tensor and adds them to .grad of the leaves."""
        run_backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Calls hook(gradient) when the gradient of this tensor is computed; a returned tensor replaces it."""
        return HookHandle(self, _core.add_hook(self, hook, 0))

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> HookHandle:
        """Calls hook(tensor) after a gradient was added to .grad of this leaf. The hook gets this object while it lives."""
        return HookHandle(self, _core.add_hook(self, _AfterGrad(hook, self), 1))

    # ---- copies ----

    def __copy__(self) -> Tensor:
        return type(self)(self)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        if not self.is_leaf:
            raise AutogradError("deepcopy: only leaves can be copied deeply; use detach() or clone()")
        made = type(self)(self.detach().clone())
        made.requires_grad = self.requires_grad
        if (grad := self.grad) is not None:
            made.grad = grad.detach().clone()
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        plain = self.detach().to("cpu").contiguous()
        bits = plain.view_bits() if plain.dtype.name == "bfloat16" else plain.numpy()
        data = pickle.PickleBuffer(bits) if operator.index(protocol) >= 5 else bits.tobytes()
        leaf = self.requires_grad and self.is_leaf
        return (rebuild, (type(self), self.dtype.name, self.shape, data, leaf, str(self.device)))

    def view_bits(self) -> Any:
        """The elements of a contiguous tensor as a NumPy array of unsigned integers."""
        return _interop.bits(self)


class _AfterGrad:
    """Calls a hook with the object that it was registered on, by which programs know it, and drops what it returns."""

    def __init__(self, hook: Callable[[Tensor], Any], leaf: Tensor) -> None:
        self.hook, self.leaf = hook, weakref.ref(leaf)

    def __call__(self, leaf: Tensor) -> None:
        own = self.leaf()
        self.hook(leaf if own is None else own)


def rebuild(
    kind: type[Tensor], dtype: str, shape: tuple[int, ...], data: Any, requires_grad: bool, device: str = "cpu"
) -> Tensor:
    """A tensor from its pickle."""
    plain = _interop.from_bytes(bytearray(data) if isinstance(data, bytes) else data, dtype_of(dtype), shape)
    made = kind(plain if device == "cpu" else plain.to(device))
    made.requires_grad = requires_grad
    return made


def _storable(data: Any, like: Tensor) -> Tensor:
    """A tensor with data that will be stored in `like`."""
    return _interop.for_storing(data, like.dtype)


def _number(given: Any) -> Any:
    """The Python number in a NumPy scalar, NotImplemented for anything else."""
    return given.item() if isinstance(given, np.generic) else NotImplemented


_core.register(
    tensor=Tensor,
    number=_number,
    storable=_storable,
    to_dtype=dtype_of,
    to_device=device_pair,
    make_device=make_device,
    cpu=CPU,
    device_class=Device,
    dtype_names=ALL,
    dtypes=BY_BITS,
    to_index=_interop.to_index,
    as_array=np.asarray,
    no_array=_interop.array_interface,
    results=RESULTS,
    ndarray=np.ndarray,
    from_ndarray=_interop.from_ndarray,
)

__all__ = ["DType", "Node", "Tensor", "device_of"]
