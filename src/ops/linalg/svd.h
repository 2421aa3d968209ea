// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Singular values and vectors, and the pseudo-inverse.
#pragma once

#include <optional>
#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; any batch. Throws kShape, kDType; kLinalg for NaN,
// infinities and where the iteration does not converge.

// (u, s, vh): input = u diag(s) vh; s descends and is real. `full_matrices`: u and vh are square,
// else they have min(m, n) columns and rows; gradients of the additional ones count as 0. Vectors
// of equal singular values have no gradient (it is infinite or NaN).
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& input, bool full_matrices = true, Out u = {},
                                       Out s = {}, Out vh = {});
// The singular values alone, descending.
Tensor svdvals(const Tensor& input, Out out = {});
// The pseudo-inverse of Moore and Penrose: singular values up to rtol times the largest one count
// as 0; rtol defaults to max(m, n) times the machine epsilon. A Hermitian matrix goes by its
// eigenvalues, of which the lower triangle is read.
Tensor pinv(const Tensor& input, std::optional<double> rtol = {}, bool hermitian = false,
            Out out = {});
// As pinv, with one tolerance for each matrix; `rtol` broadcasts to the batch.
Tensor pinv_by_rtol(const Tensor& input, const Tensor& rtol, bool hermitian = false, Out out = {});
// Checks such tolerances, which broadcast against singular values afterwards.
Tensor shares_for(const Tensor& input, const Tensor& rtol);

// The gradient of a matrix from that of its pseudo-inverse. Differentiable.
Tensor pinv_gradient(const Tensor& g, const Tensor& inverse, const Tensor& input);
// max(m, n) times the machine epsilon of the input's dtype.
double default_rtol(const Tensor& input);

}  // namespace tsr::ops
