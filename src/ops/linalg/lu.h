// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The LU factorization with row exchanges, A = P L U, and what follows from it.
#pragma once

#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; any batch. Throws kShape, kDType, kDevice. A singular
// matrix has factors too, with a zero on the diagonal of U.

// (lu, pivots): L below the diagonal, without its ones, and U on and above it; row i was swapped
// with row pivots[i], counted from 1, one after another (int32).
std::tuple<Tensor, Tensor> lu_factor(const Tensor& input, Out lu = {}, Out pivots = {});
// (P, L, U) as matrices.
std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& input, Out p = {}, Out l = {}, Out u = {});
// The X with A X = other (X A = other when not `left`) for the A that has these factors, or with
// its adjoint instead of A. Batch dims broadcast. Throws kValue for pivots that are none.
Tensor lu_solve(const Tensor& input, const Tensor& pivots, const Tensor& other, bool left = true,
                bool adjoint = false, Out out = {});

}  // namespace tsr::ops
