# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The normal distribution of vectors, also with a covariance of low rank beside its diagonal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .. import _ops, linalg
from .._errors import InvalidArgumentError, ShapeError
from .._tensor import Tensor
from . import constraints
from ._values import ShapeLike, lazy_property
from .distribution import Distribution
from .normal import standard_normal


def mahalanobis(scale_tril: Tensor, difference: Tensor) -> Tensor:
    """d^T C^-1 d of vectors d, where C = L L^T."""
    shape = _ops.broadcast_tensors([scale_tril[..., 0], difference])[0].shape
    square = _ops.broadcast_to(scale_tril, (*shape, shape[-1]))
    column = _ops.expand_dims(_ops.broadcast_to(difference, shape), -1)
    solved = linalg.solve_triangular(square, column, upper=False)
    return _ops.sum(_ops.square(solved), (-2, -1))


def half_log_det(scale_tril: Tensor) -> Tensor:
    """log det L, which is half that of L L^T."""
    return _ops.sum(_ops.log(_ops.diagonal(scale_tril, 0, -2, -1)), -1)


def _tril_of_precision(precision: Tensor) -> Tensor:
    # With P = K K^T for an upper triangular K, the lower triangle of P^-1 is K^-T: the factor of P in reverse order.
    reverse = linalg.cholesky(_ops.flip(precision, (-2, -1)))
    lower = _ops.matrix_transpose(_ops.flip(reverse, (-2, -1)))
    unit = _ops.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg.solve_triangular(lower, _ops.broadcast_to(unit, lower.shape), upper=False)


class OfOneCovariance(Distribution):
    """Base class: a covariance is given as such, by its inverse, or by its lower triangular factor; the others follow."""

    @classmethod
    def _one_given(
        cls, covariance_matrix: Tensor | None, precision_matrix: Tensor | None, scale_tril: Tensor | None
    ) -> tuple[str, Tensor]:
        """The name of the one matrix that is given, and the matrix."""
        given: dict[str, Any] = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise InvalidArgumentError(
                f"{cls.__name__}: expected one of covariance_matrix, precision_matrix and scale_tril, got "
                + (", ".join(given) or "none")
            )
        ((name, matrix),) = given.items()
        return name, matrix

    @lazy_property
    def scale_tril(self) -> Tensor:
        if "covariance_matrix" in self.__dict__:
            return linalg.cholesky(self.covariance_matrix)
        return _tril_of_precision(self.precision_matrix)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return _ops.matmul(self.scale_tril, _ops.matrix_transpose(self.scale_tril))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return _ops.cholesky_inverse(self.scale_tril)


class MultivariateNormal(OfOneCovariance):
    """Normal vectors with a covariance, given as such, by its inverse, or by its lower triangular factor."""

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:
        name, matrix = self._one_given(covariance_matrix, precision_matrix, scale_tril)
        if loc.ndim < 1 or matrix.ndim < 2 or matrix.shape[-2:] != (loc.shape[-1],) * 2:
            raise ShapeError(
                f"MultivariateNormal: expected a vector loc and a square {name} of its length, got shapes {loc.shape} and "
                f"{matrix.shape}"
            )
        batch = _ops.broadcast_tensors([loc[..., 0], matrix[..., 0, 0]])[0].shape
        self.loc = _ops.broadcast_to(loc, batch + loc.shape[-1:])
        self.__dict__[name] = _ops.broadcast_to(matrix, batch + matrix.shape[-2:])
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return _ops.sum(_ops.square(self.scale_tril), -1)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + _ops.squeeze(_ops.matmul(self.scale_tril, _ops.expand_dims(drawn, -1)), -1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = mahalanobis(self.scale_tril, value - self.loc)
        constant = 0.5 * self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * distance - half_log_det(self.scale_tril) - constant

    def entropy(self) -> Tensor:
        return half_log_det(self.scale_tril) + 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the covariance W W^T + D: a factor W with few columns and a diagonal D.

    Only the small matrix C = I + W^T D^-1 W is factored (Woodbury's identity).
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor
    cov_factor: Tensor
    cov_diag: Tensor

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        size = loc.shape[-1:]
        if loc.ndim < 1 or cov_factor.ndim < 2 or cov_factor.shape[-2:-1] != size or cov_diag.shape[-1:] != size:
            raise ShapeError(
                "LowRankMultivariateNormal: expected a vector loc, a cov_factor with a row for each of its elements and a "
                f"vector cov_diag of its length, got shapes {loc.shape}, {cov_factor.shape} and {cov_diag.shape}"
            )
        batch = _ops.broadcast_tensors([loc[..., 0], cov_factor[..., 0, 0], cov_diag[..., 0]])[0].shape
        self.loc = _ops.broadcast_to(loc, batch + size)
        self.cov_factor = _ops.broadcast_to(cov_factor, batch + cov_factor.shape[-2:])
        self.cov_diag = _ops.broadcast_to(cov_diag, batch + size)
        super().__init__(batch, size, validate_args=validate_args)

    @lazy_property
    def _scaled(self) -> Tensor:
        """W^T D^-1"""
        return _ops.matrix_transpose(self.cov_factor / _ops.expand_dims(self.cov_diag, -1))

    @lazy_property
    def _capacitance_tril(self) -> Tensor:
        """The triangular factor of C."""
        rank = self.cov_factor.shape[-1]
        unit = _ops.eye(rank, dtype=self.loc.dtype, device=self.loc.device)
        return linalg.cholesky(_ops.matmul(self._scaled, self.cov_factor) + unit)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return _ops.sum(_ops.square(self.cov_factor), -1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return _ops.matmul(self.cov_factor, _ops.matrix_transpose(self.cov_factor)) + _ops.diag_embed(self.cov_diag)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        part = linalg.solve_triangular(self._capacitance_tril, self._scaled, upper=False)
        return _ops.diag_embed(1 / self.cov_diag) - _ops.matmul(_ops.matrix_transpose(part), part)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return linalg.cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        shared = _ops.squeeze(_ops.matmul(self.cov_factor, _ops.expand_dims(few, -1)), -1)
        return self.loc + shared + _ops.sqrt(self.cov_diag) * standard_normal(shape, self.loc)

    def mahalanobis(self, difference: Tensor) -> Tensor:
        """d^T (W W^T + D)^-1 d of vectors d."""
        inside = _ops.squeeze(_ops.matmul(self._scaled, _ops.expand_dims(difference, -1)), -1)
        alone = _ops.sum(_ops.square(difference) / self.cov_diag, -1)
        return alone - mahalanobis(self._capacitance_tril, inside)

    def half_log_det(self) -> Tensor:
        """Half of the logarithm of the covariance's determinant."""
        return half_log_det(self._capacitance_tril) + 0.5 * _ops.sum(_ops.log(self.cov_diag), -1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        constant = 0.5 * self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * self.mahalanobis(value - self.loc) - self.half_log_det() - constant

    def entropy(self) -> Tensor:
        return self.half_log_det() + 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
