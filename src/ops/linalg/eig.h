// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors.
#pragma once

#include <string_view>
#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; any batch. Throws kShape, kDType; kLinalg for NaN,
// infinities and where the iteration does not converge.

// (eigenvalues, eigenvectors) of Hermitian matrices, of which the triangle `uplo` ("L" or "U") is
// read: real and ascending, and the columns of a unitary matrix. Vectors of equal eigenvalues have
// no gradient (it is infinite or NaN). Throws kValue for another uplo.
std::tuple<Tensor, Tensor> eigh(const Tensor& input, std::string_view uplo = "L",
                                Out eigenvalues = {}, Out eigenvectors = {});
Tensor eigvalsh(const Tensor& input, std::string_view uplo = "L", Out out = {});
// The same of any square matrices: both complex; vectors of length 1 as columns.
std::tuple<Tensor, Tensor> eig(const Tensor& input, Out eigenvalues = {}, Out eigenvectors = {});
Tensor eigvals(const Tensor& input, Out out = {});

}  // namespace tsr::ops
