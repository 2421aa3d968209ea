# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, with the names of the Python Array API standard's extension and those that NumPy and PyTorch add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _ops
from ._core import TensorBase
from ._errors import ArgumentTypeError, InvalidValueError, LinAlgError, as_int, as_list
from ._ops import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    cross,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    geqrf,
    householder_product,
    inv,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    logdet,
    lstsq,
    lstsq_solution,
    lu,
    lu_factor,
    lu_solve,
    matmul,
    matrix_exp,
    matrix_power,
    matrix_rank_by_rtol,
    matrix_transpose,
    multi_dot,
    outer,
    pinv_by_rtol,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
    trace,
    vecdot,
    vector_norm,
)

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "einsum", "geqrf", "householder_product", "inv", "ldl_factor", "ldl_factor_ex", "ldl_solve", "LinAlgError",
    "logdet", "lstsq", "lstsq_solution", "lu", "lu_factor", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_rank_by_rtol", "matrix_transpose", "multi_dot", "outer", "pinv",
    "pinv_by_rtol", "qr", "slogdet",
    "solve", "solve_triangular", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A diagonal of the matrices in the last two axes."""
    return _ops.diagonal(x, offset, -2, -1)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: str | float = "fro", out: Tensor | None = None) -> Tensor:
    """A norm of the matrices in the last two axes: "fro", "nuc", 2, -2, 1, -1, inf or -inf."""
    return _ops.matrix_norm(x, keepdims=keepdims, ord=_order(ord), out=out)


def matrix_rank(
    x: Tensor, /, *, rtol: float | Tensor | None = None, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """How many singular values are larger than `rtol` times the largest one, which may be a share for each matrix."""
    if isinstance(rtol, TensorBase):
        return _ops.matrix_rank_by_rtol(x, rtol, hermitian, out=out)
    return _ops.matrix_rank(x, rtol=rtol, hermitian=hermitian, out=out)


def pinv(
    x: Tensor, /, *, rtol: float | Tensor | None = None, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """The pseudo-inverse; singular values up to `rtol` times the largest one, a share for all or for each matrix, count
    as 0."""
    if isinstance(rtol, TensorBase):
        return _ops.pinv_by_rtol(x, rtol, hermitian, out=out)
    return _ops.pinv(x, rtol=rtol, hermitian=hermitian, out=out)


def cond(x: Tensor, p: str | float | None = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of the matrices times that of their inverses; `p` as ord of matrix_norm, 2 when absent."""
    return _ops.cond(x, "2" if p is None else _order(p), out=out)


def _order(ord: str | float) -> str:
    return ord if isinstance(ord, str) else f"{ord:g}"


def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = 2, out: Tensor | None = None
) -> Tensor:
    """The sums of products over the last `axes` axes of x1 and the first of x2, or over two lists of axes."""
    if not hasattr(axes, "__index__"):
        pair = as_list(axes, "tensordot: axes")
        if len(pair) != 2:
            raise InvalidValueError(f"tensordot: axes: expected a number or two lists, got {len(pair)} items")
        left, right = ([a] if isinstance(a, int) else as_list(a, "tensordot: axes") for a in pair)
    else:
        count = as_int(axes, "tensordot: axes")
        if not 0 <= count <= min(x1.ndim, x2.ndim):
            raise InvalidValueError(f"tensordot: axes: expected a number in [0, {min(x1.ndim, x2.ndim)}], got {count}")
        left, right = list(range(x1.ndim - count, x1.ndim)), list(range(count))
    return _ops.tensordot(x1, x2, left, right, out=out)


def einsum(equation: Any, *operands: Any, path: Sequence[Any] | None = None, out: Tensor | None = None) -> Tensor:
    """Sums of products over the axes that an equation names: einsum("ij,jk->ik", a, b), or with lists of numbers in
    place of the letters, einsum(a, [0, 1], b, [1, 2], [0, 2]).

    `path` is a list of pairs of positions among the operands that are left, whose product goes to the end.
    """
    if isinstance(equation, str):
        tensors = as_list(operands[0], "einsum") if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    else:
        equation, tensors = _from_lists([equation, *operands])
    pairs = None if path is None else [as_int(i, "einsum: path") for pair in path for i in as_list(pair, "einsum: path")]
    return _ops.einsum(equation, list(tensors), pairs, out=out)


def _from_lists(arguments: list[Any]) -> tuple[str, list[Any]]:
    """The equation and the tensors of tensor, list, tensor, list, ... and perhaps a list for the result."""
    tensors, lists = arguments[0 : len(arguments) // 2 * 2 : 2], arguments[1::2]
    equation = ",".join(map(_letters, lists))
    if len(arguments) % 2:
        equation += "->" + _letters(arguments[-1])
    return equation, tensors


def _letters(labels: Any) -> str:
    if not isinstance(labels, (list, tuple)):
        raise ArgumentTypeError(f"einsum: expected a list of axis numbers, got {type(labels).__name__}")
    return "".join("..." if label is Ellipsis else _letter(as_int(label, "einsum: axis")) for label in labels)


def _letter(label: int) -> str:
    if not 0 <= label < len(_LETTERS):
        raise InvalidValueError(f"einsum: expected axis numbers in [0, {len(_LETTERS) - 1}], got {label}")
    return _LETTERS[label]
