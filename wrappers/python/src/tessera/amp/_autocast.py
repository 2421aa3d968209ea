# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Autocast: the state of the thread, as regions, decorators and single settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from .._core import TensorBase
from .._device import TYPES
from .._dtypes import BY_BITS, DType, dtype_of, float64
from .._errors import ArgumentTypeError, DeviceError
from ..capi import check, ffi, lib

F = TypeVar("F", bound=Callable[..., Any])


def _type(device_type: str) -> int:
    if not isinstance(device_type, str):
        raise ArgumentTypeError(f"device_type: expected a kind of device such as 'cpu', got {type(device_type).__name__}")
    if device_type not in TYPES:
        raise DeviceError(f"device_type: expected one of {', '.join(TYPES)}, got {device_type!r}")
    return TYPES[device_type]


def _state(device_type: str) -> Any:
    """The thread's state for a kind of device, as a struct."""
    found = ffi.new("tsr_autocast_state*", {"struct_size": ffi.sizeof("tsr_autocast_state")})
    check(lib.tsr_autocast_get(_type(device_type), found))
    return found


def _set(device_type: str, **fields: Any) -> None:
    state = _state(device_type)
    for name, value in fields.items():
        setattr(state, name, value)
    check(lib.tsr_autocast_set(state))


def is_autocast_available(device_type: str) -> bool:
    """Whether tensors of this kind of device can be cast."""
    return device_type in TYPES


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Whether autocast is on for this thread and kind of device."""
    return bool(_state(device_type).enabled)


def set_autocast_enabled(device_type: str, enabled: bool, own_lists: bool = False) -> None:
    """Switches autocast for this thread and kind of device, outside of any region."""
    _set(device_type, enabled=bool(enabled), own_lists=bool(own_lists))


def get_autocast_dtype(device_type: str = "cpu") -> DType:
    """The dtype to which this thread casts tensors of the kind of device."""
    return BY_BITS[_state(device_type).dtype]


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Sets the dtype, float16 or bfloat16, to which this thread casts tensors of the kind of device."""
    _set(device_type, dtype=dtype_of(dtype).bits)


def is_autocast_cache_enabled() -> bool:
    """Whether the casts of parameters are kept until the outermost region of this thread ends."""
    return bool(_state("cpu").cache_enabled)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether the casts of parameters are kept."""
    _set("cpu", cache_enabled=bool(enabled))


def clear_autocast_cache() -> None:
    """Drops the casts of parameters that this thread keeps."""
    check(lib.tsr_autocast_clear_cache())


class autocast:  # noqa: N801 (PyTorch's name)
    """A region of this thread in which operators get tensors of 16 bits, or of float32 where they need it.

    A context manager, and a decorator of functions. `device_type` says whose tensors are cast, `dtype` to what: float16 or
    bfloat16 (without it bfloat16 on the CPU, float16 on CUDA). With `cache_enabled` the cast of a parameter is kept until
    the outermost region ends. Regions may be nested; one with enabled=False computes in the dtypes of its tensors. The lists
    of operators are PyTorch's for CUDA, or with `own_lists` those for this kind of device.
    """

    def __init__(
        self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None,
        own_lists: bool = False,
    ) -> None:
        self._type = _type(device_type)
        self.device_type = device_type
        self.dtype = None if dtype is None else dtype_of(dtype)
        self.enabled = bool(enabled)
        self.cache_enabled = cache_enabled
        self.own_lists = bool(own_lists)
        self._before: list[Any] = []  # what to go back to, for each entry

    def __enter__(self) -> autocast:
        state, before = _state(self.device_type), _state(self.device_type)
        state.enabled = self.enabled
        state.dtype = -1 if self.dtype is None else self.dtype.bits
        state.own_lists = self.own_lists
        if self.cache_enabled is not None:
            state.cache_enabled = bool(self.cache_enabled)
        check(lib.tsr_autocast_begin(state, before))
        self._before.append(before)
        return self

    def __exit__(self, *exception: object) -> None:
        check(lib.tsr_autocast_end(self._before.pop()))

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _again(self) -> autocast:
        """Another region with these settings."""
        return type(self)(self.device_type, self.dtype, self.enabled, self.cache_enabled, self.own_lists)

    def __repr__(self) -> str:
        return f"autocast({self.device_type!r}, dtype={self.dtype}, enabled={self.enabled})"


# ---- custom functions ----


def _cast(value: Any, device_type: str, dtype: DType) -> Any:
    """Casts floating tensors of the kind of device, also inside lists, tuples and mappings; float64 stays."""
    if isinstance(value, TensorBase):
        given: Any = value
        eligible = given.dtype.is_floating_point and given.dtype is not float64 and given.device.type == device_type
        return given.astype(dtype) if eligible else given
    if isinstance(value, Mapping):
        return {k: _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cast(v, device_type, dtype) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


@overload
def custom_fwd(fwd: F, *, device_type: str = "cpu", cast_inputs: Any = None) -> F: ...
@overload
def custom_fwd(fwd: None = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Callable[[F], F]: ...
def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Any:
    """Decorates `forward` of an autograd.Function: the backward, decorated with custom_bwd, finds the same autocast state.

    With `cast_inputs`, a dtype, floating tensors among the arguments are cast to it if autocast is on, and forward runs
    with autocast off.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    target = None if cast_inputs is None else dtype_of(cast_inputs)
    _type(device_type)

    @functools.wraps(fwd)
    def wrapped(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled = is_autocast_enabled(device_type)
        ctx._autocast = autocast(device_type, get_autocast_dtype(device_type), enabled and target is None)
        if target is None or not enabled:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, target), **_cast(kwargs, device_type, target))

    return wrapped


@overload
def custom_bwd(bwd: F, *, device_type: str = "cpu") -> F: ...
@overload
def custom_bwd(bwd: None = None, *, device_type: str = "cpu") -> Callable[[F], F]: ...
def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Decorates `backward` of an autograd.Function whose forward is decorated with custom_fwd: it runs in the same autocast
    state."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def wrapped(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with ctx._autocast:
            return bwd(ctx, *args, **kwargs)

    return wrapped
