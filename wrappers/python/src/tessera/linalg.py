# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, with the names of the Python Array API standard's extension and those that NumPy and PyTorch add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _ops
from ._errors import LinAlgError
from ._ops import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    logdet,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    matmul,
    matrix_exp,
    matrix_rank,
    matrix_transpose,
    outer,
    pinv,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
    vector_norm,
)

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "LinAlgError", "logdet", "lstsq", "lu", "lu_factor", "lu_solve", "matmul", "matrix_exp",
    "matrix_norm", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet",
    "solve", "solve_triangular", "svd", "svdvals", "vector_norm",
]  # fmt: skip

def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A diagonal of the matrices in the last two axes."""
    return _ops.diagonal(x, offset, -2, -1)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: str | float = "fro", out: Tensor | None = None) -> Tensor:
    """A norm of the matrices in the last two axes: "fro", "nuc", 2, -2, 1, -1, inf or -inf."""
    return _ops.matrix_norm(x, keepdims=keepdims, ord=_order(ord), out=out)


def cond(x: Tensor, p: str | float | None = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of the matrices times that of their inverses; `p` as ord of matrix_norm, 2 when absent."""
    return _ops.cond(x, "2" if p is None else _order(p), out=out)


def _order(ord: str | float) -> str:
    return ord if isinstance(ord, str) else f"{ord:g}"
