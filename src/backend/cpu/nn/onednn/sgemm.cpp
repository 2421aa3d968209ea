// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/nn/onednn/sgemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cstdint>

#include "backend/cpu/foreign_call.h"

namespace tsr::cpu::onednn {
namespace {

// oneDNN has other code for so few rows or columns.
constexpr int64_t kFew = 16;

}  // namespace

bool sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
           const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
           int64_t ldc) noexcept {
  const bool done = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, alpha, a,
                               lda, b, ldb, beta, c, ldc) == dnnl_success;
  // The first product of a kind has made code, whose end is registered now: see Note [Foreign code
  // at exit].
  const unsigned kind = (transpose_a ? 1U : 0U) | (transpose_b ? 2U : 0U) | (m <= kFew ? 4U : 0U) |
                        (n <= kFew ? 8U : 0U);
  static std::atomic<uint32_t> met{0};
  const uint32_t bit = uint32_t{1} << kind;
  if ((met.load(std::memory_order_relaxed) & bit) == 0 && (met.fetch_or(bit) & bit) == 0)
    end_foreign_calls_early();
  return done;
}

}  // namespace tsr::cpu::onednn
