// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// beta input + alpha (a product of matrices or vectors), in one pass over the result.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: the operands share a dtype other than bool; `input` broadcasts to the result and is
// not read when beta is 0; integers take whole factors only. Throws kShape, kDType, kDevice,
// kValue.

// mat1: (m, k); mat2: (k, n).
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double beta = 1,
             double alpha = 1, Out out = {});
// mat: (m, k); vec: (k).
Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, double beta = 1,
             double alpha = 1, Out out = {});
// The outer product of vec1: (m) and vec2: (n).
Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, double beta = 1,
            double alpha = 1, Out out = {});
// batch1: (b, m, k); batch2: (b, k, n); the result is (b, m, n).
Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta = 1,
               double alpha = 1, Out out = {});
// The same with the products added up: the result is (m, n).
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta = 1,
              double alpha = 1, Out out = {});

}  // namespace tsr::ops
