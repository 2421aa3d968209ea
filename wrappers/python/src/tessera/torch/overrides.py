# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.overrides: functions of a program's own that hand their call to `__torch_function__` of an argument. The library's
operations do not call it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .._core import TensorBase
from ._namespace import lookup
from ._tensor import Tensor


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or of a class that has `__torch_function__`."""
    return isinstance(inp, TensorBase) or hasattr(inp, "__torch_function__")


def _overloaded(relevant_args: Iterable[Any]) -> list[Any]:
    """One argument of each class that has `__torch_function__`, those of derived classes before those of their bases."""
    found: list[Any] = []
    for arg in relevant_args:
        kind = type(arg)
        if hasattr(kind, "__torch_function__") and all(type(known) is not kind for known in found):
            place = next((place for place, known in enumerate(found) if issubclass(kind, type(known))), len(found))
            found.insert(place, arg)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments is of a class that has `__torch_function__`."""
    return any(hasattr(type(arg), "__torch_function__") for arg in relevant_args)


def has_torch_function_unary(obj: Any) -> bool:
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the first `__torch_function__` of the arguments makes of the call that does not give NotImplemented."""
    overloaded = _overloaded(relevant_args)
    types = tuple(map(type, overloaded))
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__qualname__}"
    raise TypeError(f"no implementation found for {name!r} on types that implement __torch_function__: {list(types)}")


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function hands its call on if one of the arguments that the dispatcher names wants it."""

    def inner(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The functions whose results no class wraps: none, because no operation calls `__torch_function__`."""
    return set()


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of Tensor, or gets one of its properties."""
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return isinstance(getattr(func, "__self__", None), property)
    return getattr(Tensor, name, None) is func


__all__ = [
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function",
]  # fmt: skip
__getattr__, _ = lookup(__name__, {})
