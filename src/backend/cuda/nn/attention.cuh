// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What both passes of attention share on the device: tiles of scores in shared memory. A block owns
// kOwn rows of one operand (queries, or keys for their gradients) and meets the rows of the other
// operand kOther at a time.
#pragma once

#include "backend/common/philox.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"
#include "kernel/attention.h"

namespace tsr::cuda {

inline constexpr int kOwn = 8;
inline constexpr int kOther = 32;
inline constexpr int kDepth = 32;    // columns of both operands that are in shared memory at a time
inline constexpr int kColumns = 64;  // columns of the result that a block sums up in one walk

// The rows of one matrix, stored as S.
template <class S>
struct MatrixRows {
  const typename S::Type* data;
  int64_t step, count;

  __device__ auto at(int64_t row, int64_t column) const {
    return S::load(data[row * step + column]).v;
  }
};

__device__ inline int64_t matrix_offset(const kernel::AttentionPlan& plan,
                                        const kernel::AttentionMatrix& operand, int64_t matrix) {
  const int64_t inner = matrix % plan.batch[2];
  const int64_t rest = matrix / plan.batch[2];
  return rest / plan.batch[1] * operand.batch_strides[0] +
         rest % plan.batch[1] * operand.batch_strides[1] + inner * operand.batch_strides[2];
}
template <class S>
__device__ MatrixRows<S> rows_of(const kernel::AttentionPlan& plan,
                                 const kernel::AttentionMatrix& operand, int64_t matrix,
                                 int64_t count) {
  return {static_cast<const typename S::Type*>(operand.data) + matrix_offset(plan, operand, matrix),
          operand.row_stride, count};
}
template <class S>
__device__ typename S::Type* place_of(const kernel::AttentionPlan& plan,
                                      const kernel::AttentionMatrix& operand, int64_t matrix,
                                      int64_t row) {
  return static_cast<typename S::Type*>(operand.data) + matrix_offset(plan, operand, matrix) +
         row * operand.row_stride;
}

template <class T>
struct Tile {
  T v[kOwn][kOther];
};
template <class T>
struct Depths {
  T own[kOwn][kDepth];
  T other[kOther][kDepth + 1];  // one more, so that threads meet different banks
};

// tile(r, c) = Σ_e a(first + r, e) b(start + c, e); rows beyond the end count as 0. All threads
// call it; the tile is complete when it returns.
template <class S, class T>
__device__ void dots(const MatrixRows<S>& a, int64_t first, const MatrixRows<S>& b, int64_t start,
                     int64_t depth, Depths<T>& part, Tile<T>& tile) {
  const int me = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  for (int i = me; i < kOwn * kOther; i += step) tile.v[i / kOther][i % kOther] = 0;
  for (int64_t e = 0; e < depth; e += kDepth) {
    __syncthreads();
    for (int i = me; i < kOwn * kDepth; i += step) {
      const int64_t row = first + i / kDepth;
      const int64_t column = e + i % kDepth;
      part.own[i / kDepth][i % kDepth] = row < a.count && column < depth ? a.at(row, column) : T{0};
    }
    for (int i = me; i < kOther * kDepth; i += step) {
      const int64_t row = start + i / kDepth;
      const int64_t column = e + i % kDepth;
      part.other[i / kDepth][i % kDepth] =
          row < b.count && column < depth ? b.at(row, column) : T{0};
    }
    __syncthreads();
    for (int i = me; i < kOwn * kOther; i += step) {
      T sum = tile.v[i / kOther][i % kOther];
      for (int d = 0; d < kDepth; ++d) sum += part.own[i / kOther][d] * part.other[i % kOther][d];
      tile.v[i / kOther][i % kOther] = sum;
    }
  }
  __syncthreads();
}

// Whether the query and the key exist and `causal` lets them meet.
__device__ inline bool meets(const kernel::AttentionPlan& plan, int64_t query, int64_t key) {
  return query < plan.queries && key < plan.keys && (plan.causal == 0 || key <= query);
}
// The end of the keys that some of the queries [first, first + kOwn) meet.
__device__ inline int64_t end_of_keys(const kernel::AttentionPlan& plan, int64_t first) {
  const int64_t seen = kernel::seen_keys(plan);
  return plan.causal != 0 && first + kOwn < seen ? first + kOwn : seen;
}

// The score of a query and a key from their product; -infinity where the key takes no part.
template <class S, class T>
__device__ T masked_score(const kernel::AttentionPlan& plan, int64_t matrix, int64_t query,
                          int64_t key, T product) {
  const T hidden = -std::numeric_limits<T>::infinity();
  if (!meets(plan, query, key)) return hidden;
  const T score = product * static_cast<T>(plan.scale);
  if (plan.mask.data == nullptr) return score;
  const int64_t at = matrix_offset(plan, plan.mask, matrix) + query * plan.mask.row_stride +
                     key * plan.mask_column_stride;
  if (plan.mask_dtype == DType::kBool)
    return static_cast<const uint8_t*>(plan.mask.data)[at] != 0 ? score : hidden;
  return score + S::load(static_cast<const typename S::Type*>(plan.mask.data)[at]).v;
}

// Bernoulli's number of dropout, as random.cu draws it.
template <class T>
__device__ T dropout_factor(const kernel::AttentionPlan& plan, int64_t matrix, int64_t query,
                            int64_t key) {
  const int64_t at = (matrix * plan.queries + query) * plan.keys + key;
  const PhiloxBlock<uint64_t> block =
      philox<uint64_t>(plan.seed, plan.offset + static_cast<uint64_t>(at));
  const uint64_t word = (block.words[0] & 0xffffffff) | block.words[1] << 32;
  const double kept = 1 - plan.dropout;
  return static_cast<T>(std::ldexp(static_cast<double>(word >> 11), -53) < kept ? 1 / kept : 0.0);
}

__device__ inline int64_t matrices_of(const kernel::AttentionPlan& plan) {
  return plan.batch[0] * plan.batch[1] * plan.batch[2];
}

}  // namespace tsr::cuda
