// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention, forward: a block owns a few queries of one matrix and walks over the keys with a
// running maximum and a running sum of every row (Dao et al., "FlashAttention", 2022).
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/nn/attention.cuh"
#include "backend/cuda/nn/attention.h"

namespace tsr::cuda {

using kernel::AttentionPlan;
using kernel::Status;

namespace {

template <class T>
struct Running {
  T most[kOwn], sum[kOwn], factor[kOwn];
};

// Turns the scores into exp(score - maximum so far); `factor` brings what was summed up before to
// that maximum.
template <class T>
__device__ void soften(Tile<T>& tile, Running<T>& state) {
  const T none = -std::numeric_limits<T>::infinity();
  for (int r = static_cast<int>(threadIdx.x); r < kOwn; r += static_cast<int>(blockDim.x)) {
    T most = state.most[r];
    for (int c = 0; c < kOther; ++c) most = most < tile.v[r][c] ? tile.v[r][c] : most;
    const T shift = most == none ? T{0} : most;
    state.factor[r] = std::exp(state.most[r] - shift);
    T sum = 0;
    for (int c = 0; c < kOther; ++c) {
      tile.v[r][c] = std::exp(tile.v[r][c] - shift);
      sum += tile.v[r][c];
    }
    state.sum[r] = state.sum[r] * state.factor[r] + sum;
    state.most[r] = most;
  }
  __syncthreads();
}

template <class S>
struct AttentionForward {
  using T = typename S::Value::Element;
  AttentionPlan plan;

  struct Shared {
    Tile<T> tile;
    Depths<T> part;
    Running<T> state;
    T sums[kOwn][kColumns];
  };

  // Columns [column, column + kColumns) of the output of queries [first, first + kOwn).
  __device__ void run(int64_t matrix, int64_t first, int64_t column, Shared& shared) const {
    const int me = static_cast<int>(threadIdx.x);
    const int step = static_cast<int>(blockDim.x);
    __syncthreads();  // the walk before may still be read
    for (int r = me; r < kOwn; r += step) {
      shared.state.most[r] = -std::numeric_limits<T>::infinity();
      shared.state.sum[r] = 0;
    }
    for (int i = me; i < kOwn * kColumns; i += step) shared.sums[i / kColumns][i % kColumns] = 0;
    const auto query = rows_of<S>(plan, plan.query, matrix, plan.queries);
    const int64_t end = end_of_keys(plan, first);
    const auto key = rows_of<S>(plan, plan.key, matrix, end);
    const auto value = rows_of<S>(plan, plan.value, matrix, end);
    for (int64_t start = 0; start < end; start += kOther) {
      dots(query, first, key, start, plan.width, shared.part, shared.tile);
      for (int i = me; i < kOwn * kOther; i += step) {
        T& score = shared.tile.v[i / kOther][i % kOther];
        score = masked_score<S>(plan, matrix, first + i / kOther, start + i % kOther, score);
      }
      __syncthreads();
      soften(shared.tile, shared.state);
      add(value, matrix, first, start, column, shared);
    }
    finish(matrix, first, column, shared);
  }

  __device__ void add(const MatrixRows<S>& value, int64_t matrix, int64_t first, int64_t start,
                      int64_t column, Shared& shared) const {
    const int me = static_cast<int>(threadIdx.x);
    const int step = static_cast<int>(blockDim.x);
    if (plan.dropout > 0) {
      for (int i = me; i < kOwn * kOther; i += step)
        shared.tile.v[i / kOther][i % kOther] *=
            dropout_factor<T>(plan, matrix, first + i / kOther, start + i % kOther);
      __syncthreads();
    }
    for (int i = me; i < kOwn * kColumns; i += step) {
      const int r = i / kColumns;
      const int64_t at = column + i % kColumns;
      if (at >= plan.value_width) continue;
      T sum = shared.sums[r][i % kColumns] * shared.state.factor[r];
      for (int c = 0; c < kOther && start + c < value.count; ++c)
        sum += shared.tile.v[r][c] * value.at(start + c, at);
      shared.sums[r][i % kColumns] = sum;
    }
    __syncthreads();
  }

  __device__ void finish(int64_t matrix, int64_t first, int64_t column, Shared& shared) const {
    const int step = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < kOwn * kColumns; i += step) {
      const int r = i / kColumns;
      const int64_t at = column + i % kColumns;
      if (first + r >= plan.queries) continue;
      const T sum = shared.state.sum[r];
      if (at < plan.value_width) {
        const T value = sum == 0 ? T{0} : shared.sums[r][i % kColumns] / sum;
        place_of<S>(plan, plan.output, matrix, first + r)[at] = S::store(Number<T>(value));
      }
      if (at == 0 && plan.lse != nullptr) {
        static_cast<T*>(plan.lse)[matrix * plan.queries + first + r] =
            sum == 0 ? T{0} : shared.state.most[r] + std::log(sum);
      }
    }
  }
};

template <class S>
__global__ void attention_kernel(AttentionForward<S> pass) {
  __shared__ typename AttentionForward<S>::Shared shared;
  const AttentionPlan& plan = pass.plan;
  const int64_t parts = (plan.queries + kOwn - 1) / kOwn;
  for (int64_t b = blockIdx.x; b < matrices_of(plan) * parts; b += gridDim.x) {
    for (int64_t column = 0; column < plan.value_width; column += kColumns)
      pass.run(b / parts, b % parts * kOwn, column, shared);
  }
}

}  // namespace

Status attention(const AttentionPlan& plan) {
  if (plan.backward != 0) return attention_backward(plan);
  return visit_floating(
      plan.dtype, "attention: expected a real floating dtype", [&]<class S>() -> Status {
        const int64_t matrices = plan.batch[0] * plan.batch[1] * plan.batch[2];
        return launch_blocks(plan.place, matrices * ((plan.queries + kOwn - 1) / kOwn), kThreads,
                             &attention_kernel<S>, AttentionForward<S>{plan});
      });
}

}  // namespace tsr::cuda
