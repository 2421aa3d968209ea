# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the factorizations of matrices. Where signs or phases of vectors are free, the rows named *_gauge_free compare
what does not depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from op_engine import COMPLEX, FLOATS, Fixed, Make, Row, Sample, Samples, real_of, rounded, sample

import tessera as ts

DTYPES = (*FLOATS, *COMPLEX)
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed")  # "expanded" would be singular
TOLERANCE = {"float32": (5e-4, 5e-4), "complex64": (5e-4, 5e-4)}
la = ts.linalg
SQUARES: tuple[tuple[int, ...], ...] = ((3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2))
TALLS: tuple[tuple[int, ...], ...] = ((3, 2), (2, 2, 3), (3, 3), (0, 2))
HALF = ts.ones(2, 2, dtype=ts.float16)


def held(array: Any, dtype: str) -> Any:
    """The nearest numbers of the dtype."""
    return np.asarray(array, dtype) if dtype in COMPLEX else rounded(array, dtype)


def far_from_singular(make: Make, *shape: int) -> Any:
    """Random matrices with different singular values, none of them near 0."""
    made = make(*shape)
    least = min(shape[-2:])
    return held(made + np.eye(*shape[-2:]) * np.linspace(3, 3 + 2 * least, max(shape[-2:]))[: shape[-1]], make.dtype)


def matrices(*sizes: tuple[int, ...], **keywords: Any) -> Samples:
    return lambda make: [sample(far_from_singular(make, *s), **keywords) for s in sizes]


def each(*samples: Samples) -> Samples:
    return lambda make: [one for part in samples for one in part(make)]


def systems(*calls: tuple[Any, ...]) -> Samples:
    """Each call is (shape of the matrix, shape of the right-hand side) or these with keywords."""
    return lambda make: [
        sample(far_from_singular(make, *call[0]), make(*call[1]), **(call[2] if len(call) > 2 else {})) for call in calls
    ]


def hermitian(a: ts.Tensor) -> ts.Tensor:
    return (a + a.mT.conj()) * 0.5


def positive(a: ts.Tensor) -> ts.Tensor:
    return a @ a.mT.conj() + ts.eye(a.shape[-1], dtype=a.dtype, device=a.device)


def np_hermitian(a: Any) -> Any:
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2


def np_positive(a: Any) -> Any:
    return a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1])


def np_cholesky(a: Any, upper: bool = False) -> Any:
    lower = np.linalg.cholesky(np_positive(a))
    return np.conj(np.swapaxes(lower, -1, -2)) if upper else lower


def each_matrix(function: Any, results: int = 1) -> Any:
    """The function of single matrices over a batch of at least one."""

    def run(a: Any, *rest: Any, **keywords: Any) -> Any:
        if a.ndim == 2:
            return function(a, *rest, **keywords)
        found = [function(one, *rest, **keywords) for one in a]
        return np.stack(found) if results == 1 else tuple(np.stack(part) for part in zip(*found))

    return run


def projectors(vectors: ts.Tensor) -> ts.Tensor:
    """v vᴴ of each column, side by side: what does not depend on the vectors' phases."""
    return vectors[..., :, None, :] * vectors.conj()[..., None, :, :]


def eigh_projectors(a: ts.Tensor) -> Any:
    values, vectors = la.eigh(hermitian(a))
    return values, projectors(vectors)


def np_eigh_projectors(a: Any) -> Any:
    values, vectors = np.linalg.eigh(np_hermitian(a))
    return values, vectors[..., :, None, :] * np.conj(vectors)[..., None, :, :]


def svd_parts(a: ts.Tensor) -> Any:
    u, s, vh = la.svd(a, full_matrices=False)
    return s, projectors(u), projectors(vh.mT.conj()), u[..., :, None, :] * vh.mT[..., None, :, :]


def np_svd_parts(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v = np.swapaxes(vh, -1, -2)
    return (s, u[..., :, None, :] * np.conj(u)[..., None, :, :], np.conj(v)[..., :, None, :] * v[..., None, :, :],
            u[..., :, None, :] * v[..., None, :, :])  # fmt: skip


def eig_parts(a: ts.Tensor) -> Any:
    """The values in the order of their sizes would tear conjugates apart: sums over all of them do not depend on order."""
    values, vectors = la.eig(a)
    return (values * values).sum(axis=-1), (projectors(vectors) * values[..., None, None, :]).sum(axis=-1)


def np_eig_parts(a: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    sizes = vectors[..., :, None, :] * np.conj(vectors)[..., None, :, :]
    return (values * values).sum(-1) + 0j, (sizes * values[..., None, None, :]).sum(-1) + 0j


def np_solve(a: Any, b: Any, left: bool = True) -> Any:
    if b.ndim == 1:
        return np_solve(a, b[:, None] if left else b[None, :], left)[..., 0 if left else slice(None)]
    if not left:
        return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    b = np.broadcast_to(b, (*a.shape[:-2], *b.shape)) if b.ndim < a.ndim else b
    return np.linalg.solve(a, b)


def np_solve_triangular(a: Any, b: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    part = np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))
    return np_solve(part + np.eye(a.shape[-1]) * unitriangular, b, left)


def lu_then_solve(a: ts.Tensor, b: ts.Tensor, **options: Any) -> ts.Tensor:
    return la.lu_solve(*la.lu_factor(a), b, **options)


def np_lu_solve(a: Any, b: Any, left: bool = True, adjoint: bool = False) -> Any:
    return np_solve(np.conj(np.swapaxes(a, -1, -2)) if adjoint else a, b, left)


def np_lu_factor(a: Any) -> Any:
    factors, pivots = scipy.linalg.lapack.get_lapack_funcs(("getrf",), (a,))[0](a)[:2]
    return factors, (pivots + 1).astype(np.int32)


def np_geqrf(a: Any) -> Any:
    return scipy.linalg.lapack.get_lapack_funcs("geqrf", (a,))(a)[:2]


def np_reflections(a: Any, tau: Any) -> Any:
    if a.ndim > 2:
        return np.stack([np_reflections(x, t) for x, t in zip(a, tau)])
    product = np.eye(a.shape[0], dtype=a.dtype)
    for i, factor in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]])
        product = product @ (np.eye(a.shape[0]) - factor * np.outer(v, v.conj()))
    return product[:, : a.shape[1]]


def np_lstsq(a: Any, b: Any) -> Any:
    return np.linalg.pinv(a) @ b


def cholesky_then_solve(b: ts.Tensor, a: ts.Tensor, upper: bool = False) -> ts.Tensor:
    return la.cholesky_solve(b, la.cholesky(positive(a), upper=upper), upper)


def norms(make: Make) -> list[Sample]:
    orders: tuple[Any, ...] = ("fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf"))
    return [sample(far_from_singular(make, 2, 3, 2), ord=o, keepdims=k) for o in orders for k in (False, True)]


def np_norm(a: Any, ord: Any, keepdims: bool = False) -> Any:
    return np.linalg.norm(a, ord, (-2, -1), keepdims)


def np_cond(a: Any, p: Any = None) -> Any:
    return np.linalg.cond(a, p)


def complex_of(dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)


def row(name: str, reference: Any, samples: Samples, **options: Any) -> Row:
    defaults = {"dtypes": DTYPES, "layouts": LAYOUTS, "tolerance": TOLERANCE, "call": getattr(la, name, None)}
    return Row(name, reference, samples, **{**defaults, **options})


SMALL = matrices((2, 2), (2, 2, 2))

ROWS = [
    row("cholesky", np_cholesky, each(matrices(*SQUARES), matrices((2, 2), upper=True)),
        call=lambda a, **options: la.cholesky(positive(a), **options),
        errors=[(ts.LinAlgError, lambda: la.cholesky(-ts.eye(2))), (ValueError, lambda: la.cholesky(ts.ones(2))),
                (TypeError, lambda: la.cholesky(HALF)), (ts.LinAlgError, lambda: la.cholesky(ts.eye(2) * float("nan")))]),
    row("cholesky_solve", lambda b, a, upper=False: np_solve(np_positive(a), b),
        lambda m: [sample(m(2, 3), far_from_singular(m, 2, 2)), sample(m(3, 2, 1), far_from_singular(m, 2, 2), upper=True)],
        call=cholesky_then_solve, schema="none"),
    row("cholesky_inverse", lambda a: np.linalg.inv(np_positive(a)), SMALL,
        call=lambda a: la.cholesky_inverse(la.cholesky(positive(a))), schema="none"),
    row("qr", each_matrix(lambda a, mode="reduced": np.linalg.qr(a, mode) if a.size else np.linalg.qr(a, mode), 2),
        each(matrices(*TALLS), matrices((3, 2), (2, 3), (2, 0), mode="complete")), compare=True,
        grad_samples=each(matrices((3, 2), (2, 2), (2, 3)), matrices((2, 3), mode="complete")),
        errors=[(ValueError, lambda: la.qr(ts.ones(2, 2), mode="full")), (TypeError, lambda: la.qr(HALF))]),
    row("svd", lambda a, full_matrices=True: np.linalg.svd(a, full_matrices),
        each(matrices(*TALLS), matrices(*TALLS, full_matrices=False)), compare=False, layouts=("contiguous",),
        grad_samples=matrices((3, 2), (2, 3), (2, 2), full_matrices=False),
        errors=[(ts.LinAlgError, lambda: la.svd(ts.eye(2) * float("nan"))), (TypeError, lambda: la.svd(HALF))]),
    row("svd_gauge_free", np_svd_parts, matrices((3, 2), (2, 2, 3), (3, 3), (0, 2)), call=svd_parts, schema="none", result=real_of,
        grad_samples=matrices((3, 2), (2, 3), (2, 2))),
    row("svd_gauge_free_complex", np_svd_parts, matrices((3, 2), (2, 3)), call=svd_parts, schema="none", result=real_of,
        grad_dtype="complex128", grad_samples=matrices((3, 2), (1, 2), (2, 2))),
    row("svdvals", lambda a: np.linalg.svd(a, compute_uv=False), matrices(*TALLS), result=real_of),
    row("eigh", lambda a, UPLO="L": np.linalg.eigh(np_hermitian(a), UPLO), each(matrices(*SQUARES), matrices((2, 2), UPLO="U")),
        call=lambda a, **options: la.eigh(hermitian(a), **options), compare=False, layouts=("contiguous",), result=real_of,
        grad_samples=matrices((3, 3)),
        errors=[(ValueError, lambda: la.eigh(ts.eye(2), "X")), (ts.LinAlgError, lambda: la.eigh(ts.eye(2) * float("inf")))]),
    row("eigh_gauge_free", np_eigh_projectors, matrices((3, 3), (2, 2, 2)), call=eigh_projectors, schema="none", result=real_of,
        grad_samples=SMALL),
    row("eigh_gauge_free_complex", np_eigh_projectors, matrices((3, 3)), call=eigh_projectors, schema="none", result=real_of,
        grad_dtype="complex128", grad_samples=SMALL),
    row("eigvalsh", lambda a, UPLO="L": np.linalg.eigvalsh(np_hermitian(a), UPLO), each(matrices(*SQUARES), matrices((2, 2), UPLO="U")),
        call=lambda a, **options: la.eigvalsh(hermitian(a), **options), result=real_of),
    row("eig", lambda a: tuple(p + 0j for p in np.linalg.eig(a)), matrices(*SQUARES), compare=False, layouts=("contiguous",),
        result=complex_of, grad=False, why_no_grad="its row eig_gauge_free has the derivative: phases are free",
        call=lambda a, **options: la.eig(a.detach(), **options),
        errors=[(ts.LinAlgError, lambda: la.eig(ts.eye(2) * float("nan"))), (ValueError, lambda: la.eig(ts.ones(2, 3)))]),
    row("eig_gauge_free", np_eig_parts, matrices((3, 3), (2, 2, 2)), call=eig_parts, schema="none", result=complex_of,
        grad_samples=SMALL),
    row("eig_gauge_free_complex", np_eig_parts, matrices((3, 3)), call=eig_parts, schema="none", result=complex_of,
        grad_dtype="complex128", grad_samples=SMALL),
    row("eigvals", lambda a: (np.linalg.eigvals(a) ** 2).sum(-1) + 0j, matrices((3, 3), (2, 2, 2)),
        call=lambda a: (la.eigvals(a) ** 2).sum(axis=-1), schema="none", result=complex_of, grad_samples=SMALL),
    row("solve", np_solve,
        systems(((2, 2), (2,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 1)), ((2, 2), (3, 2, 2)), ((2, 2, 2), (2,)), ((0, 0), (0, 2)),
                ((2, 2), (2, 0)), ((2, 2), (3, 2), {"left": False}), ((1, 2, 2), (2, 1, 2), {"left": False})),
        errors=[(ts.LinAlgError, lambda: la.solve(ts.ones(2, 2), ts.ones(2))), (ValueError, lambda: la.solve(ts.eye(2), ts.ones(3))),
                (TypeError, lambda: la.solve(HALF, HALF))]),
    row("solve_triangular", np_solve_triangular,
        systems(((2, 2), (2,), {"upper": True}), ((3, 3), (3, 2), {"upper": False}), ((2, 2), (3, 2, 2), {"upper": True}),
                ((2, 2, 2), (2, 1), {"upper": False}), ((2, 2), (3, 2), {"upper": True, "left": False}),
                ((2, 2), (2, 2), {"upper": False, "unitriangular": True}), ((0, 0), (0, 2), {"upper": True})),
        errors=[(ValueError, lambda: la.solve_triangular(ts.ones(2, 3), ts.ones(2), upper=True))]),
    row("geqrf", each_matrix(np_geqrf, 2), matrices((3, 3), (2, 4, 2), (2, 3)), grad=False, why_no_grad="refuses tensors that require grad",
        errors=[(ValueError, lambda: la.geqrf(ts.ones(2))), (TypeError, lambda: la.geqrf(HALF)),
                (NotImplementedError, lambda: la.geqrf(ts.ones(2, 2, requires_grad=True)))]),
    row("householder_product", np_reflections,
        lambda m: [sample(m(4, 3), m(3)), sample(m(3, 3), m(2)), sample(m(2, 3, 2), m(2, 2)), sample(m(3, 2), np.zeros(2)), sample(m(2, 0), m(0))],
        errors=[(ValueError, lambda: la.householder_product(ts.ones(2, 3), ts.ones(2))),
                (ValueError, lambda: la.householder_product(ts.ones(3, 2), ts.ones(3))),
                (TypeError, lambda: la.householder_product(HALF, HALF[0]))]),
    row("lu_factor", each_matrix(np_lu_factor, 2), matrices((3, 3), (2, 2, 2), (3, 2), (2, 3)),
        grad_samples=matrices((2, 2), (3, 2), (2, 3))),
    row("lu", each_matrix(scipy.linalg.lu, 3), matrices((3, 3), (2, 2, 2), (3, 2), (2, 3)), grad_samples=matrices((2, 2), (3, 2), (2, 3))),
    row("lu_solve", np_lu_solve,
        systems(((2, 2), (2, 1)), ((2, 2, 2), (2,)), ((2, 2), (2, 2), {"adjoint": True}), ((2, 2), (3, 2), {"left": False}),
                ((2, 2), (1, 2), {"left": False, "adjoint": True})),
        call=lu_then_solve, schema="none"),
    row("inv", np.linalg.inv, matrices(*SQUARES),
        errors=[(ts.LinAlgError, lambda: la.inv(ts.ones(2, 2))), (ValueError, lambda: la.inv(ts.ones(2, 3))),
                (TypeError, lambda: la.inv(HALF))]),
    row("pinv", lambda a, hermitian=False: np.linalg.pinv(a), matrices((3, 2), (2, 2, 3), (2, 2)),
        grad_samples=matrices((3, 2), (2, 3), (2, 2))),
    row("pinv_by_rtol", np.linalg.pinv, lambda m: [sample(a, Fixed(np.full(a.shape[:-2], 1e-2))) for a in (m(3, 2), m(2, 2, 3))],
        errors=[(ValueError, lambda: la.pinv(ts.ones(2, 3, 3), rtol=ts.ones(3))), (TypeError, lambda: la.pinv(ts.ones(1, 1), rtol=ts.arange(1)))]),
    row("det", np.linalg.det, matrices(*SQUARES),
        errors=[(ValueError, lambda: la.det(ts.ones(2, 3))), (TypeError, lambda: la.det(HALF))]),
    row("slogdet", np.linalg.slogdet, matrices(*SQUARES)),
    row("logdet", lambda a: np.log(np.linalg.det(a)), matrices(*SQUARES)),
    row("lstsq", np_lstsq, systems(((3, 2), (3, 2)), ((2, 3), (2, 1)), ((2, 3, 2), (3, 1)), ((2, 2), (2, 2))),
        call=lambda a, b: la.lstsq(a, b).solution, schema="none", grad_samples=systems(((3, 2), (3, 1)), ((2, 3), (2, 1)))),
    row("lstsq_solution", np_lstsq, systems(((3, 2), (3, 2)), ((2, 3), (2, 1)), ((2, 3, 2), (3, 1)), ((2, 2), (2, 2))),
        call=lambda a, b: la.lstsq_solution(a, b).solution, schema="none", grad_samples=systems(((3, 2), (3, 1)), ((2, 3), (2, 1)))),
    row("matrix_exp", each_matrix(scipy.linalg.expm), lambda m: [sample(m(3, 3)), sample(m(2, 2, 2) * 8), sample(m(2, 2) * 1e-3)],
        tolerance={**TOLERANCE, "float64": (1e-7, 1e-6), "complex128": (1e-7, 1e-6), "float32": (2e-3, 2e-3), "complex64": (2e-3, 2e-3)},
        grad_samples=lambda m: [sample(m(2, 2)), sample(m(2, 2) * 4)]),
    row("matrix_norm", np_norm, norms, result=real_of, grad_samples=lambda m: norms(m)[::2],
        errors=[(ValueError, lambda: la.matrix_norm(ts.ones(2, 2), ord="max")), (ValueError, lambda: la.matrix_norm(ts.ones(2)))]),
    row("matrix_rank", np.linalg.matrix_rank, each(matrices((3, 2), (2, 3, 3)), lambda m: [sample(np.ones((2, 3, 3)))]),
        result="int64", grad=False, why_no_grad="the result is a count"),
    row("matrix_rank_by_rtol", lambda a, rtol: np.sum((lambda v: v > rtol[..., None] * v[..., :1])(np.linalg.svd(a, compute_uv=False)), -1),
        lambda m: [sample(m(2, 3, 3), Fixed(np.array([1e-3, 0.5]))), sample(m(3, 2), Fixed(np.array(0.3)))],
        result="int64", grad=False, why_no_grad="the result is a count"),
    row("cond", np_cond,
        each(matrices((3, 2), (2, 2, 2)), matrices((2, 2), p="fro"), matrices((2, 2), p=1), matrices((2, 2), p=-2)), result=real_of,
        errors=[(ValueError, lambda: la.cond(ts.ones(2, 3), "fro")), (ValueError, lambda: la.cond(ts.ones(0, 0)))]),
]  # fmt: skip
