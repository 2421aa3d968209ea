// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(scale Q Kᵀ + mask) V, and its gradients.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// The batch of the plan: outer, heads of keys, queries' heads that share one of them.
inline constexpr int kAttentionBatch = 3;

// One operand: a matrix for each position of the batch. Strides are in ELEMENTS and may be 0 along
// the batch; the columns of a row are next to each other.
struct AttentionMatrix {
  void* data;
  int64_t batch_strides[kAttentionBatch];
  int64_t row_stride;
};

// For every matrix of the batch, with s(i, j) = scale q(i) k(j) + mask(i, j) and
// p(i, j) = exp(s(i, j) - lse(i)), lse(i) = log Σ_j exp(s(i, j)):
//   output(i) = Σ_j p(i, j) d(i, j) v(j)
// Where a bool mask is 0, and with `causal` where j > i, the score is -infinity; a row without any
// other score has output 0 and lse 0. d is 1, or with `dropout` > 0 Bernoulli's numbers of the
// random family, 0 or 1 / (1 - dropout), of seed, offset and the element's row-major position in
// (batch, queries, keys). Forward writes output and, if it is not null, lse. Backward reads these
// and `grad`, the gradient of the output, and writes the gradients that are not null. Memory grows
// with queries + keys, not with their product (Rabe and Staats, "Self-attention does not need O(n²)
// memory", 2021; Dao et al., "FlashAttention", 2022).
// Keys that no query sees (see seen_keys) and their values do not matter: they may be NaN or
// infinite. A key that is hidden from one query only has the weight 0 there, and its product with
// NaN or infinity may be NaN.
// If `tangent_output` is not null, forward also writes the derivative of the output in the
// direction of the tangents of query, key and value; null ones are zero. Only the CPU's backend
// does that, and the op asks no other for it.
struct AttentionPlan {
  int32_t backward;
  int32_t causal;
  int64_t batch[kAttentionBatch];
  int64_t queries, keys;
  int64_t width, value_width;  // the columns of query and key; of value and output
  double scale;
  double dropout;
  uint64_t seed, offset;
  Place place;
  DType dtype;       // of everything but lse and a bool mask
  DType mask_dtype;  // kBool or `dtype`
  AttentionMatrix query, key, value;
  AttentionMatrix mask;  // data may be null
  int64_t mask_column_stride;
  AttentionMatrix output;
  void* lse;  // (batch, queries), contiguous, opmath
  AttentionMatrix grad;
  AttentionMatrix grad_query, grad_key, grad_value;
  AttentionMatrix tangent_query, tangent_key, tangent_value, tangent_output;
};
// The keys that any query sees: with `causal` none after the last query.
constexpr int64_t seen_keys(const AttentionPlan& plan) noexcept {
  return plan.causal != 0 && plan.queries < plan.keys ? plan.queries : plan.keys;
}
inline const char* name_of(const AttentionPlan& plan) noexcept {
  return plan.backward != 0 ? "attention_backward" : "attention";
}

}  // namespace tsr::kernel
