# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward mode: tangents (directional derivatives) computed beside the values.

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        y, jvp = forward_ad.unpack_dual(function(dual))

jvp is the Jacobian of the function at x times v. Levels may be nested: the tangent of a level may have tangents of the
levels around it, which are second derivatives. no_grad does not switch forward mode off; inference mode does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .._core import TensorBase
from .._errors import AutogradError
from .._tensor import Tensor
from ..capi import adopt, check, ffi, handle, lib, made, out

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """The value and the tangent of a dual tensor; the tangent is None where there is none, which means zero."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Opens a level on this thread, inside those that are open, and returns its number. dual_level also closes it."""
    return int(out("int64_t", lib.tsr_forward_enter))


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes the innermost level, which must be `level` if that is given; its dual tensors become ordinary ones."""
    check(lib.tsr_forward_exit(-1 if level is None else level))


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A new tensor on the memory of `tensor`, with its history, that has `tangent` at a level (the innermost one)."""
    dual: Tensor = made(
        "tsr_tensor", lib.tsr_make_dual, handle(tensor), handle(tangent), -1 if level is None else level
    )
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a tensor at a level (the innermost one)."""
    primal, tangent = ffi.new("tsr_tensor*"), ffi.new("tsr_tensor*")
    check(lib.tsr_unpack_dual(handle(tensor), -1 if level is None else level, primal, tangent))
    return UnpackedDualTensor(adopt(primal), adopt(tangent))


def as_class_of(tensor: Tensor, other: Any) -> Any:
    """The tensor as one of the class of tensors that the other is of: the package's, or that of the dialect."""
    kind = next(c for c in type(other).__mro__ if c.__name__ == "Tensor")
    return tensor if type(tensor) is kind else TensorBase.__new__(kind, tensor)


class dual_level:  # noqa: N801
    """A level of forward mode for a with block, which gets its number, or for each call of a decorated function."""

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        self._levels: list[int] = []

    def __enter__(self) -> int:
        self._levels.append(enter_dual_level())
        return self._levels[-1]

    def __exit__(self, *exception: object) -> None:
        if not self._levels:
            raise AutogradError("dual_level: expected the end of a block that was entered, got none")
        exit_dual_level(level=self._levels.pop())

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


class forward_off:  # noqa: N801
    """Inside, dual tensors count as ordinary ones: for the forward of a custom function."""

    __slots__ = ("_previous",)

    def __enter__(self) -> None:
        self._previous = out("int32_t", lib.tsr_forward_mode_set, 0)

    def __exit__(self, *exception: object) -> None:
        out("int32_t", lib.tsr_forward_mode_set, self._previous)
