// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax along the middle axis of (rows, columns, inner): a team per position
// (Note [Rows by layout]).
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"
#include "backend/cuda/team.cuh"

namespace tsr::cuda {

using kernel::SoftmaxPlan;
using kernel::Status;

namespace {

template <class S>
struct Block {
  using T = typename S::Value::Element;
  int64_t columns, inner;
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

template <class S, class Team>
__device__ void forward(const Block<S>& block, int64_t position, const Team& team) {
  using T = typename Block<S>::T;
  const int64_t base = block.first(position);
  const auto at = [&](int64_t c) { return base + c * block.inner; };
  const auto row = team.hold(block.columns, [&](int64_t c) { return block.in(at(c)); });
  // NaNs are skipped here; the exponentials are NaN for them.
  T most = -std::numeric_limits<T>::infinity();
  row.each([&](int64_t, T x) { most = most < x ? x : most; });
  const T shift = team.largest(most);
  double sum = 0;
  row.each([&](int64_t, T x) { sum += static_cast<double>(std::exp(x - shift)); });
  sum = team.sum(sum);
  const T offset = static_cast<T>(block.log ? std::log(sum) : 1 / sum);
  row.each([&](int64_t c, T x) {
    const T centred = x - shift;
    block.put(at(c), block.log ? centred - offset : std::exp(centred) * offset);
  });
}

// A number of the gradient and of the result beside it.
template <class T>
struct GradAndResult {
  T g, y;
};

// softmax: y (g - Σ g y); log_softmax: g - exp(y) Σ g
template <class S, class Team>
__device__ void backward(const Block<S>& block, int64_t position, const Team& team) {
  using T = typename Block<S>::T;
  const int64_t base = block.first(position);
  const auto at = [&](int64_t c) { return base + c * block.inner; };
  const auto row = team.hold(block.columns, [&](int64_t c) {
    return GradAndResult<T>{block.in(at(c)), block.kept(at(c))};
  });
  double sum = 0;
  row.each([&](int64_t, GradAndResult<T> of) {
    const double slope = of.g;
    sum += block.log ? slope : slope * static_cast<double>(of.y);
  });
  const T total = static_cast<T>(team.sum(sum));
  row.each([&](int64_t c, GradAndResult<T> of) {
    block.put(at(c), block.log ? of.g - std::exp(of.y) * total : of.y * (of.g - total));
  });
}

template <class S, bool kBackward>
struct Along {
  Block<S> block;

  template <class Team>
  __device__ void operator()(int64_t position, const Team& team) const {
    if constexpr (kBackward)
      backward(block, position, team);
    else
      forward(block, position, team);
  }
};

template <class S, bool kBackward>
Status run(const SoftmaxPlan& plan) {
  using Type = typename S::Type;
  const Block<S> block{plan.columns,
                       plan.inner,
                       static_cast<const Type*>(plan.input),
                       static_cast<const Type*>(plan.saved),
                       static_cast<Type*>(plan.output),
                       plan.log != 0};
  if (block.columns == 0) return kernel::kOk;
  return launch_rows(plan.place, plan.rows, plan.columns, plan.inner, Along<S, kBackward>{block});
}

template <bool kBackward>
Status run_dtype(const SoftmaxPlan& plan) {
  return visit_floating(plan.dtype, "softmax: expected a real floating dtype",
                        [&]<class S>() { return run<S, kBackward>(plan); });
}

}  // namespace

Status softmax(const SoftmaxPlan& plan) {
  return run_dtype<false>(plan);
}
Status softmax_backward(const SoftmaxPlan& plan) {
  return run_dtype<true>(plan);
}

}  // namespace tsr::cuda
