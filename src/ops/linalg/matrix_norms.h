// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers that measure a matrix: norms, rank, condition. Made of other ops.
#pragma once

#include <optional>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// The norm of the last two dims: "fro" (Frobenius), "nuc" (sum of the singular values), "2", "-2"
// (largest, smallest singular value), "1", "-1" (largest, smallest sum of a column), "inf", "-inf"
// (of a row). Floating and complex, the singular values not of 16-bit floats; the result is real.
// Throws kShape, kDType, kValue; kLinalg as svd.
Tensor matrix_norm(const Tensor& input, bool keepdims = false, std::string_view ord = "fro",
                   Out out = {});
// How many singular values are above rtol times the largest one (int64); rtol defaults to
// max(m, n) times the machine epsilon. A Hermitian matrix goes by its eigenvalues.
Tensor matrix_rank(const Tensor& input, std::optional<double> rtol = {}, bool hermitian = false,
                   Out out = {});
// As matrix_rank, with one tolerance for each matrix; `rtol` broadcasts to the batch.
Tensor matrix_rank_by_rtol(const Tensor& input, const Tensor& rtol, bool hermitian = false,
                           Out out = {});
// The norm of the matrix times that of its inverse: infinite for a singular one. `p` as ord of
// matrix_norm; "2" and "-2" take matrices that are not square.
Tensor cond(const Tensor& input, std::string_view p = "2", Out out = {});

}  // namespace tsr::ops
