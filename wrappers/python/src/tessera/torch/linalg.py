# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.linalg."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .. import linalg as _linalg
from . import _rows, _table_modules
from ._namespace import lookup, space


def _norm_of_matrix(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    given = A if dtype is None else A.to(dtype)
    moved = _ops.moveaxis(given, tuple(dim), (-2, -1))
    result = _linalg.matrix_norm(moved, ord=ord, keepdims=keepdim)
    return _ops.moveaxis(result, (-2, -1), tuple(dim)) if keepdim else result


def _norm_of_any(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """A norm of vectors, or of matrices if `ord` is given with two axes."""
    axes = None if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)
    if ord is not None and (len(axes) == 2 if axes is not None else A.ndim == 2):
        return _norm_of_matrix(A, ord, (-2, -1) if axes is None else axes, keepdim, dtype)
    given = A if dtype is None else A.to(dtype)
    return _ops.vector_norm(given, axes, ord=2 if ord is None else ord, keepdims=keepdim)


_SPACE = {
    **space(), **{name: getattr(_linalg, name) for name in _linalg.__all__}, "norm_of_matrix": _norm_of_matrix,
    "norm_of_any": _norm_of_any, "plain_diagonal": _ops.diagonal,
}  # fmt: skip
_TABLE: dict[str, Any] = {
    **_rows.functions(_table_modules.LINALG, _SPACE, "tessera.torch.linalg"),
    "LinAlgError": _linalg.LinAlgError,
}
__getattr__, __dir__ = lookup(__name__, _TABLE)
