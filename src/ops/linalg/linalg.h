// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products with fixed ranks: linear, mm, mv, bmm, dot, vdot, outer. Operands must share a
// dtype.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// input weightᵀ + bias. input: (..., in); weight: (out, in); bias: (out), may be undefined; the
// result is (..., out). Throws kShape, kDType, kDevice.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Out out = {});
// (m, k) times (k, n), without the rank rules of matmul. Throws kShape, kDType, kDevice.
Tensor mm(const Tensor& input, const Tensor& other, Out out = {});
// (m, k) times (k). Throws kShape, kDType, kDevice.
Tensor mv(const Tensor& input, const Tensor& other, Out out = {});
// (b, m, k) times (b, k, n), no broadcasting. Throws kShape, kDType, kDevice.
Tensor bmm(const Tensor& input, const Tensor& other, Out out = {});
// Σ input[i] other[i] of two vectors of one size. Throws kShape, kDType, kDevice.
Tensor dot(const Tensor& input, const Tensor& other, Out out = {});
// Σ conj(input[i]) other[i] of two vectors of one size. Throws kShape, kDType, kDevice.
Tensor vdot(const Tensor& input, const Tensor& other, Out out = {});
// input[i] other[j] of two vectors. Throws kShape, kDevice.
Tensor outer(const Tensor& input, const Tensor& other, Out out = {});

}  // namespace tsr::ops
