# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the rows of the table call where a difference from PyTorch is more than the name of an argument."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._creation import arange
from .._dtypes import bool_, dtype_of, iinfo, int32, int64, uint8, uint16, uint32
from .._errors import ArgumentTypeError, InvalidValueError, OutOfRangeError, ShapeError
from .._interop import asarray
from ._results import named, written
from ._tensor import made

# ---- arguments ----


def dtype_together(first: Any, second: Any) -> Any:
    """The dtype of an operation on two tensors or numbers, by which of them have axes."""
    operands = [made(_ops.empty((0,) if x.ndim else (), dtype=x.dtype)) if isinstance(x, TensorBase) else x for x in (first, second)]
    if not any(isinstance(x, TensorBase) for x in operands):
        operands[0] = made(asarray(operands[0]))
    return _ops.add(*operands).dtype


def summed(input: Any, dtype: Any) -> Any:
    """The dtype of sums and products: int64 for unsigned integers, which are uint64 in the library."""
    return int64 if dtype is None and input.dtype in (uint8, uint16, uint32) else dtype


def some(dim: Any) -> Any:
    """Axes, where an empty list means all."""
    return None if dim == () or dim == [] else dim


def many(dims: Any, more: tuple[Any, ...]) -> Any:
    """Axes given one by one, or as one sequence."""
    return (dims, *more) if more else dims


def sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one, or as one sequence."""
    if size and type(size[0]) is int:
        return size
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        return tuple(size[0])
    if len(size) == 1 and isinstance(size[0], TensorBase) and size[0].ndim:
        return tuple(size[0].tolist())
    return tuple(int(n) for n in size)


def integer(value: Any) -> Any:
    return value.__index__()


def number(value: Any) -> Any:
    return value.item() if isinstance(value, TensorBase) else value


def given(src: Any, value: Any) -> Any:
    """The one of two arguments that was given."""
    return value if src is None else src


def source_of(input: Any, src: Any, value: Any) -> Any:
    """What scatter writes: a tensor of the input's dtype, or a number."""
    source = given(src, value)
    return of_dtype(input, source) if isinstance(source, TensorBase) else fitting(input, source)


def of_dtype(input: Any, src: Any) -> Any:
    """A source whose numbers go to places of the input, which has its dtype: a mixture is more often a mistake than meant."""
    if src.dtype is not input.dtype:
        raise ArgumentTypeError(f"src: expected {input.dtype} as input, got {src.dtype}")
    return src


def is_complex_spectrum(input: Any, window: Any, wanted: Any) -> Any:
    if wanted is None and (input.dtype.is_complex or (window is not None and window.dtype.is_complex)):
        return True
    return wanted


def inverse_stft(input: Any, n_fft: int, onesided: bool | None, length: Any, return_complex: bool, *options: Any) -> Any:
    """istft; of both sides of the spectrum of a real signal it reads one."""
    one = input.shape[-2] != n_fft if onesided is None else bool(onesided)
    if not one and not return_complex and input.shape[-2] == n_fft:
        input, one = input[..., : n_fft // 2 + 1, :], True
    function: Any = _ops.istft
    return function(input, n_fft, *options, one, length, return_complex)


def truth(value: Any) -> bool:
    return bool(value)


def leaf(tensor: Any, requires_grad: bool) -> Any:
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def tensor_of(value: Any) -> Any:
    return value if isinstance(value, TensorBase) else made(asarray(value))


def reducing(reduce: str | None) -> dict[str, str]:
    return {} if reduce is None else {"reduce": reduce}


def fitting(input: Any, value: Any) -> Any:
    """A number, or a tensor without axes, as PyTorch converts it to the input's dtype."""
    if isinstance(value, TensorBase) and value.ndim:
        raise InvalidValueError(f"value: expected a number or a tensor without axes, got shape {tuple(value.shape)}")
    return value_of(input.dtype, value)


def value_of(dtype: Any, value: Any) -> Any:
    """A number as PyTorch converts it to a dtype: fractions are cut off, and negative numbers wrap where there is no sign."""
    dtype = dtype_of(dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return value
    plain = number(value)
    if isinstance(plain, complex):
        return plain
    if dtype is bool_:
        return bool(plain)
    if not math.isfinite(plain):
        raise InvalidValueError(f"value: expected a number that fits {dtype}, got {plain}")
    whole, largest = int(plain), iinfo(dtype).max
    return whole + largest + 1 if -largest <= whole < 0 and not dtype.is_signed else whole


def floats_only(count: Any) -> Any:
    if not count.dtype.is_floating_point:
        raise InvalidValueError(f"binomial: expected a floating dtype for count, got {count.dtype}")
    return count


def times_of(input: Any, repeats: tuple[int, ...]) -> tuple[int, ...]:
    if len(repeats) < input.ndim:
        raise InvalidValueError(f"repeat(): expected at least {input.ndim} numbers for shape {tuple(input.shape)}, got {len(repeats)}")
    return repeats


# ---- reductions ----


def extreme(name: str, input: Any, dim: Any, keepdim: bool, other: Any, out: Any) -> Any:
    """max and min: of all elements, of two tensors, or values and indices along an axis."""
    if isinstance(dim, TensorBase):
        other, dim = dim, None
    if other is not None:
        return getattr(_ops, name + "imum")(input, other, out=out)
    if dim is None:
        return getattr(_ops, name)(input, out=out)
    return named(name, getattr(_ops, name + "_with_indices")(input, dim, keepdim, out=out))


def middle(name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    """median and nanmedian: of all elements, NaN of none; or values and indices along an axis."""
    if dim is None:
        if not TensorBase.numel(input) and input.dtype.is_floating_point:
            return input.new_full((), math.nan)
        return getattr(_ops, name)(input)
    return named(name, getattr(_ops, name + "_with_indices")(input, dim, keepdim))


def spread(function: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any, out: Any) -> Any:
    """var, std and their kin, whose correction is 1 where nothing else is said."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return function(input, some(dim), correction=correction, keepdims=keepdim, **({} if out is None else {"out": out}))


def normed(input: Any, p: Any, dim: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """torch.norm: of vectors, except for "nuc" and for "fro" over two axes, which is the same as 2."""
    if p == "nuc":
        matrix = input if dim is None else _ops.moveaxis(input, dim, (-2, -1))
        return _ops.matrix_norm(matrix, ord="nuc", keepdims=keepdim, out=out)
    return _ops.norm(input, 2.0 if p in ("fro", None) else float(p), some(dim), keepdim, dtype, out=out)


def summed_to(input: Any, size: tuple[int, ...]) -> Any:
    """The sum over the axes that broadcasting to the input's shape would stretch."""
    lead = input.ndim - len(size)
    axes = [*range(lead), *[lead + i for i, n in enumerate(size) if n == 1 and input.shape[lead + i] != 1]]
    if size and not axes:
        return input
    return _ops.reshape(_ops.sum(input, axes, dtype=summed(input, None)), size)  # to no axes: a sum, too, and so of int64


def distinct(input: Any, inverse: bool, counts: bool, dim: Any) -> Any:
    if dim is not None:
        return _some(tuple(_ops.unique_axis(input, dim)), inverse, counts)
    if inverse and counts:
        values, _, places, numbers = _ops.unique_all(input)
        return values, places, numbers
    if inverse or counts:
        return tuple(_ops.unique_inverse(input) if inverse else _ops.unique_counts(input))
    return _ops.unique_values(input)


def runs(input: Any, inverse: bool, counts: bool, dim: Any) -> Any:
    if inverse:
        return _some(tuple(_ops.unique_consecutive(input, dim)), inverse, counts)
    return tuple(_ops.unique_consecutive_counts(input, dim)) if counts else _ops.unique_consecutive_values(input, dim)


def _some(results: tuple[Any, ...], inverse: bool, counts: bool) -> Any:
    kept = [results[0], *results[1:2] * bool(inverse), *results[2:3] * bool(counts)]
    return kept[0] if len(kept) == 1 else tuple(kept)


def counted(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    low, high = (None, None) if range is None else range
    return named("histogram", _ops.histogram(input, bins, min=low, max=high, weight=weight, density=density))


# ---- shapes, places ----


def spared(input: Any) -> Any:
    """The input of a function whose result is written into it; a copy where the gradient needs the values that it has now."""
    return _ops.clone(input) if input.requires_grad else input


def truths(found: Any, input: Any, out: Any) -> Any:
    """What all and any give: bool, and uint8 for uint8."""
    if out is not None:
        return made(found, out)
    return found.to(uint8) if input.dtype is uint8 else found


def squeezed(input: Any, dim: Any) -> Any:
    """Without the axes that are among these and have size 1."""
    axes = [dim] if hasattr(dim, "__index__") else list(dim)
    if input.ndim == 0:
        return input
    ones = [axis for axis in axes if input.shape[axis] == 1]
    return _ops.squeeze(input, ones) if ones else input


def parts(input: Any, sections: Any, dim: int) -> Any:
    if hasattr(sections, "__index__"):
        return _ops.split(input, sections, dim)
    return _ops.split_with_sizes(input, list(sections), dim)


def listed(tensors: Any) -> list[Any]:
    """The tensors that cat and stack join. One tensor would be taken for the list of its rows."""
    if isinstance(tensors, TensorBase):
        raise ArgumentTypeError(f"tensors: expected a list of tensors, got a tensor of shape {tuple(tensors.shape)}")
    return list(tensors)


def joined(tensors: Any, dim: int, out: Any) -> Any:
    """cat, where empty vectors join with anything."""
    items = listed(tensors)
    try:
        return _ops.concat(items, dim, out=out)
    except (ShapeError, OutOfRangeError):
        kept = [t for t in items if t.ndim != 1 or t.shape[0]]
        if len(kept) == len(items) or not kept:
            raise
    return _ops.concat(kept, dim, out=out)


def chosen(condition: Any, input: Any, other: Any, out: Any) -> Any:
    if input is None and other is None:
        return _ops.nonzero(_ops.atleast_1d(condition))
    if condition.dtype is uint8:  # what conditions were before there was bool
        condition = condition.to(bool_)
    if not isinstance(input, TensorBase) and not isinstance(other, TensorBase):
        input = made(asarray(input))
    return _ops.where(condition, input, other, out=out)


def gathered(input: Any, dim: int, index: Any, out: Any) -> Any:
    """gather, where an index without elements may have any axes."""
    if index.ndim == input.ndim or index.numel():
        return _ops.gather(input, dim, index, out=out)
    vector = input if input.ndim else _ops.reshape(input, (1,))
    none = _ops.gather(vector, dim, index.new_empty((0,) * vector.ndim, dtype=int64))
    return written(_ops.reshape(none, index.shape), out)


def axis_of_three(input: Any, other: Any, dim: Any) -> int:
    if dim is not None:
        return int(dim)
    shape = input.shape if input.ndim >= other.ndim else other.shape
    if 3 not in shape:
        raise InvalidValueError(f"cross(): expected an axis of size 3, got shape {tuple(shape)}")
    return tuple(shape).index(3)


def placed(edges: Any, input: Any, out_int32: bool, right: bool, side: Any, sorter: Any, out: Any) -> Any:
    found = _ops.searchsorted(edges, input, side=side or ("right" if right else "left"), sorter=sorter, out=out)
    return found.to(int32) if out_int32 else made(found)


def unravel(indices: Any, shape: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    indices = indices.to(int64)
    for size in reversed(sizes((shape,))):
        found.append(indices % size)
        indices = indices // size
    return tuple(reversed(found))


def reversed_axes(input: Any) -> Any:
    """T: the axes in reverse order, which PyTorch will give up for all but matrices."""
    if input.ndim != 2:
        warnings.warn("The use of `x.T` on tensors of dimension other than 2 is deprecated: use mT or permute()", stacklevel=3)
    return _ops.permute(input, tuple(range(input.ndim))[::-1])


def limits(given: tuple[Any, ...], named: dict[str, Any], first: Any, last: Any) -> Any:
    """The arguments `from` and `to` of methods that draw numbers; the first is a word of Python's, which no signature can have."""
    for name in named:
        if name not in ("from", "to"):
            raise ArgumentTypeError(f"unexpected keyword argument {name!r}")
        if len(given) > ("from", "to").index(name):
            raise ArgumentTypeError(f"multiple values for argument {name!r}")
    places = (*given, *(named.get(name, default) for name, default in (("from", first), ("to", last))[len(given):]))
    if len(places) != 2:
        raise ArgumentTypeError(f"expected at most 2 bounds, got {len(places)}")
    return places


def whole_limits(*given: Any, **named: Any) -> Any:
    """Of random_(): one number alone is the end."""
    if len(given) == 1 and "to" not in named:
        return limits((0, *given), named, 0, None)
    return limits(given, named, 0, None)


def filled(input: Any, value: Any) -> Any:
    """fill_: with a number, or with a tensor without axes, which gets the sum of the gradient."""
    plain = fitting(input, value)
    return input.copy_(value) if isinstance(value, TensorBase) else TensorBase.fill_(input, plain)


def diagonal_filled(input: Any, value: Any, wrap: bool) -> Any:
    """fill_diagonal_: of the axes of a tensor whose axes have one size, or of a matrix; `wrap` continues in tall ones."""
    if input.ndim < 2 or (input.ndim > 2 and len(set(input.shape)) > 1):
        raise InvalidValueError(f"fill_diagonal_(): expected a matrix or axes of one size, got shape {tuple(input.shape)}")
    step = sum(TensorBase.stride(input))
    height, width = input.shape[0], input.shape[1]
    least: int = min(input.shape)
    views = [_ops.as_strided(input, (least,), (step,), TensorBase.storage_offset(input))]
    start = (width + 1) * TensorBase.stride(input, 0)
    for row in range(width + 1, height, width + 1) if wrap and input.ndim == 2 else ():
        offset = TensorBase.storage_offset(input) + row // (width + 1) * start
        views.append(_ops.as_strided(input, (min(width, height - row),), (step,), offset))
    for view in views:
        view.fill_(value)
    return input


def matrix_of(input: Any) -> Any:
    """The matrix of trace(), which takes no batch of them."""
    if input.ndim != 2:
        raise InvalidValueError(f"trace(): expected a matrix, got shape {tuple(input.shape)}")
    return input


def turned(input: Any) -> Any:
    """t() of at most two axes."""
    if input.ndim > 2:
        raise InvalidValueError(f"t(): expected a tensor of at most 2 axes, got {input.ndim}")
    return input if input.ndim < 2 else _ops.transpose(input, 0, 1)


def conjugate(input: Any) -> Any:
    """Complex conjugates; real numbers are their own, and no copy."""
    return _ops.conj(input) if input.dtype.is_complex else input


def of_one_dtype(input: Any, other: Any) -> tuple[Any, Any]:
    if input.dtype is not getattr(other, "dtype", input.dtype):
        raise ArgumentTypeError(f"expected two tensors of one dtype, got {input.dtype} and {other.dtype}")
    return input, other


def some_places(input: Any, size: int, fill: int) -> Any:
    """The first places of elements other than 0, as many as asked for."""
    places = _ops.argwhere(input)[:size]
    rest = _ops.full((size - places.shape[0], input.ndim), fill, dtype=places.dtype, device=places.device)
    return _ops.concat([places, rest], 0)


def norm_beside(v: Any, power: Any, dim: int) -> Any:
    """The norms over all axes but one, which stays."""
    if dim == -1:
        return _ops.vector_norm(v, ord=power)
    return _ops.vector_norm(v, [axis for axis in range(v.ndim) if axis != dim % v.ndim], ord=power, keepdims=True)


def grid_modes(interpolation: int, padding: int) -> tuple[str, str]:
    """The modes of grid_sample by their numbers."""
    return ("bilinear", "nearest", "bicubic")[interpolation], ("zeros", "border", "reflection")[padding]


def order_of(input: Any) -> tuple[int, ...]:
    """The axes from the one with the largest stride to the one with the smallest."""
    strides = TensorBase.stride(input)
    return tuple(sorted(range(input.ndim), key=lambda axis: (-strides[axis], axis)))


def is_same_memory(input: Any, other: Any) -> bool:
    same: bool = TensorBase.data_ptr(input) == TensorBase.data_ptr(other) and input.shape == other.shape
    return same and TensorBase.stride(input) == TensorBase.stride(other)


# ---- arithmetic ----


def divided(input: Any, other: Any, mode: str | None, out: Any) -> Any:
    if mode is None:
        return _ops.divide(input, other, out=out)
    return _ops.divide_rounded(input, other, rounding_mode=mode, out=out)


def applied(input: Any, function: Callable[[Any], Any]) -> Any:
    return input.copy_(made(asarray([function(n) for n in input.flatten().tolist()], dtype=input.dtype)).reshape(input.shape))


def mapped(input: Any, other: Any, function: Callable[[Any, Any], Any]) -> Any:
    both = zip(input.flatten().tolist(), _ops.broadcast_to(other, input.shape).flatten().tolist())
    return input.copy_(made(asarray([function(a, b) for a, b in both], dtype=input.dtype)).reshape(input.shape))


def vandermonde(x: Any, count: Any, increasing: bool) -> Any:
    powers = made(arange(x.shape[-1] if count is None else count, device=x.device))
    factors = _ops.where(_ops.equal(powers, 0), 1, _ops.expand_dims(x, -1))
    columns = _ops.cumulative_prod(factors, axis=-1)
    return columns if increasing else _ops.flip(columns, -1)


def thin_svd(input: Any, some: bool, compute_uv: bool) -> Any:
    """The deprecated torch.svd, whose third result is V and not its conjugate transpose."""
    if not compute_uv:
        values = _ops.svdvals(input)
        rows, columns = input.shape[-2:]
        lead = tuple(input.shape[:-2])
        return named("svd", (input.new_zeros((*lead, rows, rows)), values, input.new_zeros((*lead, columns, columns))))
    left, values, right = _ops.svd(input, full_matrices=not some)
    return named("svd", (left, values, _ops.conj(_ops.matrix_transpose(right))))


def solved_triangle(b: Any, a: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    matrix = _ops.matrix_transpose(a) if transpose else a
    solution = _ops.solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve", (solution, _ops.clone(a)))


_PROFILES: dict[Any, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": 2**62, "edgeitems": 3, "linewidth": 80},
}


def options_of(precision: Any, threshold: Any, edgeitems: Any, linewidth: Any, profile: Any, sci_mode: Any) -> dict[str, Any]:
    """The options of printing: those of a profile, then the given ones."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    if given["threshold"] == math.inf:
        given["threshold"] = 2**62
    named_ = {name: value for name, value in given.items() if value is not None}
    return {**_PROFILES.get(profile, {}), **named_, "sci_mode": sci_mode}


def only(value: Any, expected: Any, what: str) -> None:
    """Raises for a setting of PyTorch that the library does not have."""
    if value != expected:
        raise NotImplementedError(f"{what}={value!r} is not in tessera.torch; it has {expected!r}")


def shrunk(input: Any, lambd: float, out: Any) -> Any:
    """hardshrink, which keeps everything at a negative bound."""
    if lambd >= 0:
        return _ops.hardshrink(input, lambd, out=out)
    return written(_ops.clone(input), out)


def margin_of(margin: float) -> float:
    """The margin of a triplet loss: at 0 or below it the loss has its minimum where all embeddings are the same."""
    if margin <= 0:
        raise InvalidValueError(f"margin: expected more than 0, got {margin}")
    return margin


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction, where PyTorch's deprecated arguments still decide."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def into(input: Any, result: Any, inplace: bool) -> Any:
    """The result of an activation, or the input with the result written into it."""
    return input.copy_(result) if inplace else result


__all__ = [name for name in dir() if not name.startswith("_")]
