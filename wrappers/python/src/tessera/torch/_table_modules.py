# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of torch.linalg, torch.fft and torch.special, as rows of the table of differences."""

LINALG = """
cholesky(A, *, upper=False, out=None) = cholesky(A, upper=upper, out=out)
cholesky_ex(A, *, upper=False, check_errors=False, out=None)
    = with_info("cholesky_ex", cholesky, A, check_errors, upper=upper)
cross(input, other, *, dim=-1, out=None) = cross(input, other, axis=dim, out=out)
diagonal(A, *, offset=0, dim1=-2, dim2=-1) = plain_diagonal(A, offset, dim1, dim2)
eigh(A, UPLO="L", *, out=None) = eigh(A, UPLO, out=out)
eigvalsh(A, UPLO="L", *, out=None) = eigvalsh(A, UPLO, out=out)
cond(A, p=None, *, out=None) = cond(A, p, out=out)
det(A, *, out=None) = det(A, out=out)
eig(A, *, out=None) = eig(A, out=out)
eigvals(A, *, out=None) = eigvals(A, out=out)
inv(A, *, out=None) = inv(A, out=out)
inv_ex(A, *, check_errors=False, out=None) = with_info("inv_ex", inv, A, check_errors)
lu(A, *, pivot=True, out=None) = (only(pivot, True, "torch.linalg.lu(): pivot"), lu(A, out=out))[1]
matmul(input, other, *, out=None) = matmul(input, other, out=out)
matrix_exp(A) = matrix_exp(A)
matrix_power(A, n, *, out=None) = matrix_power(A, n, out=out)
slogdet(A, *, out=None) = slogdet(A, out=out)
solve(A, B, *, left=True, out=None) = solve(A, B, left=left, out=out)
tensorinv(A, ind=2, *, out=None) = inverse_of_tensor(A, ind)
tensorsolve(A, B, dims=None, *, out=None) = solution_of_tensor(A, B, dims)
svdvals(A, *, driver=None, out=None) = svdvals(A, out=out)
lstsq(input, B, rcond=None, *, driver=None) = lstsq(input, B, rcond)
lu_factor(A, *, pivot=True, out=None) = (only(pivot, True, "torch.linalg.lu_factor(): pivot"), lu_factor(A, out=out))[1]
lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None)
    = lu_solve(LU, pivots, B, left=left, adjoint=adjoint, out=out)
matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None)
    = norm_of_matrix(A, ord, dim, keepdim, dtype)
matrix_rank(A, *, atol=None, rtol=None, hermitian=False, out=None)
    = matrix_rank(A, rtol=rtol, hermitian=hermitian, out=out)
multi_dot(tensors, *, out=None) = multi_dot(list(tensors), out=out)
norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None) = norm_of_any(A, ord, dim, keepdim, dtype)
pinv(A, *, atol=None, rtol=None, hermitian=False, out=None) = pinv(A, rtol=rtol, hermitian=hermitian, out=out)
qr(A, mode="reduced", *, out=None) = qr(A, mode=mode, out=out)
solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None)
    = solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular, out=out)
svd(A, full_matrices=True, *, driver=None, out=None) = svd(A, full_matrices=full_matrices, out=out)
vander(x, *, N=None) = vandermonde(x, N, True)
vecdot(x, y, *, dim=-1, out=None) = vecdot(x, y, axis=dim, out=out)
vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None)
    = vector_norm(x if dtype is None else x.to(dtype), some(dim), ord=ord, keepdims=keepdim, out=out)
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
bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expm1 gammaln i0 i0e i1 i1e log1p log_ndtr
logit modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0
scaled_modified_bessel_k1 sinc spherical_bessel_j0 xlog1py xlogy zeta
"""

SPECIAL = """
expit(input, *, out=None) = sigmoid(input, out=out)
gammainc(input, other, *, out=None) = igamma(input, other, out=out)
gammaincc(input, other, *, out=None) = igammac(input, other, out=out)
log_softmax(input, dim, *, dtype=None) = log_softmax(input, dim, dtype=dtype)
logsumexp(input, dim, keepdim=False, *, out=None) = logsumexp(input, dim, keepdims=keepdim, out=out)
multigammaln(input, p, *, out=None) = multigammaln(input, p, out=out)
polygamma(n, input, *, out=None) = polygamma(input, n, out=out)
psi(input, *, out=None) = digamma(input, out=out)
round(input, *, decimals=0, out=None)
    = round(input, out=out) if decimals == 0 else round_decimals(input, decimals, out=out)
softmax(input, dim, *, dtype=None) = softmax(input, dim, dtype=dtype)
"""
