# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions of matrices: Wishart's of covariances, and that of Lewandowski, Kurowicka and Joe of correlations."""

from __future__ import annotations

import math
import warnings
from typing import ClassVar

from .. import _ops, linalg
from .._creation import arange
from .._errors import InvalidValueError, ShapeError, as_int
from .._modes import no_grad
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, Value, as_tensor, broadcast_all, eps_of, shape_of, tiny_of
from .distribution import Distribution
from .gamma import Beta, gamma_numbers
from .multivariate import OfOneCovariance, half_log_det
from .normal import standard_normal


def _numbers(size: int, like: Tensor) -> Tensor:
    """0, 1, ..., size - 1 in the dtype of a tensor."""
    return arange(size, dtype=like.dtype, device=like.device)


def _matrices(numbers: Tensor) -> Tensor:
    return _ops.expand_dims(_ops.expand_dims(numbers, -1), -1)


class Wishart(OfOneCovariance):
    """Sums of x x^T for `df` normal vectors x around 0, where df need not be whole.

    The covariance of x is given as such, by its inverse, or by its lower triangular factor. `df` exceeds the number of
    variables minus 1.
    """

    arg_constraints: ClassVar = {
        "df": constraints.dependent, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.positive_definite
    has_rsample = True
    df: Tensor

    def __init__(
        self, df: Value, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:
        name, matrix = self._one_given(covariance_matrix, precision_matrix, scale_tril)
        if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
            raise ShapeError(f"Wishart: {name}: expected square matrices, got shape {matrix.shape}")
        freedom, _ = broadcast_all(df, matrix[..., 0, 0])
        batch, size = freedom.shape, matrix.shape[-1]
        if not bool(_ops.all(freedom > size - 1)):
            raise InvalidValueError(f"Wishart: df: expected values above {size - 1}, the number of variables minus 1")
        if bool(_ops.any(freedom < size)):
            warnings.warn(f"Wishart: with df below {size} samples are nearly singular", stacklevel=2)
        self.df = _ops.astype(freedom, matrix.dtype)
        self.__dict__[name] = _ops.broadcast_to(matrix, batch + matrix.shape[-2:])
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _matrices(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - (self._event_shape[-1] + 1)
        return _matrices(_ops.where(factor > 0, factor, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        diagonal = _ops.diagonal(self.covariance_matrix, 0, -2, -1)
        products = _ops.expand_dims(diagonal, -1) * _ops.expand_dims(diagonal, -2)
        return _matrices(self.df) * (_ops.square(self.covariance_matrix) + products)

    def rsample(self, sample_shape: ShapeLike = (), max_try_correction: int | None = None) -> Tensor:
        """Samples; those that rounding made singular are drawn again, `max_try_correction` times (10)."""
        drawn = self._bartlett(sample_shape)
        for _ in range(10 if max_try_correction is None else as_int(max_try_correction, "max_try_correction")):
            fits = constraints.positive_definite.check(_ops.detach(drawn))
            if bool(_ops.all(fits)):
                break
            drawn = _ops.where(_matrices(fits), drawn, self._bartlett(sample_shape))
        return drawn

    def _bartlett(self, sample_shape: ShapeLike) -> Tensor:
        """Bartlett's decomposition: the factor is L A, where A has roots of chi-squared numbers on its diagonal and normal
        numbers below."""
        shape = self._extended_shape(sample_shape)
        freedom = _ops.expand_dims(self.df, -1) - _numbers(shape[-1], self.df)
        roots = _ops.sqrt(2 * gamma_numbers(0.5 * freedom, shape[:-1]))
        diagonal = _ops.diag_embed(_ops.clip(roots, eps_of(roots)))
        factor = _ops.matmul(self.scale_tril, diagonal + _ops.tril(standard_normal(shape, self.df), -1))
        return _ops.matmul(factor, _ops.matrix_transpose(factor))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        p = self._event_shape[-1]
        trace = _ops.sum(self.precision_matrix * value, (-2, -1))  # of a product, one factor of which is symmetric
        return 0.5 * ((self.df - p - 1) * linalg.slogdet(value)[1] - trace) - self._log_factor()

    def _log_factor(self) -> Tensor:
        p = self._event_shape[-1]
        log_det = half_log_det(self.scale_tril) + 0.5 * p * math.log(2)
        return self.df * log_det + _ops.multigammaln(0.5 * self.df, p)

    def expected_log_det(self) -> Tensor:
        """The expectation of the logarithm of a sample's determinant."""
        p = self._event_shape[-1]
        halves = 0.5 * (_ops.expand_dims(self.df, -1) - _numbers(p, self.df))
        return _ops.sum(_ops.digamma(halves), -1) + p * math.log(2) + 2 * half_log_det(self.scale_tril)

    def entropy(self) -> Tensor:
        p = self._event_shape[-1]
        return self._log_factor() - 0.5 * (self.df - p - 1) * self.expected_log_det() + 0.5 * self.df * p


class LKJCholesky(Distribution):
    """Triangular factors of correlation matrices M whose density is proportional to det(M)^(concentration - 1).

    With the concentration 1 all correlation matrices are equally likely. Lewandowski, Kurowicka and Joe, "Generating
    random correlation matrices based on vines and extended onion method", 2009.
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    concentration: Tensor
    dim: int

    def __init__(self, dim: int, concentration: Value = 1.0, validate_args: bool | None = None) -> None:
        self.dim = as_int(dim, "dim")
        if self.dim < 2:
            raise InvalidValueError(f"LKJCholesky: dim: expected at least 2, got {dim}")
        (self.concentration,) = broadcast_all(as_tensor(concentration, "concentration"))
        super().__init__(self.concentration.shape, (self.dim, self.dim), validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike) -> LKJCholesky:
        made = super().expand(batch_shape)
        made.dim = self.dim
        return made

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        # The onion method: the row of variable k is a random direction of k dimensions, whose squared length below the
        # diagonal is a beta number.
        with no_grad():
            shape = self._extended_shape(sample_shape)
            k = _numbers(self.dim, self.concentration)[1:]
            rest = _ops.expand_dims(self.concentration, -1) + 0.5 * (self.dim - 1 - k)
            squares = Beta(0.5 * k, rest, validate_args=False).sample(shape_of(sample_shape))
            directions = _ops.tril(standard_normal(shape, self.concentration), -1)[..., 1:, :]
            lengths = _ops.norm(directions, 2.0, -1, True)
            below = directions / lengths * _ops.sqrt(_ops.expand_dims(squares, -1))
            below = _ops.pad(below, [0, 0, 1, 0])
            left = 1 - _ops.sum(_ops.square(below), -1)
            return below + _ops.diag_embed(_ops.sqrt(_ops.clip(left, tiny_of(left))))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        # det(M) is the product of the squares of the diagonal, and the factor of variable k takes the place of a
        # matrix with the Jacobian L_kk^(dim - 1 - k).
        diagonal = _ops.diagonal(value, 0, -2, -1)[..., 1:]
        powers = 2 * _ops.expand_dims(self.concentration, -1) + (self.dim - 4 - _numbers(self.dim - 1, self.concentration))
        more = self.dim - 1
        half = self.concentration + 0.5 * more
        constant = 0.5 * more * math.log(math.pi) + _ops.multigammaln(half - 0.5, more) - more * _ops.lgamma(half)
        return _ops.sum(powers * _ops.log(diagonal), -1) - constant
