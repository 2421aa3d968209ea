# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.overrides: functions of a program's own that hand their call to `__torch_function__` of an argument, as operations do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .._core import TensorBase
from ._namespace import lookup
from ._overriding import asked, handed
from ._tensor import Tensor


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or of a class that has `__torch_function__`."""
    return isinstance(inp, TensorBase) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments is of a class that has `__torch_function__`, which Tensor itself does not count as."""
    return bool(asked(relevant_args))


def has_torch_function_unary(obj: Any) -> bool:
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the first `__torch_function__` of the arguments makes of the call that does not give NotImplemented."""
    return handed(public_api, asked(relevant_args), args, kwargs)


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
    """The functions whose results no class wraps: none."""
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
