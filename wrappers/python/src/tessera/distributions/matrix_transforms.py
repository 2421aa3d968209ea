# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms to matrices: triangular factors, those of correlations, and positive definite ones."""

from __future__ import annotations

import math

from .. import _ops, linalg
from .._creation import arange
from .._errors import ShapeError
from .._tensor import Tensor
from . import constraints
from ._transform import Transform
from ._values import Shape, ShapeLike, eps_of, shape_of


class LowerCholeskyTransform(Transform):
    """A lower triangular matrix with a positive diagonal from any square matrix."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return _ops.tril(x, -1) + _ops.diag_embed(_ops.exp(_ops.diagonal(x, 0, -2, -1)))

    def _inverse(self, y: Tensor) -> Tensor:
        return _ops.tril(y, -1) + _ops.diag_embed(_ops.log(_ops.diagonal(y, 0, -2, -1)))


class PositiveDefiniteTransform(Transform):
    """A positive definite matrix from any square one, whose LowerCholeskyTransform is its factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()._call(x)
        return _ops.matmul(factor, _ops.matrix_transpose(factor))

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform()._inverse(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """The triangular factor of a correlation matrix of n variables from n (n - 1) / 2 numbers, the rows below the
    diagonal.

    Each tanh of them is a share of what the numbers before it in the row leave of the row's length 1. The diagonal is
    the rest. The determinant is that of the elements below the diagonal.
    """

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky

    def _call(self, x: Tensor) -> Tensor:
        limit = 1 - eps_of(x)
        size = self.forward_shape(x.shape)[-1]
        shares = _from_rows(_ops.clip(_ops.tanh(x), -limit, limit), size)
        left = _ops.cumulative_prod(_ops.sqrt(1 - _ops.square(shares)), -1)
        unit = _ops.eye(size, dtype=x.dtype, device=x.device)
        return (shares + unit) * _ops.pad(left[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1 - _ops.cumulative_sum(_ops.square(y), -1)
        before = _to_rows(_ops.pad(left[..., :-1], [1, 0], value=1.0), -1)
        return _ops.atanh(_to_rows(y, -1) / _ops.sqrt(before))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = _to_rows(1 - _ops.cumulative_sum(_ops.square(y), -1), -2)
        slopes = 2.0 * (math.log(2.0) - x - _ops.softplus(-2.0 * x))  # log(1 - tanh(x)^2) without cancellation
        return 0.5 * _ops.sum(_ops.log(left), -1) + _ops.sum(slopes, -1)

    def forward_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        count = found[-1] if found else 0
        size = round(math.sqrt(0.25 + 2 * count) + 0.5)
        if not found or size * (size - 1) // 2 != count:
            raise ShapeError(f"CorrCholeskyTransform: expected a last axis of n (n - 1) / 2 numbers, got shape {found}")
        return (*found[:-1], size, size)

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        found = shape_of(shape, "shape")
        if len(found) < 2 or found[-1] != found[-2]:
            raise ShapeError(f"CorrCholeskyTransform: expected square matrices, got shape {found}")
        return (*found[:-2], found[-1] * (found[-1] - 1) // 2)


def _from_rows(values: Tensor, size: int) -> Tensor:
    """Matrices whose elements below the diagonal are these, row by row."""
    shape = (*values.shape[:-1], size, size)
    if not values.shape[-1]:
        return _ops.zeros(shape, dtype=values.dtype, device=values.device)
    columns = arange(size, device=values.device)
    rows = _ops.expand_dims(columns, -1)
    places = _ops.tril(rows * (rows - 1) // 2 + columns, -1)
    return _ops.tril(_ops.reshape(_ops.index_select(values, -1, _ops.flatten(places)), shape), -1)


def _to_rows(matrix: Tensor, diagonal: int) -> Tensor:
    """The elements on and below a diagonal, row by row."""
    size = matrix.shape[-1]
    places = _ops.tril_indices(size, size, diagonal, device=matrix.device)
    flat = _ops.reshape(matrix, (*matrix.shape[:-2], size * size))
    return _ops.index_select(flat, -1, places[0] * size + places[1])
