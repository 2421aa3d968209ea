# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Parametrizations of weights: orthogonal, divided by the largest singular value, and as a size and a direction."""

from __future__ import annotations

from typing import Any

from ... import _ops, linalg
from ..._dtypes import finfo
from ..._errors import InvalidValueError, NotSupportedError, ShapeError
from ..._modes import no_grad
from ..._tensor import Tensor
from ..conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from ..weight_norms import _SpectralNorm as _SpectralLaw
from ..weight_norms import _WeightNorm as _Law
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

MAPS = ("matrix_exp", "cayley", "householder")


def _positive_q(matrix: Tensor) -> Tensor:
    """Q of the factorization with a positive diagonal of R."""
    q, r = linalg.qr(matrix)
    signs = _ops.where(_ops.diagonal(r, 0, -2, -1) < 0, -1.0, 1.0)
    return q * _ops.expand_dims(_ops.astype(signs, q.dtype), -2)


def _is_orthogonal(q: Tensor) -> bool:
    unit = _ops.eye(q.shape[-1], dtype=q.dtype, device=q.device)
    found = _ops.matmul(_ops.conj(_ops.matrix_transpose(q)), q)
    return bool(_ops.all(_ops.abs(found - unit) < 10 * q.shape[-1] * finfo(q.dtype).eps))


def householder_product(vectors: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections I - tau_i v_i v_i^H, where v_i is 0 above and 1 in row i."""
    rows, count = vectors.shape[-2], tau.shape[-1]
    lower = _ops.tril(vectors[..., :count], -1)
    unit = _ops.eye(rows, vectors.shape[-1], dtype=vectors.dtype, device=vectors.device)
    lower = lower + unit[:, :count]
    result = _ops.broadcast_to(unit, vectors.shape)
    for i in reversed(range(count)):
        v = lower[..., i : i + 1]
        along = _ops.matmul(_ops.conj(_ops.matrix_transpose(v)), result)
        result = result - _ops.expand_dims(_ops.expand_dims(tau[..., i], -1), -1) * _ops.matmul(v, along)
    return result


class _Orthogonal(Module):
    """An orthogonal matrix from any: a map near 0 or -I, times the matrix `base` where the training began."""

    def __init__(self, weight: Tensor, kind: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.dtype.is_complex and kind == "householder":
            raise NotSupportedError("orthogonal(): the map householder has no complex matrices")
        self.orthogonal_map, self.shape = kind, tuple(weight.shape)
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:  # noqa: N803 (PyTorch's name)
        wide = X.shape[-2] < X.shape[-1]
        x = _ops.matrix_transpose(X) if wide else X
        base = self._buffers.get("base")
        if self.orthogonal_map == "householder":
            below = _ops.tril(x, -1)
            tau = 2.0 / (1.0 + _ops.sum(_ops.square(below), -2))
            signs = _ops.sign(_ops.detach(_ops.diagonal(x, 0, -2, -1)))  # a diagonal is not trained
            q = householder_product(x, tau) * _ops.expand_dims(signs, -2)
            result = q if base is None else _ops.matmul(base, q)
        else:
            result = self._of_skew(x)
            if base is not None:
                result = _ops.matmul(base, result)
        result = result[..., : x.shape[-1]]
        return _ops.matrix_transpose(result) if wide else result

    def _of_skew(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[-2:]
        square = _ops.tril(x)
        if rows != columns:
            square = _ops.pad(square, [0, rows - columns])
        skew = square - _ops.conj(_ops.matrix_transpose(square))
        if self.orthogonal_map == "matrix_exp":
            return linalg.matrix_exp(skew)
        unit = _ops.eye(rows, dtype=x.dtype, device=x.device)
        return linalg.solve(unit - 0.5 * skew, unit + 0.5 * skew)

    def right_inverse(self, Q: Tensor) -> Tensor:  # noqa: N803 (PyTorch's name)
        if tuple(Q.shape) != self.shape:
            raise ShapeError(f"orthogonal(): expected matrices of shape {self.shape}, got {tuple(Q.shape)}")
        if "base" not in self._buffers:
            raise NotSupportedError("orthogonal(): without use_trivialization the matrix cannot be set")
        wide = Q.shape[-2] < Q.shape[-1]
        q = _ops.matrix_transpose(Q) if wide else Q
        rows, columns = q.shape[-2:]
        if rows != columns:  # completed to a square matrix
            more = _ops.randn((*q.shape[:-1], rows - columns), dtype=q.dtype, device=q.device)
            q = _ops.concat([q, more], -1)
        if rows != columns or not _is_orthogonal(q):
            q = _positive_q(q)
        self.base = q.clone()
        start = _ops.eye(*Q.shape[-2:], dtype=Q.dtype, device=Q.device)  # householder(-I) is I, and so is skew(-I)'s map
        return _ops.broadcast_to(-start, Q.shape).clone()


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keeps a weight orthogonal, or its rows or columns orthonormal, while it is trained.

    `orthogonal_map` is matrix_exp (of square and of complex matrices), cayley or householder (of others). With
    `use_trivialization` the map is taken around the present weight (Lezcano-Casado, "Trivializations for gradient-based
    optimization on manifolds", 2019).
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise InvalidValueError(f"orthogonal(): expected a parameter or buffer of {type(module).__name__}, got {name!r}")
    if weight.ndim < 2:
        raise ShapeError(f"orthogonal(): expected matrices, got shape {weight.shape}")
    square = weight.shape[-2] == weight.shape[-1]
    kind = orthogonal_map or ("matrix_exp" if square or weight.dtype.is_complex else "householder")
    if kind not in MAPS:
        raise InvalidValueError(f"orthogonal_map: expected one of {', '.join(MAPS)}, got {kind!r}")
    return register_parametrization(module, name, _Orthogonal(weight, kind, use_trivialization), unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = None if dim is None or dim == -1 else dim
        self._law = _Law("", self.dim)

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / self._law.length(weight_v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return self._law.length(weight), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Splits a weight into its size `original0`, one number along an axis, and its direction `original1`."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if not isinstance(n_power_iterations, int) or n_power_iterations < 1:
            raise InvalidValueError(f"n_power_iterations: expected a whole number above 0, got {n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        self._law = _SpectralLaw("", n_power_iterations, eps, self.dim)
        if weight.ndim > 1:
            with no_grad():
                matrix = self._law.matrix(weight.detach())
                sides = [self._law.unit(_ops.randn((n,), dtype=weight.dtype, device=weight.device)) for n in matrix.shape]
            self.register_buffer("_u", sides[0])
            self.register_buffer("_v", sides[1])
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Power iteration towards the first pair of singular vectors, in place."""
        with no_grad():
            for _ in range(count):
                self._u.copy_(self._law.unit(_ops.matmul(matrix, self._v)))
                self._v.copy_(self._law.unit(_ops.matmul(self._u, matrix)))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return weight / _ops.clip(_ops.vector_norm(weight), self.eps)
        matrix = self._law.matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        # Copies, because the next call changes them before the backward of this one.
        u, v = self._u.clone(), self._v.clone()
        return weight / _ops.sum(u * _ops.matmul(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divides a weight by its largest singular value, which each use in training approximates further."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise InvalidValueError(f"spectral_norm(): expected a parameter or buffer of {type(module).__name__}, got {name!r}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
