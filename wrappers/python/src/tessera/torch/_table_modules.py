# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of torch.linalg, torch.fft and torch.special, as rows of the table of differences."""

LINALG = """
cholesky(input, *, upper=False, out=None) = cholesky(input, upper=upper, out=out)
cholesky_ex(input, *, upper=False, check_errors=False, out=None)
    = with_info("cholesky_ex", cholesky, input, check_errors, upper=upper)
cross(input, other, *, dim=-1, out=None) = cross(input, other, axis=dim, out=out)
diagonal(A, *, offset=0, dim1=-2, dim2=-1) = plain_diagonal(A, offset, dim1, dim2)
eigh(input, UPLO="L", *, out=None) = eigh(input, UPLO, out=out)
eigvalsh(input, UPLO="L", *, out=None) = eigvalsh(input, UPLO, out=out)
cond(input, p=None, *, out=None) = cond(input, p, out=out)
det(A, *, out=None) = det(A, out=out)
eig(input, *, out=None) = eig(input, out=out)
eigvals(input, *, out=None) = eigvals(input, out=out)
householder_product(input, tau, *, out=None) = householder_product(input, tau, out=out)
inv(A, *, out=None) = inv(A, out=out)
inv_ex(A, *, check_errors=False, out=None) = with_info("inv_ex", inv, A, check_errors)
ldl_factor(input, *, hermitian=False, out=None) = named("linalg_ldl_factor", ldl_factor(input, hermitian=hermitian, out=out))
ldl_factor_ex(input, *, hermitian=False, check_errors=False, out=None)
    = named("linalg_ldl_factor_ex", checked(ldl_factor_ex(input, hermitian=hermitian, out=out), check_errors))
ldl_solve(LD, pivots, B, *, hermitian=False, out=None) = ldl_solve(LD, pivots, B, hermitian=hermitian, out=out)
lu(A, *, pivot=True, out=None) = (only(pivot, True, "torch.linalg.lu(): pivot"), lu(A, out=out))[1]
matmul(input, other, *, out=None) = matmul(input, other, out=out)
matrix_exp(input) = matrix_exp(input)
matrix_power(input, n, *, out=None) = matrix_power(input, n, out=out)
slogdet(A, *, out=None) = slogdet(A, out=out)
solve(A, B, *, left=True, out=None) = solved(A, B, left, out)
tensorinv(input, ind=2, *, out=None) = inverse_of_tensor(input, ind)
tensorsolve(input, other, dims=None, *, out=None) = solution_of_tensor(input, other, dims)
svdvals(A, *, driver=None, out=None) = svdvals(A, out=out)
lstsq(input, b, rcond=None, *, driver=None, out=None) = fitted(input, b, rcond, driver, out)
lu_factor(A, *, pivot=True, out=None) = (only(pivot, True, "torch.linalg.lu_factor(): pivot"), lu_factor(A, out=out))[1]
lu_factor_ex(A, *, pivot=True, check_errors=False, out=None)
    = (only(pivot, True, "torch.linalg.lu_factor_ex(): pivot"), named("linalg_lu_factor_ex", with_zeros(*lu_factor(A),
        check_errors)))[1]
lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None)
    = lu_solve(LU, pivots, B, left=left, adjoint=adjoint, out=out)
matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None)
    = norm_of_matrix(input, ord, dim, keepdim, dtype)
matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None)
    = matrix_rank(input, rtol=share(input, given(atol, tol), rtol), hermitian=hermitian, out=out)
matrix_sqrth(A) = root_of(A)
multi_dot(tensors, *, out=None) = multi_dot(list(tensors), out=out)
norm(input, ord=None, dim=None, keepdim=False, *, out=None, dtype=None) = norm_of_any(input, ord, dim, keepdim, dtype)
pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None)
    = pinv(input, rtol=share(input, atol, given(rtol, rcond)), hermitian=hermitian, out=out)
polar(A, *, out=None) = named("linalg_polar", polar_of(A))
qr(A, mode="reduced", *, out=None) = qr(A, mode=mode, out=out)
solve_ex(A, B, *, left=True, check_errors=False, out=None)
    = named("linalg_solve_ex", solution_or_nan(A, B, left, check_errors))
solve_triangular(input, B, *, upper, left=True, unitriangular=False, out=None)
    = solve_triangular(input, B, upper=upper, left=left, unitriangular=unitriangular, out=out)
svd(A, full_matrices=True, *, driver=None, out=None) = svd(A, full_matrices=full_matrices, out=out)
vander(x, *, N=None) = vandermonde(atleast_1d(x), N, True)
vecdot(x, y, *, dim=-1, out=None) = vecdot(*broadcast_tensors(x, y), axis=dim, out=out)
vector_norm(input, ord=2, dim=None, keepdim=False, *, dtype=None, out=None)
    = vector_norm(input if dtype is None else input.to(dtype), some(dim), ord=ord, keepdims=keepdim, out=out)
"""

FFT = """
fft(input, n=None, dim=-1, norm=None, *, out=None) = fft(input, n=n, axis=dim, norm=norm or "backward")
ifft(input, n=None, dim=-1, norm=None, *, out=None) = ifft(input, n=n, axis=dim, norm=norm or "backward")
rfft(input, n=None, dim=-1, norm=None, *, out=None) = rfft(input, n=n, axis=dim, norm=norm or "backward")
irfft(input, n=None, dim=-1, norm=None, *, out=None) = irfft(input, n=n, axis=dim, norm=norm or "backward")
hfft(input, n=None, dim=-1, norm=None, *, out=None) = hfft(input, n=n, axis=dim, norm=norm or "backward")
ihfft(input, n=None, dim=-1, norm=None, *, out=None) = ihfft(input, n=n, axis=dim, norm=norm or "backward")
fftn(input, s=None, dim=None, norm=None, *, out=None) = fftn(input, s=s, axes=dim, norm=norm or "backward")
ifftn(input, s=None, dim=None, norm=None, *, out=None) = ifftn(input, s=s, axes=dim, norm=norm or "backward")
rfftn(input, s=None, dim=None, norm=None, *, out=None) = rfftn(input, s=s, axes=dim, norm=norm or "backward")
irfftn(input, s=None, dim=None, norm=None, *, out=None) = irfftn(input, s=s, axes=dim, norm=norm or "backward")
fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = fftn(input, s=s, axes=dim, norm=norm or "backward")
ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = ifftn(input, s=s, axes=dim, norm=norm or "backward")
rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = rfftn(input, s=s, axes=dim, norm=norm or "backward")
irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = irfftn(input, s=s, axes=dim, norm=norm or "backward")
hfftn(input, s=None, dim=None, norm=None, *, out=None) = irfftn(conj(input), s=s, axes=dim, norm=other_way(norm))
ihfftn(input, s=None, dim=None, norm=None, *, out=None) = conj(rfftn(input, s=s, axes=dim, norm=other_way(norm)))
hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = irfftn(conj(input), s=s, axes=dim, norm=other_way(norm))
ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) = conj(rfftn(input, s=s, axes=dim, norm=other_way(norm)))
fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(fftfreq(n, d=d, dtype=dtype, device=device))
rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(rfftfreq(n, d=d, dtype=dtype, device=device))
fftshift(input, dim=None) = fftshift(input, axes=dim)
ifftshift(input, dim=None) = ifftshift(input, axes=dim)
"""

SAME_SPECIAL = """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expm1 gammaln i0 i0e i1 i1e log1p log_ndtr
logit modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0
scaled_modified_bessel_k1 spherical_bessel_j0 xlog1py xlogy zeta chebyshev_polynomial_t chebyshev_polynomial_u
chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
laguerre_polynomial_l legendre_polynomial_p
"""

SPECIAL = """
expit(input, *, out=None) = sigmoid(input, out=out)
gammainc(input, other, *, out=None) = igamma(input, other, out=out)
gammaincc(input, other, *, out=None) = igammac(input, other, out=out)
log_softmax(input, dim, *, dtype=None) = log_softmax(input, dim, dtype=dtype)
logsumexp(input, dim, keepdim=False, *, out=None) = log_of_sum(input, dim, keepdim, out)
modified_bessel_i0(input, *, out=None) = i0(input, out=out)
modified_bessel_i1(input, *, out=None) = i1(input, out=out)
multigammaln(input, p, *, out=None) = multigammaln(input, p, out=out)
polygamma(n, input, *, out=None) = polygamma(input, n, out=out)
psi(input, *, out=None) = digamma(input, out=out)
round(input, *, decimals=0, out=None)
    = round(input, out=out) if decimals == 0 else round_decimals(input, decimals, out=out)
sinc(input, *, out=None) = cardinal_sine(input, out)
softmax(input, dim, *, dtype=None) = softmax(input, dim, dtype=dtype)
"""
