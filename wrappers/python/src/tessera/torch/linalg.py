# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.linalg."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .. import linalg as _linalg
from .._dtypes import int32
from .._modes import no_grad
from . import _rows, _table_modules
from .._errors import InvalidValueError, ShapeError
from ..autograd import Function
from ..func._batched import Batched, physical
from ..func._dispatch import wrapped
from ._namespace import lookup, space
from ._results import named, written
from ._tensor import retyped
from ._uncast import in_full


def _norm_of_matrix(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    given = A if dtype is None else A.to(dtype)
    moved = _ops.moveaxis(given, tuple(dim), (-2, -1))
    if 0 in moved.shape[-2:] and ord in (1, 2, math.inf):  # 0, as the largest of no numbers that are not negative
        result = _ops.sum(_ops.abs(moved), (-2, -1), keepdims=keepdim)
    else:
        result = _linalg.matrix_norm(moved, ord=ord, keepdims=keepdim)
    return _ops.moveaxis(result, (-2, -1), tuple(dim)) if keepdim else result


def _norm_of_any(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """A norm of vectors, or of matrices if `ord` is given with two axes."""
    axes = None if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)
    if ord is not None and (len(axes) == 2 if axes is not None else A.ndim == 2):
        return _norm_of_matrix(A, ord, (-2, -1) if axes is None else axes, keepdim, dtype)
    given = A if dtype is None else A.to(dtype)
    return _ops.vector_norm(given, axes, ord=2 if ord is None else ord, keepdims=keepdim)


def _with_info(name: str, function: Any, A: Any, check_errors: bool, **options: Any) -> Any:
    """The result of each matrix with 0, or NaN with 1 where the function refuses one."""
    if isinstance(A, Batched):
        return wrapped(_with_info(name, function, physical(A), check_errors, **options), A._level)
    try:
        return named(name, (function(A, **options), A.new_zeros(A.shape[:-2], dtype=int32)))
    except _linalg.LinAlgError:
        if check_errors:
            raise
    if A.ndim == 2:
        return named(name, (_ops.full_like(A.detach(), math.nan), A.new_ones((), dtype=int32)))
    parts = [_with_info(name, function, a, False, **options) for a in A]
    return named(name, tuple(_ops.stack(list(column), 0) for column in zip(*parts)))


def _checked(results: Any, check_errors: bool) -> Any:
    """The results, whose last one says where a factorization met a zero."""
    if check_errors and bool(_ops.any(_ops.not_equal(results[-1], 0))):
        raise _linalg.LinAlgError(f"expected invertible matrices, got info {results[-1].tolist()}")
    return results


def _with_zeros(LU: Any, pivots: Any, check_errors: bool) -> Any:
    """The factors of an LU factorization with the first zero on the diagonal of each U, counted from 1, or 0."""
    zeros = _ops.equal(_ops.diagonal(LU.detach(), 0, -2, -1), 0)
    if not zeros.shape[-1]:
        return LU, pivots, LU.new_zeros(LU.shape[:-2], dtype=int32)
    first = _ops.argmax(zeros.to(int32), -1) + 1
    return _checked((LU, pivots, _ops.where(_ops.any(zeros, -1), first, 0).to(int32)), check_errors)


def _is_vector(A: Any, B: Any) -> bool:
    """Whether a right side is a vector, or a batch of them: one for each matrix."""
    return bool(B.ndim == 1 or B.shape == A.shape[:-1])


def _solved(A: Any, B: Any, left: bool, out: Any = None) -> Any:
    if B.ndim > 1 and _is_vector(A, B) and left:
        return written(_ops.squeeze(_linalg.solve(A, _ops.expand_dims(B, -1)), -1), out)
    return _linalg.solve(A, B, left=left, out=out)


@in_full
def _fitted(A: Any, B: Any, rcond: Any, driver: str | None, out: Any) -> Any:
    """lstsq with what each driver of LAPACK tells: gelsy, the CPU's own, no residuals and no singular values; gels no rank."""
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise InvalidValueError(f"lstsq(): driver: expected gels, gelsy, gelsd or gelss, got {driver!r}")
    columns = _ops.expand_dims(B, -1) if _is_vector(A, B) else B
    kind = driver or ("gelsy" if A.device.type == "cpu" else "gels")
    if kind in ("gels", "gelsy"):
        solution, rank = _linalg.lstsq_solution(A, columns, rcond)
        values = solution.new_empty(0, dtype=A.real.dtype)
        determined = kind == "gels" and A.shape[-2] > A.shape[-1]
        if determined and not isinstance(rank, Batched):  # inside vmap gels takes the rank as full, as LAPACK's does
            determined = bool(_ops.all(_ops.equal(rank, A.shape[-1])))
    else:
        solution, residuals, rank, values = _linalg.lstsq(A, columns, rcond)
        determined = residuals.numel() != 0
    if determined:  # with a derivative, in reverse and in forward mode
        residuals = _ops.sum(_ops.square(_ops.abs(_ops.subtract(_ops.matmul(A, solution), columns))), -2)
    else:
        residuals = values.new_empty(0)
    if columns is not B:
        solution = _ops.squeeze(solution, -1)
    found = (solution, residuals, rank.new_empty(0) if kind == "gels" else rank, values)
    return written(named("linalg_lstsq", found), out)


def _solution_or_nan(A: Any, B: Any, left: bool, check_errors: bool) -> Any:
    """The solution, NaN for a singular matrix, and the first zero of the factors of each matrix."""
    info = _with_zeros(*_linalg.lu_factor(A.detach()), check_errors)[-1]
    singular = _ops.not_equal(info, 0)
    if not isinstance(singular, Batched) and not bool(_ops.any(singular)):
        return _solved(A, B, left), info
    safe = _ops.where(singular[..., None, None], _ops.eye(A.shape[-1], dtype=A.dtype, device=A.device), A)
    where = singular[..., None] if _is_vector(A, B) else singular[..., None, None]
    return _ops.where(where, math.nan, _solved(safe, B, left)), info


def _hermitian(matrix: Any) -> Any:
    return _ops.divide(_ops.add(matrix, matrix.mH), 2)


def _by_both_sides(H: Any, X: Any) -> Any:
    """The solution Y of HY + YH = X; H is positive definite."""
    values, vectors = _linalg.eigh(H)
    inside = _ops.matmul(vectors.mH, _ops.matmul(X, vectors))
    shares = _ops.divide(inside, _ops.add(values[..., :, None], values[..., None, :]))
    return _ops.matmul(vectors, _ops.matmul(shares, vectors.mH))


class _Polar(Function):
    """A = UH. The derivative is written without differences of singular values, which may be equal: of dA = dU H + U dH the part
    W = U* dU, which is skew, solves WH + HW = U* dA - dA* U."""

    @staticmethod
    def forward(ctx: Any, A: Any) -> Any:
        left, values, right = _linalg.svd(A, full_matrices=False)
        U = _ops.matmul(left, right)
        H = _ops.matmul(right.mH, _ops.multiply(_ops.expand_dims(values, -1), right))
        ctx.save_for_backward(U, H)
        return U, H

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        (U, H), A = ctx.saved_tensors, tangents[0]
        inside = _ops.matmul(U.mH, A)
        turn = _by_both_sides(H, _ops.subtract(inside, inside.mH))
        outside = _linalg.solve(H, _ops.subtract(A, _ops.matmul(U, inside)), left=False)
        return _ops.add(_ops.matmul(U, turn), outside), _ops.subtract(inside, _ops.matmul(turn, H))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (U, H), of_u, of_h = ctx.saved_tensors, gradients[0], _hermitian(gradients[1])
        skew = _ops.subtract(_ops.matmul(U.mH, of_u), _ops.matmul(of_h, H))
        turned = _by_both_sides(H, _ops.subtract(skew, skew.mH))
        inside = _ops.matmul(U, _ops.add(turned, of_h))
        outside = _ops.subtract(of_u, _ops.matmul(U, _ops.matmul(U.mH, of_u)))
        return _ops.add(inside, _linalg.solve(H, outside, left=False))


class _Root(Function):
    """X with XX = A, positive definite; dX solves X dX + dX X = dA."""

    @staticmethod
    def forward(ctx: Any, A: Any) -> Any:
        values, vectors = _linalg.eigh(A)
        X = _ops.matmul(vectors, _ops.multiply(_ops.expand_dims(_ops.sqrt(_ops.clip(values, 0, None)), -1), vectors.mH))
        ctx.save_for_backward(X)
        return X

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        (X,) = ctx.saved_tensors
        return _hermitian(_by_both_sides(X, tangents[0]))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (X,) = ctx.saved_tensors
        return _hermitian(_by_both_sides(X, gradients[0]))


@in_full
def _polar_of(A: Any) -> Any:
    if A.ndim < 2 or A.shape[-2] < A.shape[-1]:
        raise ShapeError(f"linalg.polar: A: expected matrices with at least as many rows as columns, got shape {A.shape}")
    return retyped(_Polar.apply(A))


@in_full
def _root_of(A: Any) -> Any:
    return retyped(_Root.apply(A))


def _inverse_of_tensor(A: Any, ind: int) -> Any:
    """The tensor whose contraction with A over `ind` axes is the identity."""
    rows, columns = A.shape[:ind], A.shape[ind:]
    return _ops.reshape(_linalg.inv(_ops.reshape(A, (math.prod(rows), math.prod(columns)))), (*columns, *rows))


def _solution_of_tensor(A: Any, B: Any, dims: Any) -> Any:
    """X with tensordot(A, X, X.ndim) = B; the axes `dims` of A are moved to its end before."""
    moved = A if dims is None else _ops.moveaxis(A, tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = moved.shape[B.ndim :]
    found = _linalg.solve(_ops.reshape(moved, (B.numel(), math.prod(shape))), _ops.reshape(B, (-1,)))
    return _ops.reshape(found, shape)


def _share(A: Any, atol: Any, rtol: Any) -> Any:
    """The share of the largest singular value up to which one counts as 0, where it may be given by a size, too."""
    if atol is None or not A.numel():
        return rtol
    with no_grad():
        largest = _ops.max(_linalg.svdvals(A), -1)
        found = _ops.where(largest > 0, atol / largest, 0.0)
        return found if rtol is None else _ops.maximum(found, rtol)


_SPACE = {
    **space(), **{name: getattr(_linalg, name) for name in _linalg.__all__}, "norm_of_matrix": _norm_of_matrix,
    "norm_of_any": _norm_of_any, "plain_diagonal": _ops.diagonal, "with_info": _with_info, "inverse_of_tensor": _inverse_of_tensor,
    "solution_of_tensor": _solution_of_tensor, "share": _share, "solved": _solved, "fitted": _fitted,
    "polar_of": _polar_of, "root_of": _root_of, "checked": _checked, "with_zeros": _with_zeros, "solution_or_nan": _solution_or_nan,
}  # fmt: skip
_TABLE: dict[str, Any] = {
    **_rows.functions(_table_modules.LINALG, _SPACE, "tessera.torch.linalg"),
    "LinAlgError": _linalg.LinAlgError,
}
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
