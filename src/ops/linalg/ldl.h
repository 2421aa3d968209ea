// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The factorization of symmetric matrices that need not be definite, A = L D Lᵀ or L D Lᴴ.
#pragma once

#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; any batch. Throws kShape, kDType, kDevice.
// `hermitian`: A is Hermitian, else symmetric, which is the same for real numbers.

// (ld, pivots): L below the diagonal, without its ones, and the blocks of D, of size 1 or 2, on and
// below it; the row exchanges as LAPACK's sytrf
// gives them (int32). The lower triangle of the input
// is read. Throws kLinalg for a singular matrix. No derivative.
std::tuple<Tensor, Tensor> ldl_factor(const Tensor& input, bool hermitian = false, Out ld = {},
                                      Out pivots = {});
// As ldl_factor, but a singular matrix has factors, too; with (int32, one for each matrix) the
// first block of D that is zero, counted from 1, or 0.
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& input, bool hermitian = false,
                                                 Out ld = {}, Out pivots = {}, Out info = {});
// The X with A X = other for the A that has these factors. Batch dims broadcast. Differentiable
// towards `other`. Throws kValue for pivots that are none.
Tensor ldl_solve(const Tensor& input, const Tensor& pivots, const Tensor& other,
                 bool hermitian = false, Out out = {});

}  // namespace tsr::ops
