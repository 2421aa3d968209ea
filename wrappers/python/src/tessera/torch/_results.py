# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of functions under PyTorch's names, and written to the tensors of `out`."""

from __future__ import annotations

import operator
from typing import Any

from .._core import TensorBase
from .._dtypes import bool_
from .._errors import ArgumentTypeError
from ._tensor import made

_CLASSES: dict[str, type[tuple[Any, ...]]] = {}
_FIELDS = {
    "aminmax": ("min", "max"), "qr": ("Q", "R"), "slogdet": ("sign", "logabsdet"), "svd": ("U", "S", "V"),
    "frexp": ("mantissa", "exponent"), "linalg_polar": ("U", "H"), "geqrf": ("a", "tau"), "lu_unpack": ("P", "L", "U"),
    "linalg_cholesky_ex": ("L", "info"), "linalg_inv_ex": ("inverse", "info"), "linalg_eig": ("eigenvalues", "eigenvectors"),
    "linalg_eigh": ("eigenvalues", "eigenvectors"), "linalg_lstsq": ("solution", "residuals", "rank", "singular_values"),
    "linalg_lu": ("P", "L", "U"), "linalg_lu_factor": ("LU", "pivots"), "linalg_qr": ("Q", "R"),
    "linalg_slogdet": ("sign", "logabsdet"), "linalg_svd": ("U", "S", "Vh"),
    "linalg_ldl_factor": ("LD", "pivots"), "linalg_ldl_factor_ex": ("LD", "pivots", "info"),
    "linalg_lu_factor_ex": ("LU", "pivots", "info"), "linalg_solve_ex": ("result", "info"),
    "triangular_solve": ("solution", "cloned_coefficient"), "histogram": ("hist", "bin_edges"),
    "histogramdd": ("hist", "bin_edges"), "_lu_with_info": ("LU", "pivots", "info"),
}  # fmt: skip


def _class_of(name: str) -> type[tuple[Any, ...]]:
    """The class of the results of a function, as in torch.return_types."""
    if name not in _CLASSES:
        fields = _FIELDS.get(name, ("values", "indices"))
        space: dict[str, Any] = {field: property(operator.itemgetter(place)) for place, field in enumerate(fields)}
        space["__slots__"] = ()
        space["_fields"] = fields
        space["__module__"] = "torch.return_types"
        space["__new__"] = lambda cls, *items: tuple.__new__(cls, items)
        space["__getnewargs__"] = lambda self: tuple(self)
        space["__repr__"] = lambda self: (
            f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self)) + ")"
        )
        _CLASSES[name] = type(name, (tuple,), space)
    return _CLASSES[name]


def named(name: str, results: Any) -> Any:
    """The results of a function under PyTorch's names."""
    return tuple.__new__(_CLASSES.get(name) or _class_of(name), results)


def _kind(dtype: Any) -> int:
    """The place of a dtype's kind in bool, integers, floating, complex: each holds those before it."""
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype is not bool_)


def holds(dtype: Any, other: Any) -> bool:
    """Whether a dtype is of the same kind as another one, or of a larger kind."""
    return _kind(other) <= _kind(dtype)


def _written_to(result: Any, out: Any) -> Any:
    if not holds(out.dtype, result.dtype):
        raise ArgumentTypeError(f"out: expected a dtype that holds {result.dtype}, got {out.dtype}")
    return made(result, out)


def written(results: Any, out: Any) -> Any:
    """The results, or the tensors of `out` with the results written into them."""
    if out is None:
        return results
    if isinstance(results, TensorBase):
        return _written_to(results, out)
    items = [_written_to(result, target) for result, target in zip(results, out)]
    return type(results)(*items) if hasattr(results, "_fields") else tuple(items)


def tuple_of(results: Any) -> tuple[Any, ...]:
    return tuple(results)


__all__ = ["holds", "named", "tuple_of", "written"]
