// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loss of alignments (CTC): a block per sequence, whose threads share the states of a time.
#include "backend/common/align_path.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

using kernel::AlignLossPlan;
using kernel::Status;

namespace {

template <class T>
__global__ void forward(AlignLossPlan plan) {
  for (int64_t b = blockIdx.x; b < plan.batch; b += gridDim.x) {
    const auto path = math::path_of<T>(plan, b);
    for (int64_t t = 0; t < path.length; ++t) {
      for (int64_t s = threadIdx.x; s < path.states(); s += blockDim.x)
        path.alpha[t * path.alpha_step + s] = path.alpha_at(t, s);
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
    const T total = path.total();
    static_cast<T*>(plan.total)[b] = total;
    static_cast<T*>(plan.loss)[b] = math::is_dropped(plan, total) ? T{0} : total;
  }
}

// Each class's sum is formed by one thread, in the order of the states, so that it never varies.
template <class T>
__global__ void backward(AlignLossPlan plan) {
  for (int64_t b = blockIdx.x; b < plan.batch; b += gridDim.x) {
    const auto path = math::path_of<T>(plan, b);
    const T total = static_cast<const T*>(plan.total)[b];
    const T slope = -static_cast<const T*>(plan.grad)[b];
    const int64_t length = math::is_dropped(plan, total) ? 0 : path.length;
    T* const shares = path.work + 2 * plan.states;
    for (int64_t t = plan.time - 1; t >= 0; --t) {
      T* const row = static_cast<T*>(plan.grad_input) + (t * plan.batch + b) * plan.classes;
      T* const now = path.work + t % 2 * plan.states;
      const T* const after = path.work + (t + 1) % 2 * plan.states;
      for (int64_t c = threadIdx.x; c < plan.classes; c += blockDim.x) row[c] = T{0};
      if (t >= length) continue;
      for (int64_t s = threadIdx.x; s < path.states(); s += blockDim.x) {
        now[s] = path.beta_at(t, s, after);
        shares[s] = std::exp(path.alpha[t * path.alpha_step + s] + now[s] + total);
      }
      __syncthreads();
      for (int64_t s = threadIdx.x; s < path.states(); s += blockDim.x) {
        if (path.leads(s)) row[path.label(s)] = slope * path.sum_of_label(s, shares);
      }
      __syncthreads();
    }
  }
}

template <class T>
Status run(const AlignLossPlan& plan) {
  if (plan.backward != 0) return launch_blocks(plan.place, plan.batch, kThreads, backward<T>, plan);
  return launch_blocks(plan.place, plan.batch, kThreads, forward<T>, plan);
}

}  // namespace

Status align_loss(const AlignLossPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "align_loss: expected float32 or float64");
}

}  // namespace tsr::cuda
