// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resampling of images: linear maps along axes, and weighted sums of elements at given places.
#pragma once

#include <cmath>

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

enum class GridPass : int32_t { kForward, kBackward, kCount };
enum class GridInterpolation : int32_t { kLinear, kNearest, kCubic };
enum class GridPadding : int32_t { kZeros, kBorder, kReflection };

// The taps of grid_sample: for each position the elements of the image that it reads, as
// weighted_gather takes them, and their weights. The axes have 2, 1 or 4 taps each, by their
// interpolation, and the taps of the last axis follow one another. The gradient of the positions is
// made from that of the weights. float32 and float64 only.
struct GridTapsPlan {
  GridPass pass;
  GridInterpolation interpolation;
  GridPadding padding;
  int32_t align_corners;
  int32_t axes;  // 2 or 3
  int64_t batch, points;
  int64_t sizes[kMaxResampledAxes];  // of the image; its last axis is the first coordinate
  Place place;
  DType dtype;
  const void* positions;  // (batch, points, axes)
  int32_t* index;         // (batch, taps, points); kForward writes it
  void* weight;           // (batch, taps, points); for kBackward its gradient
  void* position_grad;    // (batch, points, axes); kBackward writes it
};
inline const char* name_of(const GridTapsPlan& plan) noexcept {
  return name_in({"grid_taps", "grid_taps_backward"}, plan.pass);
}
inline int64_t taps_of_axis(GridInterpolation interpolation) noexcept {
  if (interpolation == GridInterpolation::kNearest) return 1;
  return interpolation == GridInterpolation::kLinear ? 2 : 4;
}
// The last element of an axis that the dtype has: float32 would round the last of more than 2^24
// up, to one that does not exist.
inline double last_place(int64_t size, DType dtype) noexcept {
  const auto last = static_cast<double>(size - 1);
  if (dtype != DType::kFloat32) return last;
  const auto rounded = static_cast<float>(last);
  return rounded <= last ? rounded : std::nextafter(rounded, 0.0F);
}

}  // namespace tsr::kernel
