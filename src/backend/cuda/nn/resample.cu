// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resampling: one thread per element written, which sums over the product of its windows.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::kMaxResampledAxes;
using kernel::ResampleAxis;
using kernel::ResamplePlan;
using kernel::Status;

namespace {

template <class T>
struct Window {
  int64_t begin, taps;
  const T* weights;  // `step` apart; null: 1
  int64_t step;

  __device__ T weight(int64_t k) const { return weights == nullptr ? T{1} : weights[k * step]; }
};

template <class T>
__device__ Window<T> window_of(const ResampleAxis& axis, int64_t o) {
  if (axis.begin == nullptr) return {o, 1, nullptr, 0};
  const T* weights = static_cast<const T*>(axis.weights);
  return {axis.begin[o], axis.taps, weights == nullptr ? nullptr : weights + o, axis.output};
}

struct Resample {
  ResampleAxis axes[kMaxResampledAxes];
  int64_t channels, numel;
  const void* input;
  void* output;
};

template <class S>
__global__ void resample_kernel(Resample plan) {
  using T = typename S::Value::Element;
  const auto* input = static_cast<const typename S::Type*>(plan.input);
  auto* output = static_cast<typename S::Type*>(plan.output);
  const int64_t in_h = plan.axes[1].input;
  const int64_t in_w = plan.axes[2].input;
  for (int64_t i = first_index(); i < plan.numel; i += index_step()) {
    const int64_t c = i % plan.channels;
    const int64_t w = i / plan.channels;
    const int64_t h = w / plan.axes[2].output;
    const int64_t d = h / plan.axes[1].output;
    const int64_t plane = d / plan.axes[0].output;
    const Window<T> depth = window_of<T>(plan.axes[0], d % plan.axes[0].output);
    const Window<T> height = window_of<T>(plan.axes[1], h % plan.axes[1].output);
    const Window<T> width = window_of<T>(plan.axes[2], w % plan.axes[2].output);
    T sum = 0;
    for (int64_t kd = 0; kd < depth.taps; ++kd) {
      for (int64_t kh = 0; kh < height.taps; ++kh) {
        const T outer = depth.weight(kd) * height.weight(kh);
        const int64_t row =
            ((plane * plan.axes[0].input + depth.begin + kd) * in_h + height.begin + kh) * in_w;
        for (int64_t kw = 0; kw < width.taps; ++kw) {
          const T weight = outer * width.weight(kw);
          if (weight == 0) continue;  // also leaves out infinite elements
          const int64_t at = (row + width.begin + kw) * plan.channels + c;
          sum += weight * S::load(input[at]).v;
        }
      }
    }
    output[i] = S::store(Number<T>(sum));
  }
}

template <class S>
Status run(const ResamplePlan& plan) {
  Resample args;
  args.channels = plan.channels;
  args.numel = plan.planes * plan.channels;
  for (int d = 0; d < kMaxResampledAxes; ++d) {
    args.axes[d] = plan.axes[d];
    args.numel *= plan.axes[d].output;
  }
  args.input = plan.input;
  args.output = plan.output;
  return launch(plan.place, args.numel, &resample_kernel<S>, args);
}

}  // namespace

Status resample(const ResamplePlan& plan) {
  return visit_floating(plan.dtype, "expected a real floating dtype for resampling",
                        [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cuda
