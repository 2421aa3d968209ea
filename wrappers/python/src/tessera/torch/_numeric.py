# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that are several of the library's, such as gradient, histogramdd, frexp, hash_tensor and svd_lowrank, and
those of complex numbers of which the library has only the ones of real numbers."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from .. import _ops, linalg
from .._core import TensorBase
from .._creation import arange
from .._dtypes import bool_, float32, float64, int32, int64, uint64
from .._errors import ArgumentTypeError, DTypeError, InvalidValueError, ShapeError
from .._interop import tensor
from ..func._batched import Batched
from ._adapters import fitting, only, some
from ._results import named, written
from ._tensor import made
from ._uncast import in_full, is_on, uncast

_range = range


def slopes(input: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    """torch.gradient: central differences inside and one-sided ones at the ends, as numpy.gradient."""
    if edge_order not in (1, 2):
        raise InvalidValueError(f"gradient(): edge_order: expected 1 or 2, got {edge_order}")
    axes = list(range(input.ndim)) if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)
    if len({axis % max(input.ndim, 1) for axis in axes}) != len(axes):
        raise InvalidValueError(f"gradient(): dim: expected each axis once, got {axes}")
    spacing = 1 if spacing is None else spacing
    plain = spacing.item() if isinstance(spacing, TensorBase) and spacing.ndim == 0 else spacing
    steps: list[Any] = list(plain) if hasattr(plain, "__len__") else [plain] * len(axes)
    if len(steps) != len(axes):
        raise InvalidValueError(f"gradient(): spacing: expected {len(axes)} of them, one for each axis, got {len(steps)}")
    return tuple(_slope(input, step, axis, edge_order) for step, axis in zip(steps, axes))


def _slope(input: Any, step: Any, axis: int, order: int) -> Any:
    count = input.shape[axis]
    if count < order + 1:
        raise InvalidValueError(f"gradient(): expected at least {order + 1} values along axis {axis}, got {count}")
    f = _ops.moveaxis(input, axis, -1)
    if isinstance(step, TensorBase):
        if step.shape != (count,):
            raise ShapeError(f"gradient(): spacing: expected {count} coordinates for axis {axis}, got shape {list(step.shape)}")
        gaps = _ops.subtract(step[1:], step[:-1])
    else:
        gaps = _ops.full((count - 1,), float(step), dtype=f.dtype if f.dtype.is_floating_point else float32, device=f.device)
    slope = _ops.divide(_ops.subtract(f[..., 1:], f[..., :-1]), gaps)  # between neighbours
    before, after = gaps[:-1], gaps[1:]
    inside = (slope[..., :-1] * after + slope[..., 1:] * before) / (before + after)
    first, last = slope[..., :1], slope[..., -1:]
    if order == 2:
        first = first + (first - slope[..., 1:2]) * gaps[:1] / (gaps[:1] + gaps[1:2])
        last = last + (last - slope[..., -2:-1]) * gaps[-1:] / (gaps[-1:] + gaps[-2:-1])
    return _ops.contiguous(_ops.moveaxis(_ops.concat([first, inside, last], -1), -1, axis))


def counted_in_boxes(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    """torch.histogramdd: how many points, the last axis of the input, lie in each box; the last edge belongs to the last box."""
    axes = input.shape[-1]
    points = _ops.reshape(input.detach(), (-1, axes))
    parts = [bins] * axes if hasattr(bins, "__index__") else list(bins)
    if len(parts) != axes:
        raise InvalidValueError(f"histogramdd(): bins: expected {axes} of them, one for each coordinate, got {len(parts)}")
    if any(isinstance(part, TensorBase) for part in parts):
        edges = parts
    else:
        made_as = {"dtype": input.dtype, "device": input.device}
        edges = [_ops.linspace(*_ends(points, axis, range), n + 1, **made_as) for axis, n in enumerate(parts)]
    sizes = [edge.shape[0] - 1 for edge in edges]
    inside, place = _ops.ones_like(points[:, 0], dtype=bool_), _ops.zeros_like(points[:, 0], dtype=int64)
    for axis, (edge, size) in enumerate(zip(edges, sizes)):
        x = _ops.contiguous(points[:, axis])
        inside = _ops.logical_and(inside, _ops.logical_and(x >= edge[0], x <= edge[-1]))
        place = place * size + _ops.clip(_ops.searchsorted(edge, x, side="right") - 1, 0, size - 1)
    each = _ops.ones_like(points[:, 0]) if weight is None else _ops.astype(_ops.reshape(weight.detach(), (-1,)), input.dtype)
    counts = _ops.zeros((math.prod(sizes),), dtype=input.dtype, device=input.device)
    hist = _ops.reshape(_ops.index_add(counts, 0, place, _ops.where(inside, each, 0)), sizes)
    if density:
        hist = hist / _ops.sum(hist)
        for axis, edge in enumerate(edges):
            hist = hist / _ops.reshape(_ops.diff(edge), [-1 if other == axis else 1 for other in _range(axes)])
    return named("histogramdd", (hist, tuple(map(made, edges))))


def _ends(points: Any, axis: int, range: Any) -> tuple[float, float]:
    if range is not None:
        low, high = range[2 * axis], range[2 * axis + 1]
    elif points.shape[0] == 0:
        low, high = 0.0, 1.0
    else:
        low, high = _ops.min(points[:, axis]).item(), _ops.max(points[:, axis]).item()
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def product_added(function: Any, input: Any, first: Any, second: Any, beta: Any, alpha: Any, out: Any) -> Any:
    """addmm and its kin, whose factors may be complex, and lose their fractions where the tensors are integers."""
    if isinstance(beta, complex) or isinstance(alpha, complex):
        zero = _ops.zeros((1,), dtype=input.dtype, device=input.device)  # whatever the kin's shapes are, it broadcasts
        return written(_ops.add(input * beta, function(zero, first, second, beta=0) * alpha), out)
    return function(input, first, second, beta=fitting(input, beta), alpha=fitting(input, alpha), out=out)


def product_added_here(name: str, input: Any, first: Any, second: Any, beta: Any, alpha: Any) -> Any:
    """addmm_ and its kin."""
    if isinstance(beta, complex) or isinstance(alpha, complex):
        return input.copy_(product_added(getattr(_ops, name), input, first, second, beta, alpha, None))
    write = getattr(TensorBase, name + "_")
    return write(input, first, second, beta=fitting(input, beta), alpha=fitting(input, alpha))


def contracted(a: Any, b: Any, dims: Any, out: Any) -> Any:
    """torch.tensordot, where a summed axis of size 1 stretches to the other tensor's: that one is summed along its axis first."""
    axes = dims.tolist() if isinstance(dims, TensorBase) else dims
    casts = not is_on() or _has_rows(a, b, axes)  # a dot product is not cast
    product: Any = linalg.tensordot if casts else uncast(linalg.tensordot)
    try:
        return product(a, b, axes=axes, out=out)
    except ShapeError:
        if hasattr(axes, "__index__"):
            axes = range(a.ndim - axes, a.ndim), range(axes)
        left, right = ([part] if hasattr(part, "__index__") else list(part) for part in axes)
        pairs = [(i, j) for i, j in zip(left, right) if a.shape[i] != b.shape[j]]
        if not all(1 in (a.shape[i], b.shape[j]) for i, j in pairs):
            raise
    of_a, of_b = ([i for i, j in pairs if b.shape[j] == 1], [j for i, j in pairs if a.shape[i] == 1])
    a = _ops.sum(a, of_a, dtype=a.dtype, keepdims=True) if of_a else a
    b = _ops.sum(b, of_b, dtype=b.dtype, keepdims=True) if of_b else b
    return product(a, b, axes=(left, right), out=out)


def _has_rows(a: Any, b: Any, axes: Any) -> bool:
    """Whether the result of tensordot has more than one number."""
    if hasattr(axes, "__index__"):
        return bool(math.prod(a.shape[: max(a.ndim - axes, 0)]) * math.prod(b.shape[axes:]) != 1)
    kept = [
        size for t, part in zip((a, b), axes) for i, size in enumerate(t.shape)
        if i not in {j % max(t.ndim, 1) for j in ([part] if hasattr(part, "__index__") else part)}
    ]  # fmt: skip
    return bool(math.prod(kept) != 1)


def crossed(input: Any, other: Any, dim: int, out: Any) -> Any:
    """torch.cross, whose vectors have 3 numbers each, and as many axes around them."""
    alike = input.shape == other.shape  # then the library checks the axis
    if not alike and (input.ndim != other.ndim or input.shape[dim] != 3 or other.shape[dim] != 3):
        raise ShapeError(f"cross(): expected two tensors of as many axes, with 3 numbers along axis {dim}, got shapes "
                         f"{tuple(input.shape)} and {tuple(other.shape)}")  # fmt: skip
    return _ops.cross(input, other, axis=dim, out=out)


def mantissa_and_exponent(input: Any) -> Any:
    """torch.frexp: numbers between 0.5 and 1, and powers of 2; 0, infinities and NaN with the power 0."""
    wide = _ops.astype(input, float64)
    size = wide.detach()
    shift = None
    if input.dtype is float64:  # the exponents of the smallest numbers are not among their bits
        small = _ops.less(_ops.abs(size), 2.0**-1022)
        size, shift = _ops.where(small, size * 2.0**54, size), _ops.where(small, 54, 0)
    biased = _ops.bitwise_and(_ops.bitwise_right_shift(size.view(int64), 52), 0x7FF)
    exponent = _ops.where(_ops.logical_and(biased > 0, biased < 0x7FF), biased - 1022, 0)
    if shift is not None:
        exponent = _ops.where(_ops.equal(size, 0), 0, exponent - shift)
    mantissa = _ops.ldexp(wide, _ops.negative(exponent))
    return named("frexp", (_ops.astype(mantissa, input.dtype), _ops.astype(exponent, int32)))


def hashed(input: Any, dim: Any, keepdim: bool, mode: int) -> Any:
    """torch.hash_tensor: the exclusive or of the 64 bits of each element, as float64 or int64."""
    if mode != 0:
        raise InvalidValueError(f"hash_tensor(): mode: expected 0, got {mode}")
    if input.dtype.is_complex:
        raise DTypeError(f"hash_tensor(): input: expected a real dtype, got {input.dtype}")
    whole = some(dim) is None
    if whole and not input.numel():
        raise InvalidValueError("hash_tensor(): dim: expected an axis, because the input has no elements, got none")
    # A sign that goes into more bits is the same before and after: integers are widened at the end.
    bits = input.detach()
    if bits.dtype.is_floating_point:
        bits = bits.to(float64).view(uint64)
    if whole:
        rows, left = exclusive_or(_ops.reshape(bits, (-1,))), (1,) * (input.ndim if keepdim else 0)
    else:
        bits = _ops.atleast_1d(bits)
        axes = [dim] if hasattr(dim, "__index__") else list(dim)
        of_one = {axis % bits.ndim for axis in axes}
        left = tuple(1 if axis in of_one else n for axis, n in enumerate(input.shape) if keepdim or axis not in of_one)
        rows = _ops.moveaxis(bits, tuple(axes), tuple(range(len(axes))))
        for _ in axes:
            rows = exclusive_or(rows)
    found = rows if rows.dtype is uint64 else rows.to(int64).view(uint64)
    return _ops.reshape(found, left) if left else found


def exclusive_or(rows: Any) -> Any:
    """The exclusive or of all rows: of the two halves, until few rows are left."""
    if not rows.shape[0]:
        return rows.new_zeros(rows.shape[1:])
    while (count := rows.shape[0]) > 8:
        half = count // 2
        joined = _ops.bitwise_xor(rows[:half], rows[half : 2 * half])
        if count % 2:
            joined[0] ^= rows[-1]
        rows = joined
    return reduce(_ops.bitwise_xor, _ops.unbind(rows))


# ---- complex numbers ----


def log_of_sum(input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    """torch.logsumexp."""
    if not input.dtype.is_complex:
        return _ops.logsumexp(input, dim, keepdims=keepdim, out=out)
    if not input.numel():
        return written(_ops.log(_ops.sum(input, dim, keepdims=keepdim)), out)
    largest = _ops.amax(_ops.real(input.detach()), dim, keepdims=True)
    largest = _ops.where(_ops.isfinite(largest), largest, 0.0)
    total = _ops.log(_ops.sum(_ops.exp(input - largest), dim, keepdims=keepdim))
    return written(total + _ops.reshape(largest, total.shape), out)


# ---- factors of matrices ----


def svd_of_low_rank(a: Any, q: Any, niter: int, mean: Any) -> Any:
    """torch.svd_lowrank: Halko, Martinsson and Tropp, "Finding structure with randomness", 2011, algorithm 5.1."""
    matrix = a if mean is None else a - mean
    rank = min(6 if q is None else q, *matrix.shape[-2:])
    back = _ops.conj(_ops.matrix_transpose(matrix))
    start = _ops.randn((*matrix.shape[:-2], matrix.shape[-1], rank), dtype=matrix.dtype, device=matrix.device)
    basis = linalg.qr(_ops.matmul(matrix, start))[0]
    for _ in range(niter):
        basis = linalg.qr(_ops.matmul(back, basis))[0]
        basis = linalg.qr(_ops.matmul(matrix, basis))[0]
    left, values, right = linalg.svd(_ops.matmul(_ops.conj(_ops.matrix_transpose(basis)), matrix), full_matrices=False)
    return named("svd", (_ops.matmul(basis, left), values, _ops.conj(_ops.matrix_transpose(right))))


def pca_of_low_rank(a: Any, q: Any, center: bool, niter: int) -> Any:
    """torch.pca_lowrank: the same of the rows without their mean."""
    rank = min(6, *a.shape[-2:]) if q is None else q
    mean = _ops.mean(a, -2, keepdims=True) if center else None
    return svd_of_low_rank(a, rank, niter, mean)


@in_full
def reflected(input: Any, tau: Any, other: Any, left: bool, transpose: bool) -> Any:
    """torch.ormqr: a product with the whole Q, square, of the reflectors of geqrf."""
    if input.ndim < 2 or tau.ndim < 1:
        raise InvalidValueError(f"ormqr(): input: expected a matrix and a vector of factors, got shapes {input.shape} and {tau.shape}")
    rows, count = input.shape[-2], tau.shape[-1]
    kept = input[..., :count]
    square = _ops.concat([kept, input.new_zeros((*input.shape[:-1], rows - count))], -1) if rows > count else kept
    q = linalg.householder_product(square, tau)
    q = _ops.conj(_ops.matrix_transpose(q)) if transpose else q
    return _ops.matmul(q, other) if left else _ops.matmul(other, q)


def _places_of_rows(pivots: Any, rows: int) -> Any:
    """Where the exchanges of lu_factor, of row i with row pivots[i] - 1, bring each row of each matrix. They undo themselves, so
    from the last to the first they bring the places back to the rows."""
    matrices, count = math.prod(pivots.shape[:-1]), pivots.shape[-1]
    exchanges = (pivots if pivots.ndim == 1 else _ops.reshape(pivots, (-1,))).tolist()
    if exchanges and not 1 <= min(exchanges) <= max(exchanges) <= rows:
        wrong = next(other for other in exchanges if not 1 <= other <= rows)
        raise InvalidValueError(f"lu_unpack(): LU_pivots: expected rows from 1 to {rows}, got {wrong}")
    places: list[int] = []
    last_to_first = range(count - 1, -1, -1)
    for first in range(0, matrices * count, count) if count else [0] * matrices:
        of_one = list(range(rows))
        for row in last_to_first:
            other = exchanges[first + row] - 1
            of_one[row], of_one[other] = of_one[other], of_one[row]
        places += of_one
    found = tensor(places, dtype=int64, device=pivots.device)
    return found if pivots.ndim == 1 else _ops.reshape(found, (*pivots.shape[:-1], rows))


def _places_of_samples(pivots: Any, rows: int) -> Any:
    """The same for the samples of vmap, whose numbers are not known: one exchange after the other in all of them."""
    places = pivots.new_zeros((*pivots.shape[:-1], rows), dtype=int64) + arange(rows, dtype=int64, device=pivots.device)
    for row in range(pivots.shape[-1] - 1, -1, -1):
        other = _ops.astype(pivots[..., row : row + 1], int64) - 1
        here = places[..., row : row + 1].clone()
        places[..., row : row + 1] = _ops.take_along_axis(places, other, -1)
        places = _ops.scatter(places, -1, other, here)
    return places


def parts_of_lu(packed: Any, pivots: Any, data: bool, order: bool) -> Any:
    """torch.lu_unpack: P, L and U of what lu_factor gives; an empty tensor for what is not wanted."""
    rows, columns = tuple(packed.shape)[-2:]
    least = min(rows, columns)
    none = None if data and order else packed.new_empty(0)
    lower = upper = matrix = none
    if data or order:
        ones = _ops.eye(rows, least, dtype=packed.dtype, device=packed.device)
    if data:
        lower = _ops.add(_ops.tril(packed if least == columns else packed[..., :least], -1), ones)
        upper = _ops.triu(packed if least == rows else packed[..., :least, :])
    if order:
        places = (_places_of_samples if isinstance(pivots, Batched) else _places_of_rows)(pivots, rows)
        all_ones = ones if least == rows else _ops.eye(rows, dtype=packed.dtype, device=packed.device)
        matrix = made(_ops.take(all_ones, places, 0))
    return named("lu_unpack", (matrix, lower, upper))


def factored(a: Any, pivot: bool, infos: bool, out: Any) -> Any:
    """The deprecated torch.lu: the factors in one matrix, the pivots, and where one was 0 (never)."""
    only(pivot, True, "torch.lu(): pivot")
    packed, pivots = linalg.lu_factor(a)
    if not infos:
        return written((packed, pivots), out)
    return written(named("_lu_with_info", (packed, pivots, a.new_zeros(a.shape[:-2], dtype=int32))), out)


def old_order(name: str, factor: Any, *tensors: Any) -> dict[str, Any]:
    """The arguments of add and addcmul and their kin by name, from the deprecated order in which the factor comes first."""
    names = ("tensor1", "tensor2", "value") if name.startswith("addc") else ("other", "alpha")
    fits = len(tensors) == len(names) - 1 and all(isinstance(tensor, TensorBase) for tensor in tensors)
    if not fits or isinstance(factor, TensorBase):
        raise ArgumentTypeError(f"{name}(): expected {len(names) - 1} tensor(s), and {names[-1]} by name")
    return dict(zip(names, (*tensors, factor)))


__all__ = [
    "contracted", "counted_in_boxes", "crossed", "factored", "hashed", "log_of_sum", "mantissa_and_exponent",
    "old_order", "parts_of_lu", "pca_of_low_rank", "product_added", "product_added_here", "reflected", "slopes",
    "svd_of_low_rank",
]  # fmt: skip
