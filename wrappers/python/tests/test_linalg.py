# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra beyond the op table: names, errors, what has no result, many matrices, threads."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tessera as ts
from tessera.autograd import gradcheck, gradgradcheck

la = ts.linalg
NAN, INF = float("nan"), float("inf")


def f64(values: Any) -> ts.Tensor:
    return ts.asarray(np.array(values, np.float64))


# ---- Names ----


def test_results_have_the_names_of_the_standard() -> None:
    x = ts.eye(2, dtype=ts.float64)
    fields = {
        "eigh": ("eigenvalues", "eigenvectors"), "eig": ("eigenvalues", "eigenvectors"), "qr": ("Q", "R"),
        "svd": ("U", "S", "Vh"), "slogdet": ("sign", "logabsdet"), "lu": ("P", "L", "U"), "lu_factor": ("LU", "pivots"),
    }  # fmt: skip
    for name, wanted in fields.items():
        found = getattr(la, name)(x)
        assert found._fields == wanted and found[0] is getattr(found, wanted[0])


def test_keywords_are_those_of_numpy_and_pytorch() -> None:
    x = f64([[2, 1], [1, 3]])
    assert la.eigh(x, UPLO="U").eigenvalues.tolist() == la.eigh(x, uplo="U").eigenvalues.tolist()
    assert la.svd(x, full_matrices=False).S.shape == (2,) and la.qr(x, mode="complete").Q.shape == (2, 2)
    assert la.matrix_norm(x, ord=1).item() == la.matrix_norm(x, ord="1").item() == 4
    assert la.matrix_norm(x, keepdims=True, ord=-INF).shape == (1, 1)
    assert la.diagonal(ts.ones(2, 3, 4), offset=1).shape == (2, 3)
    assert la.trace(ts.ones(2, 3, 3)).tolist() == [3, 3] and ts.trace(ts.ones(2, 2, dtype=ts.int8)).dtype is ts.int64


# ---- einsum and tensordot ----


def test_einsum_takes_lists_in_place_of_letters() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 2, 3))
    x, y = f64(a), f64(b)
    np.testing.assert_allclose(ts.einsum(x, [0, 1], y, [2, 1], [2, 0]).numpy(), b @ a.T)
    np.testing.assert_allclose(ts.einsum(x, [0, 1], y, [2, 1]).numpy(), a @ b.T)
    np.testing.assert_allclose(ts.einsum(x, [..., 51], y, [..., 51], [...]).numpy(), (a * b).sum(1))
    with pytest.raises(ValueError, match=r"\[0, 51\]"):
        ts.einsum(x, [0, 52])
    with pytest.raises(TypeError, match="list of axis numbers"):
        ts.einsum(x, 3)


def test_einsum_is_the_same_along_every_path() -> None:
    rng = np.random.default_rng(1)
    shapes = [(3, 4), (4, 5), (5, 2), (2, 3), (3,)]
    arrays = [rng.standard_normal(s) for s in shapes]
    wanted = np.einsum("ab,bc,cd,da,a->d", *arrays)
    tensors = [f64(a) for a in arrays]
    for path in (None, [(0, 1), (0, 3), (0, 2), (0, 1)], [(3, 4), (0, 3), (1, 2), (1, 0)]):
        np.testing.assert_allclose(ts.einsum("ab,bc,cd,da,a->d", tensors, path=path).numpy(), wanted)


def test_einsum_contracts_the_smallest_pair_first() -> None:
    # Left to right the first product would have 2**36 elements.
    a, b, c = ts.ones(2**18), ts.ones(2**18), ts.ones(2**18)
    assert ts.einsum("i,j,j->i", a, b, c)[0].item() == 2**18


def test_tensordot_counts_axes_or_lists_them() -> None:
    a, b = np.random.default_rng(2).standard_normal((2, 2, 3))
    for axes in (0, 2, (0, 0), ([1], [1]), ([-1, 0], [-1, 0])):
        np.testing.assert_allclose(ts.tensordot(f64(a), f64(b), axes=axes).numpy(), np.tensordot(a, b, axes))
    with pytest.raises(ValueError, match="two lists"):
        ts.tensordot(f64(a), f64(b), axes=([0], [0], [0]))
    with pytest.raises(ValueError, match=r"\[0, 2\]"):
        ts.tensordot(f64(a), f64(b), axes=3)


# ---- Matrices without a result ----


@pytest.mark.parametrize("call", [la.inv, lambda x: la.solve(x, ts.ones(x.shape, dtype=x.dtype)), lambda x: la.matrix_power(x, -2)])
def test_a_singular_matrix_is_told_by_its_place_in_the_batch(call: Any) -> None:
    x = np.stack([np.eye(3)] * 5)
    x[3, 1, 1] = 0
    with pytest.raises(ts.LinAlgError, match=r"zero as pivot 2 \(matrix 3 of the batch\)") as caught:
        call(f64(x))
    assert caught.value.native_code == 3 and isinstance(caught.value, ValueError)


def test_what_is_not_positive_definite_is_told() -> None:
    with pytest.raises(ts.LinAlgError, match="leading minor of order 2"):
        la.cholesky(f64([[1, 2], [2, 1]]))


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals"])
def test_iterations_refuse_what_is_not_finite(name: str, value: float) -> None:
    x = np.stack([np.eye(40)] * 2)
    x[1, 7, 3] = value
    with pytest.raises(ts.LinAlgError, match="finite numbers, got NaN or infinity .matrix 1"):
        getattr(la, name)(f64(x))


def test_the_other_triangle_is_not_read() -> None:
    x = np.array([[2.0, NAN], [1.0, 2.0]])
    np.testing.assert_allclose(la.eigvalsh(f64(x)).numpy(), [1, 3])
    np.testing.assert_allclose(la.eigvalsh(f64(x.T), UPLO="U").numpy(), [1, 3])
    np.testing.assert_allclose(la.cholesky(f64(x)).numpy(), np.linalg.cholesky([[2, 1], [1, 2]]))
    np.testing.assert_allclose(la.solve_triangular(f64(x), f64([2, 3]), upper=False).numpy(), [1, 1])


def test_nan_passes_through_direct_methods() -> None:
    x = f64([[NAN, 1], [1, 1]])
    assert np.isnan(la.inv(x).numpy()).any() and np.isnan(la.det(x).item()) and np.isnan(la.solve(x, f64([1, 1])).numpy()).any()
    for n in (2, 3, 20):
        for place in ((0, 0), (n - 1, 0)):
            hidden = np.diag(np.arange(float(n)))  # a column of zeros but for a NaN
            hidden[place] = NAN
            found = [la.det(f64(hidden)), la.slogdet(f64(hidden)).logabsdet, la.inv(f64(hidden))[-1, -1], la.lu_factor(f64(hidden)).LU.sum()]
            assert np.isnan([float(value) for value in found]).all(), (n, place)
    both = la.matrix_exp(ts.stack([x, ts.zeros(2, 2, dtype=ts.float64)])).numpy()
    assert np.isnan(both[0]).all()
    np.testing.assert_allclose(both[1], np.eye(2))


def test_singular_matrices_have_determinants_ranks_and_conditions() -> None:
    x = f64([[1, 2], [2, 4]])
    sign, logabsdet = la.slogdet(x)
    assert la.det(x).item() == 0 and sign.item() == 0 and logabsdet.item() == -INF and la.logdet(x).item() == -INF
    assert la.matrix_rank(x).item() == 1 and la.matrix_rank(x, hermitian=True).item() == 1
    assert la.cond(x, 1).item() == INF and la.cond(x).item() > 1e15
    assert np.isnan(la.logdet(f64([[-1]])).item())
    assert la.solve_triangular(f64([[0.0]]), f64([1]), upper=True).item() == INF
    assert la.lu_factor(x).pivots.tolist() == [2, 2]


# ---- Derivatives at special places ----


def test_the_gradient_of_solve_uses_the_factors_of_the_matrix() -> None:
    # Singular but for rounding, which leaves a zero as a pivot of the transpose alone.
    matrix, side = [[-0.5, 0.5, -4.0], [0.7, -0.7, 5.6], [2.1, -0.6, 1.8]], f64([1, 2, 3])
    assert (la.lu_factor(f64(matrix).T).LU.numpy().diagonal() == 0).any()
    expected = la.lu_solve(*la.lu_factor(f64(matrix)), ts.ones(3, 1, dtype=ts.float64), adjoint=True).reshape(-1)
    a, b = f64(matrix).requires_grad_(), side.clone().requires_grad_()
    x = la.solve(a, b)
    ga, gb = ts.autograd.grad(x.sum(), [a, b], create_graph=True)
    assert gb.tolist() == expected.tolist()
    np.testing.assert_allclose(ga.detach().numpy(), -np.outer(expected.numpy(), x.detach().numpy()), rtol=1e-14)
    (second,) = ts.autograd.grad(gb.sum(), [a])
    assert np.isfinite(second.numpy()).all()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("shapes", [((3, 3), (4, 3, 3)), ((2, 1, 3, 3), (4, 3, 3)), ((2, 3, 3), (3,)), ((0, 0), (0, 2)), ((3, 3), (3, 0))])
def test_solve_that_is_recorded_has_the_values_of_one_that_is_not(shapes: Any, left: bool) -> None:
    if shapes[1] == (0, 2) and not left:
        shapes = ((0, 0), (2, 0))
    if shapes[1] == (3, 0) and not left:
        shapes = ((3, 3), (0, 3))
    rng = np.random.default_rng(0)
    a, b = f64(rng.normal(size=shapes[0])), f64(rng.normal(size=shapes[1]))
    plain = la.solve(a, b, left=left)
    x = la.solve(a.requires_grad_(), b, left=left)
    assert x.shape == plain.shape
    np.testing.assert_allclose(x.detach().numpy(), plain.numpy(), rtol=1e-11)
    x.sum().backward()
    assert a.grad is not None and a.grad.shape == shapes[0]


def test_det_has_a_gradient_at_singular_matrices() -> None:
    for matrix, cofactors in (([[1, 2], [2, 4]], [[4, -2], [-2, 1]]), ([[0, 0], [0, 3]], [[3, 0], [0, 0]])):
        x = f64(matrix).requires_grad_()
        la.det(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), cofactors, atol=1e-12)
    x = ts.zeros(3, 3, dtype=ts.float64).requires_grad_()
    la.det(x).backward()
    assert (x.grad.numpy() == 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n, rank", [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (6, 5)])
def test_det_has_all_derivatives_at_singular_matrices(n: int, rank: int, dtype: Any) -> None:
    batch = np.random.default_rng(n).integers(-3, 4, (2, n, n)).astype(dtype)
    batch[0, rank:] = 0  # beside a matrix that has an inverse
    batch[1] += 10 * np.eye(n)
    if dtype is np.complex128:
        batch *= 1 + 1j
    x = ts.asarray(batch).requires_grad_()
    assert la.det(x)[0].item() == 0
    (first,) = ts.autograd.grad(la.det(x).sum().real if dtype is np.complex128 else la.det(x).sum(), [x], create_graph=True)
    (plain,) = ts.autograd.grad(la.det(x).sum().real if dtype is np.complex128 else la.det(x).sum(), [x])
    np.testing.assert_allclose(first.detach().numpy(), plain.numpy(), rtol=1e-10, atol=1e-10)
    assert gradgradcheck(lambda t: la.det(t) / 10.0 ** (n - 1), (x,))


def test_values_have_gradients_where_vectors_have_none() -> None:
    x = ts.eye(3, dtype=ts.float64).requires_grad_()
    for function, wanted in ((la.svdvals, np.eye(3)), (la.eigvalsh, np.eye(3)), (la.pinv, -np.ones((3, 3)))):
        x.grad = None
        function(x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), wanted, atol=1e-12)


def test_a_matrix_without_a_basis_of_eigenvectors_has_no_finite_gradient() -> None:
    row = [-1.601579862278136, 0.07515282364193565, -2.715394629693448, -1.224590572745033] * 2
    x = f64([row] * 8).requires_grad_()
    la.eigvals(x).real.sum().backward()
    assert not np.isfinite(x.grad.numpy()).all()


def test_the_complete_form_of_tall_matrices_says_why_it_has_no_gradient() -> None:
    x = ts.ones(3, 2, dtype=ts.float64).requires_grad_()
    with pytest.raises(ts.AutogradError, match="reduced or r"):
        la.qr(x, mode="complete").Q.sum().backward()
    square = f64([[3, 1], [4, 7]]).requires_grad_()
    gradcheck(lambda a: la.qr(a, mode="r").R, (square,))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "lu_factor", "pinv", "matrix_exp"])
def test_derivatives_of_complex_matrices(name: str) -> None:
    rng = np.random.default_rng(3)
    x = ts.asarray(rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2)) + 2 * np.eye(2)).requires_grad_()
    gradcheck(getattr(la, name), (x,))
    gradgradcheck(getattr(la, name), (x,))


@pytest.mark.parametrize("name", ["solve", "lstsq", "solve_triangular", "cholesky", "qr"])
def test_derivatives_of_complex_systems(name: str) -> None:
    rng = np.random.default_rng(4)
    a = ts.asarray(rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)) + 3 * np.eye(3)).requires_grad_()
    b = ts.asarray(rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2))).requires_grad_()
    calls: dict[str, Any] = {
        "solve": la.solve,
        "lstsq": lambda x, y: la.lstsq(x, y).solution,
        "solve_triangular": lambda x, y: la.solve_triangular(x, y, upper=True),
        "cholesky": lambda x, y: la.cholesky(x @ x.mT.conj()) @ y,
        "qr": lambda x, y: la.qr(x).Q @ y,
    }
    gradcheck(calls[name], (a, b))


# ---- Products of long vectors ----


def test_a_long_dot_product_is_exact_to_its_last_bits_with_any_number_of_threads() -> None:
    rng = np.random.default_rng(7)
    threads = ts.get_num_threads()
    for n in (65537, 200001, 2**21 + 77):
        a, b = (rng.random(n).astype(np.float32) for _ in range(2))
        wanted = float(a.astype(np.float64) @ b.astype(np.float64))
        try:
            found = []
            for count in (1, 2, 3):
                ts.set_num_threads(count)
                found.append((ts.asarray(a) @ ts.asarray(b)).item())
        finally:
            ts.set_num_threads(threads)
        assert found[0] == found[1] == found[2] and abs(found[0] / wanted - 1) < 1.2e-7


# ---- Least squares ----


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
@pytest.mark.parametrize("size", [1, 2, 15, 64, 100, 4096, 5000])
def test_products_of_vectors_of_short_floats_are_rounded_once(dtype: ts.DType, size: int) -> None:
    rng = np.random.default_rng(0)
    # Multiples of 1/4 below 2: sums are exact in float32.
    a, b = (ts.asarray(rng.integers(-8, 8, (7, 30, size)) / 4).astype(dtype) for _ in range(2))
    wide_a, wide_b = a.astype(ts.float32), b.astype(ts.float32)
    for one, other, left, right in (
        (a, b, wide_a, wide_b), (a, b[:, :1], wide_a, wide_b[:, :1]), (a[0], b, wide_a[0], wide_b), (a[:, ::2], b[:, 1::2], wide_a[:, ::2], wide_b[:, 1::2]),
        (a[..., ::-1], b, wide_a[..., ::-1], wide_b), (a.permute_dims((1, 0, 2)), b.permute_dims((1, 0, 2)), wide_a.permute_dims((1, 0, 2)), wide_b.permute_dims((1, 0, 2))),
    ):  # fmt: skip
        assert ts.equal(ts.vecdot(one, other), ts.vecdot(left, right).astype(dtype)).all()
    column, row = a[..., None], b[:, :, None, :]
    if size <= 100:
        wanted = (wide_a[..., None] * wide_b[:, :, None, :]).astype(dtype)
        assert ts.equal(column @ row, wanted).all()
        assert ts.equal((row.mT @ column.mT).mT, wanted).all()
        assert ts.equal(ts.outer(a[0, 0], b[0, 0]), wanted[0, 0] if size > 1 else (wide_a[0, 0] * wide_b[0, 0]).astype(dtype)).all()


def test_lstsq_tells_residuals_ranks_and_singular_values() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    solution, residuals, rank, values = la.lstsq(f64(a), f64(b))
    wanted = np.linalg.lstsq(a, b, rcond=None)
    for got, want in zip((solution, residuals, rank, values), wanted):
        np.testing.assert_allclose(got.numpy(), want)
    a[:, 2] = a[:, 0]
    found = la.lstsq(f64(a), f64(b))
    assert found.rank.item() == 2 and found.residuals.shape == (0,)
    np.testing.assert_allclose(found.solution.numpy(), np.linalg.lstsq(a, b, rcond=1e-10)[0])
    assert la.lstsq(f64(a), f64(b), rcond=0.99).rank.item() < 2
    assert la.lstsq(ts.ones(0, 2), ts.ones(0, 1)).solution.tolist() == [[0], [0]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (9, 9, 20), (11, 9, 3), (40, 9, 1), (9, 12, 9), (9, 40, 2), (70, 70, 1)])
def test_lstsq_of_every_shape_is_numpys(dtype: str, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m * n)

    def numbers(*shape: int) -> Any:
        return (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if "complex" in dtype else 0)).astype(dtype)

    a, b = numbers(m, n), numbers(m, k)
    limit = 2e-3 if dtype in ("float32", "complex64") else 1e-10
    low = a.copy()  # without full rank
    low[-1], low[:, -1] = low[0], low[:, 0]
    for matrix, scale in ((a, 1.0), (low, 1.0), (a, 1e-34), (a, 1e34)):
        matrix = (matrix * scale).astype(dtype)
        found = la.lstsq(ts.asarray(matrix), ts.asarray(b), rcond=1e-5)
        solution, _, rank, values = np.linalg.lstsq(matrix, b, rcond=1e-5)
        assert found.rank.item() == rank
        np.testing.assert_allclose(found.singular_values.numpy(), values, limit, limit * values[0])
        np.testing.assert_allclose(found.solution.numpy(), solution, limit, limit * np.abs(solution).max())
        quick = la.lstsq_solution(ts.asarray(matrix), ts.asarray(b), rcond=1e-5)
        assert quick.rank.item() == rank
        np.testing.assert_allclose(quick.solution.numpy(), solution, limit, limit * np.abs(solution).max())


@pytest.mark.parametrize("m, n", [(60, 60), (90, 60), (60, 90)])
def test_lstsq_solution_counts_the_singular_values_that_lstsq_counts(m: int, n: int) -> None:
    rng = np.random.default_rng(m)
    left, right = (np.linalg.qr(rng.standard_normal((size, 60)))[0] for size in (m, n))
    for least in (1.0, 1e-3, 0.9e-3, 3e-4, 1.1e-4, 0.9e-4, 1e-6, 0.0):  # far from the limit, near to it, and below it
        values = np.linspace(1, 0.5, 60)
        values[-1] = least
        for matrix in (left * values @ right.T, left * values[::-1] @ right.T):
            b = rng.standard_normal((m, 2))
            found = la.lstsq_solution(f64(matrix), f64(b), rcond=1e-4)
            assert found.rank.item() == (values > 1e-4).sum()
            np.testing.assert_allclose(found.solution.numpy(), la.lstsq(f64(matrix), f64(b), rcond=1e-4).solution.numpy(), 1e-8, 1e-8)


def test_lstsq_solution_of_what_has_no_full_rank_or_no_numbers() -> None:
    for values in ([1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1e-300, 1e-305, 0.0], [1e300, 1.0, 1e-300]):
        a, b = np.diag(values), np.array([1.0, 2.0, 3.0])
        solution, _, rank, _ = np.linalg.lstsq(a, b, rcond=3e-16)
        found = la.lstsq_solution(f64(a), f64(b), rcond=3e-16)
        assert found.rank.item() == rank
        np.testing.assert_allclose(found.solution.numpy(), solution)
    with pytest.raises(ts.LinAlgError, match="finite"):
        la.lstsq_solution(ts.eye(2) * float("nan"), ts.ones(2))
    with pytest.raises(ValueError, match="2 rows"):
        la.lstsq_solution(ts.eye(2), ts.ones(3))
    assert la.lstsq_solution(ts.ones(0, 2), ts.ones(0, 1)).solution.tolist() == [[0], [0]]


# ---- Many matrices, large ones, threads, forks ----


@pytest.mark.parametrize("count, n", [(1000, 4), (7, 33), (2, 130)])
def test_batches_are_their_matrices_one_by_one(count: int, n: int) -> None:
    x = np.random.default_rng(6).standard_normal((count, n, n))
    t = f64(x)
    u, s, vh = la.svd(t)
    np.testing.assert_allclose((u * s[:, None, :] @ vh).numpy(), x, atol=1e-10)
    for i in (0, count // 2, count - 1):
        # One large matrix alone has all threads, which round otherwise.
        np.testing.assert_allclose(s[i].numpy(), la.svd(t[i]).S.numpy(), rtol=1e-13)
        np.testing.assert_allclose(la.inv(t)[i].numpy(), la.inv(t[i]).numpy(), atol=1e-11)


def test_large_matrices_agree_with_scipy() -> None:
    rng = np.random.default_rng(7)
    a = rng.standard_normal((300, 300))
    h, b = a + a.T, rng.standard_normal((300, 40))
    np.testing.assert_allclose(la.eigvalsh(f64(h)).numpy(), scipy.linalg.eigvalsh(h), atol=1e-10)
    np.testing.assert_allclose(la.solve(f64(a), f64(b)).numpy(), scipy.linalg.solve(a, b), atol=1e-8)
    np.testing.assert_allclose(la.svdvals(f64(a)).numpy(), scipy.linalg.svdvals(a), atol=1e-10)
    np.testing.assert_allclose(la.matrix_exp(f64(a / 20)).numpy(), scipy.linalg.expm(a / 20), rtol=1e-8, atol=1e-8)


def test_a_small_matrix_does_not_depend_on_the_number_of_threads() -> None:
    a = ts.asarray(np.random.default_rng(5).standard_normal((130, 130)))
    found = []
    before = ts.get_num_threads()
    try:
        for threads in (1, 2):
            ts.set_num_threads(threads)
            found.append([ts.linalg.svdvals(a).numpy(), ts.linalg.qr(a)[0].numpy(), ts.linalg.inv(a).numpy()])
    finally:
        ts.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


def test_batches_do_not_depend_on_the_number_of_threads() -> None:
    x = f64(np.random.default_rng(8).standard_normal((64, 12, 12)))
    before = ts.get_num_threads()
    results = []
    for threads in (1, before):
        ts.set_num_threads(threads)
        results.append([la.inv(x).numpy(), la.svdvals(x).numpy(), la.eigvals(x).numpy(), la.qr(x).Q.numpy()])
    for one, other in zip(*results):
        np.testing.assert_array_equal(one, other)


FORKED = """
import os, tessera as ts
x = ts.randn((8, 200, 200), dtype=ts.float64)
ts.linalg.inv(x)
child = os.fork()
ts.linalg.svdvals(x), ts.linalg.solve(x, x)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_factors_too() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=60, env=os.environ)


# ---- Symmetric matrices that need not be definite ----


def indefinite(*shape: int, hermitian: bool = False, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if hermitian else 0)
    a = a + np.conj(np.swapaxes(a, -1, -2))
    a[..., range(shape[-1]), range(shape[-1])] = 0  # blocks of 2
    return a


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (3, 4, 4)])
def test_factors_of_symmetric_matrices_solve_systems(shape: tuple[int, ...], hermitian: bool) -> None:
    a = indefinite(*shape, hermitian=hermitian) + (np.eye(1) if shape == (1, 1) else 0)
    factors, pivots = la.ldl_factor(ts.asarray(a), hermitian=hermitian)
    trf = scipy.linalg.get_lapack_funcs("hetrf" if hermitian else "sytrf", (a,))
    for i in np.ndindex(shape[:-2]):
        expected, swaps, _ = trf(a[i], lower=1)
        np.testing.assert_allclose(factors.numpy()[i], np.tril(expected), atol=1e-12)
        np.testing.assert_array_equal(pivots.numpy()[i], swaps)
    b = np.random.default_rng(5).standard_normal((*shape[:-1], 2)).astype(a.dtype)
    x = la.ldl_solve(factors, pivots, ts.asarray(b), hermitian=hermitian)
    np.testing.assert_allclose(a @ x.numpy(), b, atol=1e-10)
    right = ts.asarray(b).requires_grad_()
    assert gradcheck(lambda t: la.ldl_solve(factors, pivots, t, hermitian=hermitian), (right,))
    assert gradgradcheck(lambda t: la.ldl_solve(factors, pivots, t, hermitian=hermitian), (right,))


def test_a_symmetric_complex_matrix_is_not_hermitian() -> None:
    a = np.array([[1j, 2], [2, 1 + 1j]])
    factors, pivots, info = la.ldl_factor_ex(ts.asarray(a))
    b = ts.asarray(np.array([[1.0 + 0j], [1j]])).requires_grad_()
    np.testing.assert_allclose(a @ la.ldl_solve(factors, pivots, b).detach().numpy(), b.detach().numpy(), atol=1e-12)
    assert gradcheck(lambda t: la.ldl_solve(factors, pivots, t), (b,)) and info.item() == 0


def test_singular_symmetric_matrices_have_factors_by_ldl_factor_ex_only() -> None:
    a = f64([[[0, 0], [0, 5]], [[1, 2], [2, 1]]])
    assert la.ldl_factor_ex(a).info.tolist() == [1, 0]
    with pytest.raises(ts.LinAlgError, match="number 0"):
        la.ldl_factor(a)
    assert la.ldl_factor(ts.zeros((0, 3, 3))).LD.shape == (0, 3, 3) and la.ldl_factor(ts.zeros((0, 0))).pivots.shape == (0,)
    with pytest.raises(NotImplementedError):
        la.ldl_factor(f64([[1]]).requires_grad_())
    factors, pivots = la.ldl_factor(f64([[0, 1], [1, 0]]))
    assert pivots.tolist() == [-2, -2]
    for wrong in ([0, 1], [-2, 1], [3, 3], [1, -2]):
        with pytest.raises(ValueError):
            la.ldl_solve(factors, ts.asarray(wrong), f64([[1], [1]]))
    with pytest.raises(ValueError):
        la.ldl_solve(factors, pivots, f64([[1]]))


def test_rows_far_apart_are_multiplied() -> None:
    """BLAS takes distances of 32 bits. The pages between the rows are never touched."""
    step, width = 2**31, 64
    try:
        memory = mmap.mmap(-1, (step + width) * 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))
    except OSError:
        pytest.skip("no address space of 8 GiB")
    rows = np.lib.stride_tricks.as_strided(np.frombuffer(memory, np.float32), (2, width), (step * 4, 4))
    rows[:] = np.arange(2 * width).reshape(2, width)
    w = ts.ones((width, 40))
    far = ts.from_dlpack(rows)
    assert far.stride(0) == step
    assert (far @ w).numpy()[:, 0].tolist() == rows.sum(1).tolist()
    assert (w.T @ far.T).numpy()[0].tolist() == rows.sum(1).tolist()
    assert ts.matmul(far, w[:, 0]).numpy().tolist() == rows.sum(1).tolist()


@pytest.mark.parametrize("name", ["float32", "complex128", "int64", "bfloat16"])
def test_cross_of_long_rows_and_of_many_vectors(name: str) -> None:
    """Long rows are taken part by part, short ones in blocks of which the last is not whole."""
    rng = np.random.default_rng(3)
    dtype = getattr(ts, name)
    for shape, axis in (((3, 70), 0), ((5, 3, 65), 1), ((3,), 0), ((40001, 3), 1), ((40001, 3, 2), 1), ((0, 3), 1), ((3, 0), 0)):
        a, b = (ts.asarray(rng.integers(-9, 9, shape)).astype(dtype) for _ in range(2))
        wide = [x.astype(ts.complex128).numpy() for x in (a, b)]
        wanted = np.cross(*wide, axis=axis)
        turned = [ts.swapaxes(ts.swapaxes(x, 0, -1).contiguous(), 0, -1) for x in (a, b)]
        for x, y in ((a, b), turned):
            found = ts.linalg.cross(x, y, axis=axis)
            assert found.dtype is dtype
            np.testing.assert_array_equal(found.astype(ts.complex128).numpy(), wanted)
        out = a.clone()
        ts.cross(out, b, axis=axis, out=out)
        np.testing.assert_array_equal(out.astype(ts.complex128).numpy(), wanted)
    mixed = ts.linalg.cross(ts.ones((4, 3), dtype=ts.int32), ts.asarray([[0.5, 1.0, 2.0]], dtype=ts.float64))
    assert mixed.dtype is ts.float64 and mixed[3].tolist() == [1.0, -1.5, 0.5]
    with pytest.raises(TypeError, match="numeric"):
        ts.cross(ts.ones(3, dtype=ts.bool_), ts.ones(3, dtype=ts.bool_))
