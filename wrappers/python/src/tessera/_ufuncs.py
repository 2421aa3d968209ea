# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's universal functions on tensors: each calls the tensor function of the same meaning, so it is
differentiable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _ops
from ._core import TensorBase
from ._dtypes import dtype_of
from ._errors import ArgumentTypeError, MemoryAccessError
from ._interop import asarray

# The ufuncs whose function has another name.
_NAMES = {
    "conjugate": "conj", "invert": "bitwise_invert", "power": "pow", "rint": "round", "true_divide": "divide",
    "mod": "remainder", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": _ops.sum, "multiply": _ops.prod, "maximum": _ops.amax, "minimum": _ops.amin,
    "logical_and": _ops.all, "logical_or": _ops.any,
}  # fmt: skip


def _divmod(one: Any, two: Any) -> tuple[Any, Any]:
    return _ops.floor_divide(one, two), _ops.remainder(one, two)


def _function(ufunc: Any) -> Callable[..., Any] | None:
    if ufunc is np.divmod:
        return _divmod
    name = ufunc.__name__
    # A ufunc of another library may have the same name and mean something else.
    if getattr(np, name, None) is not ufunc:
        return None
    found: Callable[..., Any] | None = getattr(_ops, _NAMES.get(name, name), None)
    return found


def call(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The implementation of __array_ufunc__."""
    outs = options.pop("out", ())
    if method == "__call__":
        result = _elementwise(ufunc, inputs, options)
    elif method in ("reduce", "accumulate"):
        result = _along_axis(ufunc, method, inputs, options)
    else:
        raise ArgumentTypeError(
            f"np.{ufunc.__name__}.{method}(): Tensors have no such method; write np.{ufunc.__name__}.{method} of "
            "tensor.detach().numpy()"
        )
    return _deliver(ufunc, result, outs) if outs else result


def _elementwise(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    dtype = options.pop("dtype", None)
    if options:
        names = ", ".join(f"{name}=" for name in sorted(options))
        raise ArgumentTypeError(f"np.{ufunc.__name__}(): {names} cannot be given with a Tensor; write it with tessera.where")
    function = _function(ufunc)
    if function is None:
        return _by_numpy(ufunc, inputs, {} if dtype is None else {"dtype": dtype})
    if dtype is not None:
        kind = dtype_of(dtype)
        inputs = tuple(asarray(i).astype(kind) for i in inputs)
    return function(*inputs)


def _by_numpy(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc without a tensor function: NumPy computes it, unless a gradient would be lost."""
    try:
        plain = tuple(i.numpy() if isinstance(i, TensorBase) else i for i in inputs)
    except MemoryAccessError as error:
        raise ArgumentTypeError(
            f"np.{ufunc.__name__}(): no function of Tensors means the same; write np.{ufunc.__name__} of "
            f"tensor.detach().numpy() ({error})"
        ) from None
    result = ufunc(*plain, **options)
    return tuple(asarray(r) for r in result) if isinstance(result, tuple) else asarray(result)


def _along_axis(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    (given,) = inputs
    axis, dtype = options.pop("axis", 0), options.pop("dtype", None)
    kind = None if dtype is None else dtype_of(dtype)
    function = _REDUCTIONS.get(ufunc.__name__) if method == "reduce" else None
    keepdims = bool(options.pop("keepdims", False)) if method == "reduce" else False
    if not options and function is not None:
        given = given if kind is None else given.astype(kind)
        return function(given, axis, keepdims=keepdims)
    if not options and method == "accumulate" and ufunc is np.add:
        return _ops.cumulative_sum(given, axis=axis, dtype=kind)
    raise ArgumentTypeError(
        f"np.{ufunc.__name__}.{method}(): Tensors have no such method with these arguments; write "
        f"np.{ufunc.__name__}.{method} of tensor.detach().numpy()"
    )


def _deliver(ufunc: Any, result: Any, outs: tuple[Any, ...]) -> Any:
    results = result if isinstance(result, tuple) else (result,)
    for value, out in zip(results, outs):
        if isinstance(out, TensorBase):
            out.copy_(value)
        elif out is not None:
            if value.requires_grad:
                raise ArgumentTypeError(
                    f"np.{ufunc.__name__}(): the result requires grad, which an array cannot; write it as a new Tensor, or "
                    "use tensor.detach()"
                )
            np.copyto(out, value.to("cpu").numpy(), casting="same_kind")
    given = tuple(value if out is None else out for value, out in zip(results, outs))
    return given if isinstance(result, tuple) else given[0]
