# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of torch on dtypes that PyTorch takes and the library's own functions do not, made of others that do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _ops, linalg
from .._core import TensorBase
from .._dtypes import bool_, float32, int64, promote_types, uint8, uint16, uint32, uint64
from .._errors import InvalidValueError
from ._adapters import dtype_together
from ._numeric import product_added, product_added_here
from ._results import written
from ._tensor import made
from ._uncast import sums_products, uncast


def is_whole(input: Any) -> bool:
    """True for integers and truth values."""
    return not (input.dtype.is_floating_point or input.dtype.is_complex)


def floats_of(*tensors: Any) -> list[Any]:
    """The tensors, those of integers and truth values as float32."""
    return [_ops.astype(tensor, float32) if is_whole(tensor) else tensor for tensor in tensors]


def promoted(*tensors: Any) -> list[Any]:
    """The tensors, those of floats in the dtype that they have together; None and integers as they are."""
    floats = [t for t in tensors if isinstance(t, TensorBase) and t.dtype.is_floating_point]
    if all(t.dtype == floats[0].dtype for t in floats):
        return [*tensors]
    dtype = functools.reduce(promote_types, [t.dtype for t in floats])
    return [_ops.astype(t, dtype) if any(t is known for known in floats) else t for t in tensors]


def in_float32(function: Callable[[Any], Any], input: Any) -> Any:
    """A function that has no 16-bit floats: its result is rounded once."""
    if not input.dtype.is_floating_point or input.dtype.itemsize != 2:
        return function(input)
    return _ops.astype(function(_ops.astype(input, float32)), input.dtype)


def by_equation(equation: Any, operands: tuple[Any, ...]) -> Any:
    """torch.einsum: integers are summed as int64 where the sum is over an axis of one operand alone."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    whole = isinstance(equation, str) and all(isinstance(x, TensorBase) and is_whole(x) and x.dtype is not uint64 for x in given)
    if whole and _sums_one(equation.replace(" ", "")):
        return linalg.einsum(equation, *[_ops.astype(x, int64) for x in given])
    if isinstance(equation, str) and not sums_products(equation, len(given)):
        return uncast(linalg.einsum)(equation, *operands)
    return linalg.einsum(equation, *operands)


def _sums_one(equation: str) -> bool:
    inputs, arrow, output = equation.partition("->")
    labels = set(filter(str.isalpha, inputs))
    kept = set(output) if arrow else {label for label in labels if inputs.count(label) == 1}
    return any(sum(label in term for term in inputs.split(",")) == 1 for label in labels - kept)


# ---- sums ----

_ones: dict[Any, Any] = {}


def _one_for(input: Any, other: Any, alpha: Any) -> Any:
    """The 1 with which addcmul adds alpha times a tensor in one pass, as the first factor, which its kernel keeps in a register;
    None where the product is computed by itself, as for a gradient, whose derivative is simpler that way."""
    if not (isinstance(input, TensorBase) and isinstance(other, TensorBase)) or isinstance(alpha, TensorBase):
        return None
    dtype = input.dtype
    if not (dtype.is_floating_point or dtype.is_complex) or other.dtype is not dtype or input.requires_grad or other.requires_grad:
        return None
    if input.device.type != "cpu" or other.device.type != "cpu":
        return None
    if dtype not in _ones:
        _ones[dtype] = _ops.ones((), dtype=dtype, device="cpu")
    return _ones[dtype]


def _multiple(input: Any, other: Any, alpha: Any, sign: int) -> tuple[Any, int]:
    """alpha times what is added to a tensor, in the dtype of their sum, and the sign. Unsigned integers have no negative factors."""
    both = isinstance(input, TensorBase) and isinstance(other, TensorBase)
    if both and input.dtype is not other.dtype:
        other = _ops.astype(other, dtype_together(input, other))
    if isinstance(alpha, int) and alpha < 0 and isinstance(other, TensorBase) and other.dtype in (uint8, uint16, uint32, uint64):
        alpha, sign = -alpha, -sign
    return other * alpha, sign


def added(input: Any, other: Any, alpha: Any, out: Any, sign: int = 1) -> Any:
    """input + sign alpha other."""
    if alpha != 1:
        one = _one_for(input, other, alpha)
        if one is not None:
            return _ops.addcmul(input, one, other, value=sign * alpha, out=out)
        other, sign = _multiple(input, other, alpha, sign)
    return _ops.add(input, other, out=out) if sign > 0 else _ops.subtract(input, other, out=out)


def added_here(input: Any, other: Any, alpha: Any, sign: int = 1) -> Any:
    if alpha != 1:
        one = _one_for(input, other, alpha)
        if one is not None:
            return TensorBase.addcmul_(input, one, other, value=sign * alpha)
        other, sign = _multiple(input, other, alpha, sign)
    return TensorBase.add_(input, other) if sign > 0 else TensorBase.subtract_(input, other)


# ---- pointwise ----


def signs(input: Any, out: Any) -> Any:
    """torch.sign: truth values are their own signs."""
    return written(input.clone(), out) if input.dtype is bool_ else _ops.sign(input, out=out)


def signs_here(input: Any) -> Any:
    return input if input.dtype is bool_ else TensorBase.sign_(input)


def outer_added(input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any, out: Any) -> Any:
    """torch.addr: of truth values "or" is the sum and "and" the product."""
    if not (input.dtype is vec1.dtype is vec2.dtype is bool_):
        return product_added(_ops.addr, input, vec1, vec2, beta, alpha, out)
    products = _ops.logical_and(_ops.expand_dims(vec1, -1), vec2)
    return written(_ops.logical_or(_ops.logical_and(input, bool(beta)), _ops.logical_and(products, bool(alpha))), out)


def outer_added_here(input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    if input.dtype is bool_:
        return TensorBase.copy_(input, outer_added(input, vec1, vec2, beta, alpha, None))
    return product_added_here("addr", input, vec1, vec2, beta, alpha)


# ---- distances and losses ----


def distance(first: Any, second: Any, p: float, eps: float, keepdim: bool) -> Any:
    """pairwise_distance of any dtypes."""
    return linalg.vector_norm(_ops.add(_ops.subtract(first, second), float(eps)), axis=-1, keepdims=keepdim, ord=p)


def ranked(first: Any, second: Any, target: Any, margin: Any, reduction: str) -> Any:
    """margin_ranking_loss of integers."""
    parts = _ops.add(_ops.multiply(_ops.negative(target), _ops.subtract(first, second)), float(margin))
    loss = _ops.maximum(parts, 0)
    if reduction not in ("mean", "sum", "none"):
        raise InvalidValueError(f'margin_ranking_loss: reduction: expected "mean", "sum" or "none", got "{reduction}"')
    return loss if reduction == "none" else _ops.mean(loss) if reduction == "mean" else _ops.sum(loss)


def covariance(input: Any, correction: Any, fweights: Any, aweights: Any) -> Any:
    """torch.cov, whose result has the dtype of the observations and their weights together."""
    if aweights is not None:
        input = _ops.astype(input, promote_types(input.dtype, aweights.dtype))
    return _ops.cov(input, correction=correction, fweights=fweights, aweights=aweights)


# ---- convolutions ----


def convolved(convolve: Callable[..., Any], input: Any, weight: Any, bias: Any, *settings: Any) -> Any:
    """A convolution; one of complex numbers is made of four of their parts."""
    if not input.dtype.is_complex:
        return convolve(input, weight, bias, *settings)
    x, y, v, w = (part(t) for t in (input, weight) for part in (_ops.real, _ops.imag))
    b, c = (None, None) if bias is None else (_ops.real(bias), _ops.imag(bias))
    real = _ops.subtract(convolve(x, v, b, *settings), convolve(y, w, None, *settings))
    imag = _ops.add(convolve(x, w, c, *settings), convolve(y, v, None, *settings))
    return made(_ops.complex(real, imag))


__all__ = [
    "added", "added_here", "by_equation", "convolved", "covariance", "distance", "floats_of", "in_float32", "is_whole",
    "outer_added", "outer_added_here", "promoted", "ranked", "signs", "signs_here",
]  # fmt: skip
