// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The QR factorization.
#pragma once

#include <string_view>
#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// (q, r): input = q r, the columns of q orthonormal, r upper triangular. For (m, n) matrices and
// k = min(m, n) the mode "reduced" gives (m, k) and (k, n), "complete" (m, m) and (m, n), "r" an
// empty q and the reduced r. float32, float64 and complex. Throws kShape, kDType, kValue;
// kAutograd for a derivative of the complete form of tall matrices, whose last columns are not
// determined.
std::tuple<Tensor, Tensor> qr(const Tensor& input, std::string_view mode = "reduced", Out q = {},
                              Out r = {});

// (a, tau) as LAPACK's geqrf leaves them: R in the upper triangle of a, below it the reflectors
// that householder_product(a, tau) multiplies to Q. Throws kShape, kDType; kNotImplemented if the
// input requires grad.
std::tuple<Tensor, Tensor> geqrf(const Tensor& input, Out a = {}, Out tau = {});

// The first n columns of H(1) H(2) ... H(k) with H(i) = I - tau(i) v(i) v(i)ᴴ, where v(i) is 0
// above row i, 1 in it, and below it the column i of the input, m x n with n <= m; tau: (..., k)
// with k <= n. Throws kShape, kDType, kDevice.
Tensor householder_product(const Tensor& input, const Tensor& tau, Out out = {});

}  // namespace tsr::ops
