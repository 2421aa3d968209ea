// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: one plan for matmul, addmm, bmm, linear, dot.
#pragma once

#include "kernel/contract.h"
#include "kernel/precision.h"

namespace tsr::kernel {

// C = alpha op(A) op(B) + beta C for every matrix of the batch. A is m x k, B is k x n, C is m x n.
// Row and column strides are in ELEMENTS. Each matrix is dense along one dimension: one of its two
// strides is 1, the other is at least the extent of that dimension (the op layer copies other
// layouts). beta == 0 never reads C. k == 0 writes beta C.
struct GemmPlan {
  DType dtype;
  Precision precision;  // of float32 and complex64; zero is exact and always allowed
  int64_t m, n, k;
  const void* a;
  const void* b;
  void* c;
  int64_t a_strides[2];
  int64_t b_strides[2];
  int64_t c_strides[2];
  int32_t conj_a;
  int32_t conj_b;
  Parameter alpha;  // in the opmath type of dtype
  Parameter beta;
  Place place;
  int32_t batch_ndim;  // 0: one matrix
  int64_t batch;       // number of matrices
  int64_t batch_sizes[kMaxRank];
  int64_t batch_strides[3][kMaxRank];  // of A, B, C in elements
};

}  // namespace tsr::kernel
