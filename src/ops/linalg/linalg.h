// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products with fixed ranks: linear, addmm, bmm, dot, outer. Operands must share a dtype.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// input weightᵀ + bias. input: (..., in); weight: (out, in); bias: (out), may be undefined; the
// result is (..., out). Throws kShape, kDType, kDevice.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Out out = {});
// beta input + alpha mat1 mat2. mat1: (m, k); mat2: (k, n); input broadcasts to (m, n) and is not
// read when beta is 0. Integers take whole factors only. Throws kShape, kDType, kDevice, kValue.
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double beta = 1,
             double alpha = 1, Out out = {});
// (b, m, k) times (b, k, n), no broadcasting. Throws kShape, kDType, kDevice.
Tensor bmm(const Tensor& input, const Tensor& other, Out out = {});
// Σ input[i] other[i] of two vectors of one size. Throws kShape, kDType, kDevice.
Tensor dot(const Tensor& input, const Tensor& other, Out out = {});
// input[i] other[j] of two vectors. Throws kShape, kDevice.
Tensor outer(const Tensor& input, const Tensor& other, Out out = {});

}  // namespace tsr::ops
