// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention, backward: one walk for each gradient, in which the probabilities are computed again
// from the scores and lse, so that every sum has a fixed order and no atomic additions are needed.
#include "backend/cuda/nn/attention.cuh"
#include "backend/cuda/nn/attention.h"

namespace tsr::cuda {

using kernel::AttentionMatrix;
using kernel::AttentionPlan;
using kernel::Status;

namespace {

// With P the probabilities, D dropout's factors, G the gradient of the output and dP = (G Vᵀ) D:
// dV = (P D)ᵀ G, dS = P (dP - Σ G output), dQ = scale dS K, dK = scale dSᵀ Q.
enum class Towards { kQuery, kKey, kValue };

// Σ G output of every query.
template <class S, class T>
__global__ void totals_kernel(AttentionPlan plan, T* totals) {
  const int64_t count = matrices_of(plan) * plan.queries;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t matrix = i / plan.queries;
    const int64_t query = i % plan.queries;
    const auto grad = rows_of<S>(plan, plan.grad, matrix, plan.queries);
    const auto output = rows_of<S>(plan, plan.output, matrix, plan.queries);
    T sum = 0;
    for (int64_t c = 0; c < plan.value_width; ++c) sum += grad.at(query, c) * output.at(query, c);
    totals[i] = sum;
  }
}

template <class S, Towards kWhich>
struct Gradient {
  using T = typename S::Value::Element;
  AttentionPlan plan;
  const T* totals;

  static constexpr bool kByKeys = kWhich != Towards::kQuery;

  struct Shared {
    Tile<T> weights, slopes;
    Depths<T> part;
    T sums[kOwn][kColumns];
  };

  __device__ int64_t own_rows() const { return kByKeys ? plan.keys : plan.queries; }
  __device__ int64_t columns() const {
    return kWhich == Towards::kValue ? plan.value_width : plan.width;
  }

  // Columns [column, column + kColumns) of the gradients of rows [first, first + kOwn).
  __device__ void run(int64_t matrix, int64_t first, int64_t column, Shared& shared) const {
    const int me = static_cast<int>(threadIdx.x);
    const int step = static_cast<int>(blockDim.x);
    __syncthreads();  // the walk before may still be read
    for (int i = me; i < kOwn * kColumns; i += step) shared.sums[i / kColumns][i % kColumns] = 0;
    const int64_t keys = kByKeys ? plan.keys : end_of_keys(plan, first);
    const auto query = rows_of<S>(plan, plan.query, matrix, plan.queries);
    const auto key = rows_of<S>(plan, plan.key, matrix, keys);
    const auto value = rows_of<S>(plan, plan.value, matrix, keys);
    const auto grad = rows_of<S>(plan, plan.grad, matrix, plan.queries);
    const int64_t end = kByKeys ? plan.queries : keys;
    for (int64_t start = plan.causal != 0 && kByKeys ? first / kOther * kOther : 0; start < end;
         start += kOther) {
      dots(kByKeys ? key : query, first, kByKeys ? query : key, start, plan.width, shared.part,
           shared.weights);
      if constexpr (kWhich != Towards::kValue)
        dots(kByKeys ? value : grad, first, kByKeys ? grad : value, start, plan.value_width,
             shared.part, shared.slopes);
      weigh(matrix, first, start, shared);
      add(kWhich == Towards::kQuery ? key
          : kWhich == Towards::kKey ? query
                                    : grad,
          start, column, shared);
    }
    store(matrix, first, column, shared);
  }

  // Turns the products into the factors of the other operand's rows.
  __device__ void weigh(int64_t matrix, int64_t first, int64_t start, Shared& shared) const {
    const int step = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < kOwn * kOther; i += step) {
      const int64_t own = first + i / kOther;
      const int64_t other = start + i % kOther;
      const int64_t query = kByKeys ? other : own;
      const int64_t key = kByKeys ? own : other;
      T& weight = shared.weights.v[i / kOther][i % kOther];
      if (!meets(plan, query, key)) {
        weight = 0;
        continue;
      }
      const T score = masked_score<S>(plan, matrix, query, key, weight);
      const int64_t at = matrix * plan.queries + query;
      const T p = std::exp(score - static_cast<const T*>(plan.lse)[at]);
      const T factor = plan.dropout > 0 ? dropout_factor<T>(plan, matrix, query, key) : T{1};
      if constexpr (kWhich == Towards::kValue) {
        weight = p * factor;
      } else {
        const T slope = shared.slopes.v[i / kOther][i % kOther] * factor;
        weight = p * (slope - totals[at]) * static_cast<T>(plan.scale);
      }
    }
    __syncthreads();
  }

  __device__ void add(const MatrixRows<S>& other, int64_t start, int64_t column,
                      Shared& shared) const {
    const int step = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < kOwn * kColumns; i += step) {
      const int r = i / kColumns;
      const int64_t at = column + i % kColumns;
      if (at >= columns()) continue;
      T sum = shared.sums[r][i % kColumns];
      for (int c = 0; c < kOther && start + c < other.count; ++c)
        sum += shared.weights.v[r][c] * other.at(start + c, at);
      shared.sums[r][i % kColumns] = sum;
    }
    __syncthreads();
  }

  __device__ void store(int64_t matrix, int64_t first, int64_t column, Shared& shared) const {
    const AttentionMatrix& target = kWhich == Towards::kQuery ? plan.grad_query
                                    : kWhich == Towards::kKey ? plan.grad_key
                                                              : plan.grad_value;
    const int step = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < kOwn * kColumns; i += step) {
      const int64_t row = first + i / kColumns;
      const int64_t at = column + i % kColumns;
      if (row >= own_rows() || at >= columns()) continue;
      place_of<S>(plan, target, matrix, row)[at] =
          S::store(Number<T>(shared.sums[i / kColumns][i % kColumns]));
    }
  }
};

template <class S, Towards kWhich>
__global__ void gradient_kernel(Gradient<S, kWhich> pass) {
  __shared__ typename Gradient<S, kWhich>::Shared shared;
  const int64_t parts = (pass.own_rows() + kOwn - 1) / kOwn;
  for (int64_t b = blockIdx.x; b < matrices_of(pass.plan) * parts; b += gridDim.x) {
    for (int64_t column = 0; column < pass.columns(); column += kColumns)
      pass.run(b / parts, b % parts * kOwn, column, shared);
  }
}

template <class S, Towards kWhich, class T>
Status launch_gradient(const AttentionPlan& plan, const AttentionMatrix& target, const T* totals) {
  if (target.data == nullptr) return kernel::kOk;
  const int64_t rows = kWhich == Towards::kQuery ? plan.queries : plan.keys;
  const int64_t matrices = plan.batch[0] * plan.batch[1] * plan.batch[2];
  return launch_blocks(plan.place, matrices * ((rows + kOwn - 1) / kOwn), kThreads,
                       &gradient_kernel<S, kWhich>, Gradient<S, kWhich>{plan, totals});
}

template <class S>
Status run(const AttentionPlan& plan) {
  using T = typename S::Value::Element;
  const int64_t rows = plan.batch[0] * plan.batch[1] * plan.batch[2] * plan.queries;
  const Workspace space(plan.place, rows * static_cast<int64_t>(sizeof(T)));
  if (space.missing()) return failure(Code::kOutOfMemory, "attention: no scratch memory");
  T* const totals = space.data<T>();
  Status status = launch(plan.place, rows, &totals_kernel<S, T>, plan, totals);
  if (status == kernel::kOk)
    status = launch_gradient<S, Towards::kQuery>(plan, plan.grad_query, totals);
  if (status == kernel::kOk)
    status = launch_gradient<S, Towards::kKey>(plan, plan.grad_key, totals);
  if (status == kernel::kOk)
    status = launch_gradient<S, Towards::kValue>(plan, plan.grad_value, totals);
  return status;
}

}  // namespace

Status attention_backward(const AttentionPlan& plan) {
  return visit_floating(plan.dtype, "attention: expected a real floating dtype",
                        [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cuda
