// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resampling of images: linear maps along axes, and weighted sums of elements at given places.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

inline constexpr int kMaxResampledAxes = 3;

// A linear map along one axis: output o = Σ_k weights[k output + o] input[begin[o] + k], k < taps.
// Every window lies inside the input, and no window begins before the one in front of it. A weight
// of 0 leaves its element out, even an infinite one. Null weights: one tap, of weight 1. Null
// begin: the axis stays as it is. The tables are in the device's memory.
struct ResampleAxis {
  int64_t input, output, taps;
  const int32_t* begin;
  const void* weights;  // opmath
};

// Maps along up to three axes of row-major blocks (axes..., channels). A missing axis is one of
// size 1 that stays as it is, in front.
struct ResamplePlan {
  int64_t planes;
  int64_t channels;
  ResampleAxis axes[kMaxResampledAxes];
  Place place;
  DType dtype;
  const void* input;
  void* output;
};

enum class WeightedPass : int32_t { kForward, kBackwardInput, kBackwardWeight, kCount };

// output[n, c, p] = Σ_k weight[n, k, p] input[n, c, index[n, k, p]], row-major. A tap whose index
// is -1 is left out. The pass says what is written: the output, or the gradient of the input or of
// the weight, each from the other two. float32 and float64 only. The indices are the op's own and
// valid.
struct WeightedGatherPlan {
  WeightedPass pass;
  int64_t batch, channels, elements, points, taps;
  Place place;
  DType dtype;
  void* input;           // (batch, channels, elements)
  const int32_t* index;  // (batch, taps, points)
  void* weight;          // (batch, taps, points)
  void* output;          // (batch, channels, points)
};
inline const char* name_of(const WeightedGatherPlan& plan) noexcept {
  return name_in(
      {"weighted_gather", "weighted_gather_backward_input", "weighted_gather_backward_weight"},
      plan.pass);
}

}  // namespace tsr::kernel
