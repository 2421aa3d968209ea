// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The windows and weights with which an image is resampled along one axis.
#pragma once

#include <cstdint>
#include <vector>

namespace tsr::ops {

enum class ResampleMode : uint8_t {
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  kArea,
  kLinearAntialias,
  kCubicAntialias
};

// One axis of a resampling. factor: output size over input size where the caller gave it, else 0.
struct ResampledAxis {
  ResampleMode mode;
  bool align_corners;
  int64_t input, output;
  double factor;
};

// Output o = Σ_k weights[k output + o] input[begin[o] + k]: the tables of kernel::ResampleAxis.
template <class T>
struct ResampleWindows {
  int64_t input, output, taps;
  std::vector<int32_t> begin;
  std::vector<T> weights;  // empty: one tap of weight 1
};

// Positions and weights are computed in T, as PyTorch does, so that both round to the same element.
// Sizes are at least 1.
template <class T>
ResampleWindows<T> resample_windows(const ResampledAxis& axis);
// The transposed map, from outputs to inputs: the derivative.
template <class T>
ResampleWindows<T> transposed(const ResampleWindows<T>& windows);

}  // namespace tsr::ops
