// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of float32 matrices by oneDNN.
#pragma once

#include <cstdint>

namespace tsr::cpu::onednn {

// Row-major: C = alpha op(A) op(B) + beta C, with op(A) of m x k and op(B) of k x n; C is not read
// where beta is 0. False, with C as it was, when oneDNN is absent or cannot. For callers that may
// call BLAS: it obeys the same number of threads.
bool sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
           const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
           int64_t ldc) noexcept;

}  // namespace tsr::cpu::onednn
