# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional."""

from __future__ import annotations

import warnings
from typing import Any

import tessera.nn.functional as _F
from tessera.nn._table import limited

from ... import _ops
from ..._core import TensorBase
from ..._dtypes import bool_, float64
from ..._errors import DTypeError, InvalidValueError, ShapeError
from ..._variadic import broadcast_tensors
from ...func._batched import Batched
from .. import _rows, _table_nn
from .._adapters import only
from .._dtype_cases import is_whole
from .._namespace import lookup, space
from .._results import written


def _open_sizes(input: Any, output_size: Any, count: int) -> Any:
    """Sizes of a result, where None is that of the input."""
    sizes = (output_size,) * count if output_size is None or hasattr(output_size, "__index__") else tuple(output_size)
    return tuple(input.shape[place - count] if size is None else size for place, size in enumerate(sizes))


def _with_places(plain: Any, positions: Any, wanted: bool, *args: Any) -> Any:
    return tuple(positions(*args)) if wanted else plain(*args)


def _largest(plain: Any, positions: Any, wanted: bool, input: Any, *args: Any) -> Any:
    """max_pool; integers are compared as float64, which holds all that it takes."""
    if not is_whole(input) or input.dtype is bool_:
        return _with_places(plain, positions, wanted, input, *args)
    if input.dtype.itemsize == 8 and input.numel() and (_ops.amax(input) > 2**53 or _ops.amin(input) < -(2**53)):
        raise DTypeError(f"max_pool: input: expected numbers between -2^53 and 2^53 for {input.dtype}, got larger ones")
    values, places = positions(_ops.astype(input, float64), *args)
    values = _ops.astype(values, input.dtype)
    return (values, places) if wanted else values


def _implied(input: Any, dim: Any) -> int:
    """The axis of a softmax without one."""
    if dim is None:
        text = "Implicit dimension choice for softmax has been deprecated. Change the call to include dim=X as an argument."
        warnings.warn(text, UserWarning, stacklevel=3)
    return (0 if input.ndim in (0, 1, 3) else 1) if dim is None else int(dim)


def _rows_of(input: Any, weight: Any, padding_idx: Any, by_freq: bool) -> Any:
    """Rows of a table; with `by_freq` each is a bag of its own, because only bags divide the gradient by the frequency."""
    if not by_freq:
        return _F.embedding(input, weight, padding_idx)
    bags = _ops.reshape(input, (-1, 1))
    kept = _F.embedding_bag(bags, weight, None, True, "sum")
    if padding_idx is not None:
        row = padding_idx % weight.shape[0]
        kept = _ops.where(_ops.not_equal(bags, row), kept, _F.embedding(_ops.reshape(input, (-1,)), weight.detach()))
    return _ops.reshape(kept, (*input.shape, weight.shape[1]))


def same_shape(input: Any, target: Any) -> Any:
    return (input, target) if input.shape == target.shape else broadcast_tensors(input, target)


def pair(input: Any, target: Any) -> Any:
    """An input and a target of one shape: they broadcast with a warning."""
    if input.shape == target.shape:
        return input, target
    text = f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
    warnings.warn(f"{text}: they broadcast, which is seldom what is meant.", stacklevel=4)
    return broadcast_tensors(input, target)


def of_one_shape(input: Any, target: Any, var: Any) -> Any:
    """The tensors of gaussian_nll_loss, of which the target broadcasts where it has another shape."""
    if input.shape != target.shape:
        var = _ops.expand_dims(var, -1) if var.shape == input.shape[:-1] and var.ndim else var
        input, target, var = broadcast_tensors(input, target, _ops.broadcast_to(var, input.shape))
    return input, target, var


def _apart(input: Any, target: Any, reduction: str, weight: Any) -> Any:
    """l1_loss; the numbers may be complex, which have a distance as well."""
    if input.dtype.is_complex or target.dtype.is_complex:
        input = _ops.abs(_ops.subtract(*pair(input, target)))
        target = _ops.zeros_like(input)
    return _compared(_F.l1_loss, input, target, reduction, weight)


def _dropped(input: Any, p: float, training: bool, inplace: bool) -> Any:
    if input.dtype.is_complex:
        kept = _F.dropout(_ops.ones_like(_ops.real(input.detach())), p, training)
        return TensorBase.mul_(input, kept) if inplace else _ops.multiply(input, kept)
    return _F.dropout_(input, p, training) if inplace else _F.dropout(input, p, training)


def _of_length_one(input: Any, p: float, dim: Any, eps: float, out: Any) -> Any:
    if input.dtype.is_complex:
        return _ops.divide(input, _ops.clip(_ops.vector_norm(input, dim, ord=p, keepdims=True), eps, None), out=out)
    return _F.normalize(input, p, dim, eps, out=out)


def probabilities(input: Any) -> Any:
    """The input, of which PyTorch checks that its numbers are probabilities; on another device than the CPU it does not."""
    if isinstance(input, TensorBase) and not isinstance(input, Batched) and input.device.type == "cpu" and TensorBase.numel(input):
        least, largest = _ops.aminmax(input.detach())
        if not (least >= 0 and largest <= 1):
            raise InvalidValueError(
                f"binary_cross_entropy(): input: all elements should be between 0 and 1, got {least.item():g} to {largest.item():g}"
            )
    return input


def _compared(loss: Any, input: Any, target: Any, reduction: str, weight: Any, *settings: Any) -> Any:
    """A loss of pairs; each may have a weight, and the mean divides by the weights' sum."""
    input, target = pair(input, target)
    if weight is None:
        return loss(input, target, reduction, *settings)
    if weight.shape != input.shape:
        raise InvalidValueError(f"weight: expected the input's shape {input.shape}, got {weight.shape}")
    parts = _ops.multiply(loss(input, target, "none", *settings), weight)
    if reduction == "mean":
        return _ops.divide(_ops.sum(parts), _ops.sum(weight))
    return _ops.sum(parts) if reduction == "sum" else parts


def _attended(
    query: Any, key: Any, value: Any, width: int, heads: int, outer: Any, in_bias: Any, weights: Any, *options: Any
) -> Any:
    """Attention of several heads; `options` are those behind the projections, then static keys and values."""
    *more, static_k, static_v = options
    only(static_k, None, "multi_head_attention_forward(): static_k")
    only(static_v, None, "multi_head_attention_forward(): static_v")
    if query.shape[-1] != width:
        raise ShapeError(f"multi_head_attention_forward(): query: expected {width} features, got {query.shape[-1]}")
    joined, *apart = weights
    attention: Any = _F.multi_head_attention
    output, found = attention(query, key, value, heads, *outer, joined, in_bias, *apart, *more)
    return output, found if more[-2] else None


def _by_vector(input: Any, weight: Any, bias: Any, out: Any) -> Any:
    """linear with one output, which gets no axis; a bias is a number then."""
    if bias is not None and bias.ndim:
        raise ShapeError(f"linear: bias: expected no axes beside a weight of one, got shape {bias.shape}")
    product = _ops.matmul(input, weight)
    return written(product if bias is None else _ops.add(product, bias), out)


def _ignored(target: Any, index: int | None) -> int:
    """The class that cross_entropy leaves out, or one that there is not; probabilities are no classes."""
    if index is not None and index >= 0 and target.dtype.is_floating_point:
        raise InvalidValueError(f"cross_entropy(): ignore_index: expected none beside a target of probabilities, got {index}")
    return -100 if index is None else index


def _classes_of(input: Any, weight: Any, bias: Any) -> Any:
    """The logits of linear_cross_entropy; the weight may have axes between the classes and the features."""
    if weight.ndim < 2:
        raise ShapeError(f"linear_cross_entropy(): linear_weight: expected at least 2 axes, got shape {weight.shape}")
    classes, *places, features = weight.shape
    logits = _F.linear(input, _ops.reshape(weight, (-1, features)), bias if bias is None else _ops.reshape(bias, (-1,)))
    return _ops.reshape(logits, (*input.shape[:-1], classes, *places))


_SPACE = space(
    ignored=_ignored, attended=_attended, by_vector=_by_vector, classes_of=_classes_of,
    open_sizes=_open_sizes, with_places=_with_places, implied=_implied, bool_of=bool, same_shape=same_shape, rows_of=_rows_of,
    compared=_compared, largest=_largest, probabilities=probabilities, of_one_shape=of_one_shape, apart=_apart, dropped=_dropped, of_length_one=_of_length_one,
    plain_threshold=_F.threshold, limited=limited,
    pad_=_F.pad, **({"unfold_image": getattr(_F, "unfold")} if hasattr(_F, "unfold") else {}),  # noqa: B009
)  # fmt: skip
_FUNCTIONS = {
    **_rows.same(_table_nn.SAME_FUNCTIONAL, _F, _ops),
    **_rows.functions(_table_nn.FUNCTIONAL, _SPACE, "tessera.torch.nn.functional"),
}
globals().update(_FUNCTIONS)
__all__ = sorted(_FUNCTIONS)
__getattr__, __dir__ = lookup(__name__, _FUNCTIONS)
