// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The launch that every matrix product shares.
#pragma once

#include "base/scalar.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// result = alpha left right + beta result, for stacks of matrices of one dtype: result is
// (batch..., m, n) and row-major in its last two dims; left (..., m, k) and right (..., k, n)
// broadcast over the batch. beta = 0 does not read the result. `conjugate`: of the conjugate of a
// complex left. No autograd.
void launch_gemm(const Tensor& result, const Tensor& left, const Tensor& right,
                 const Scalar& alpha = 1, const Scalar& beta = 0, bool conjugate = false);
// Conjugate transpose of the last two dims. Differentiable.
Tensor adjoint(const Tensor& input);

}  // namespace tsr::ops
