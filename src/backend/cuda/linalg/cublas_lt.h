// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Single products with an epilogue, by cuBLASLt.
#pragma once

#include <cublasLt.h>

#include "backend/cuda/linalg/cublas.h"
#include "kernel/precision.h"

namespace tsr::cuda {

// The types of matrices of a floating or complex dtype, and of the computation. Both precisions
// below the highest use TF32, also kMedium, which would allow factors in bfloat16.
struct BlasType {
  cudaDataType_t data;
  cublasComputeType_t compute;
};
BlasType blas_type(DType dtype, kernel::Precision precision) noexcept;

// D = op(A) op(B) in column-major order: D is m x n, the sum has k terms. kBias adds bias[i] to row
// i of D; kSumB writes to bias[j] the sum of column j of op(B).
enum class Epilogue : int32_t { kBias, kSumB };
struct LtProduct {
  DType dtype;  // float16, bfloat16, float32 or float64
  kernel::Precision precision;
  Epilogue epilogue;
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  int64_t lda, ldb, ldd;
  const void* a;
  const void* b;
  void* d;
  void* bias;
};

// Queues the product. If cuBLASLt has no algorithm for it that keeps our rules, sets `offered` to
// false and does nothing. The choice of the algorithm is kept for later products of the same shape.
kernel::Status multiply(kernel::Place place, const LtProduct& product, bool& offered) noexcept;

}  // namespace tsr::cuda
