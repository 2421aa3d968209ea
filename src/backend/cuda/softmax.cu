// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax along the middle axis of (rows, columns, inner): a thread per position
// where positions are many or columns few, otherwise a block per position.
#include "backend/cuda/block.cuh"
#include "backend/cuda/reduce.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::SoftmaxPlan;
using kernel::Status;

namespace {

constexpr int64_t kManyPositions = 16384;
constexpr int64_t kFewColumns = 32;

template <class S>
struct Block {
  using T = typename S::Value::Element;
  int64_t positions, columns, inner;
  const typename S::Type* input;
  const typename S::Type* saved;
  typename S::Type* output;
  bool log;

  __device__ int64_t first(int64_t position) const {
    return position / inner * columns * inner + position % inner;
  }
  __device__ T in(int64_t at) const { return S::load(input[at]).v; }
  __device__ T kept(int64_t at) const { return S::load(saved[at]).v; }
  __device__ void put(int64_t at, T value) const { output[at] = S::store(Number<T>(value)); }
};

// The threads that share a position: one, or those of a block.
struct Alone {
  __device__ int64_t first() const { return 0; }
  __device__ int64_t step() const { return 1; }
  __device__ double sum(double value) const { return value; }
  __device__ double largest(double value) const { return value; }
};
struct Together {
  double* place;
  __device__ int64_t first() const { return threadIdx.x; }
  __device__ int64_t step() const { return blockDim.x; }
  __device__ double sum(double value) const {
    return join_block(value, place, [](double a, double b) { return a + b; });
  }
  __device__ double largest(double value) const {
    return join_block(value, place, [](double a, double b) { return a < b ? b : a; });
  }
};

template <class S, class Team>
__device__ void forward(const Block<S>& block, int64_t position, const Team& team) {
  using T = typename Block<S>::T;
  const int64_t base = block.first(position);
  // NaNs are passed over here; the exponentials bring them back.
  double most = -std::numeric_limits<double>::infinity();
  for (int64_t c = team.first(); c < block.columns; c += team.step()) {
    const double x = block.in(base + c * block.inner);
    most = most < x ? x : most;
  }
  const T shift = static_cast<T>(team.largest(most));
  double sum = 0;
  for (int64_t c = team.first(); c < block.columns; c += team.step())
    sum += static_cast<double>(std::exp(block.in(base + c * block.inner) - shift));
  sum = team.sum(sum);
  const T offset = static_cast<T>(block.log ? std::log(sum) : 1 / sum);
  for (int64_t c = team.first(); c < block.columns; c += team.step()) {
    const int64_t at = base + c * block.inner;
    const T centred = block.in(at)-shift;
    block.put(at, block.log ? centred - offset : std::exp(centred) * offset);
  }
}

// softmax: y (g - Σ g y); log_softmax: g - exp(y) Σ g
template <class S, class Team>
__device__ void backward(const Block<S>& block, int64_t position, const Team& team) {
  using T = typename Block<S>::T;
  const int64_t base = block.first(position);
  double sum = 0;
  for (int64_t c = team.first(); c < block.columns; c += team.step()) {
    const int64_t at = base + c * block.inner;
    const double slope = block.in(at);
    sum += block.log ? slope : slope * static_cast<double>(block.kept(at));
  }
  const T total = static_cast<T>(team.sum(sum));
  for (int64_t c = team.first(); c < block.columns; c += team.step()) {
    const int64_t at = base + c * block.inner;
    const T y = block.kept(at);
    const T slope = block.in(at);
    block.put(at, block.log ? slope - std::exp(y) * total : y * (slope - total));
  }
}

template <class S, bool kBackward>
__global__ void by_thread_kernel(Block<S> block) {
  for (int64_t p = first_index(); p < block.positions; p += index_step()) {
    if constexpr (kBackward)
      backward(block, p, Alone{});
    else
      forward(block, p, Alone{});
  }
}
template <class S, bool kBackward>
__global__ void by_block_kernel(Block<S> block) {
  __shared__ double place[kThreads];
  for (int64_t p = blockIdx.x; p < block.positions; p += gridDim.x) {
    if constexpr (kBackward)
      backward(block, p, Together{place});
    else
      forward(block, p, Together{place});
  }
}

template <class S, bool kBackward>
Status run(const SoftmaxPlan& plan) {
  using Type = typename S::Type;
  const Block<S> block{plan.rows * plan.inner,
                       plan.columns,
                       plan.inner,
                       static_cast<const Type*>(plan.input),
                       static_cast<const Type*>(plan.saved),
                       static_cast<Type*>(plan.output),
                       plan.log != 0};
  if (block.columns == 0) return kernel::kOk;
  if (block.positions >= kManyPositions || block.columns <= kFewColumns)
    return launch(plan.place, block.positions, &by_thread_kernel<S, kBackward>, block);
  return launch_blocks(plan.place, block.positions, kThreads, &by_block_kernel<S, kBackward>,
                       block);
}

template <bool kBackward>
Status run_dtype(const SoftmaxPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat16:
      return run<Short<Half>, kBackward>(plan);
    case DType::kBFloat16:
      return run<Short<BFloat16>, kBackward>(plan);
    case DType::kFloat32:
      return run<Plain<float>, kBackward>(plan);
    case DType::kFloat64:
      return run<Plain<double>, kBackward>(plan);
    default:
      return failure(Code::kNotImplemented, "softmax: expected a real floating dtype");
  }
}

}  // namespace

Status softmax(const SoftmaxPlan& plan) {
  return run_dtype<false>(plan);
}
Status softmax_backward(const SoftmaxPlan& plan) {
  return run_dtype<true>(plan);
}

}  // namespace tsr::cuda
