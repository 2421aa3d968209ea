// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Neural-network family: convolution, pooling, normalisation. Images are (batch, channels,
// spatial...).
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

inline constexpr int kMaxSpatial = 3;

enum class ConvPass : int32_t { kForward, kBackwardInput, kBackwardWeight, kCount };

// Cross-correlation of dense tensors; strides in ELEMENTS say the layout (row-major or channels
// last). Forward: output = input * weight (+ bias). BackwardInput: writes `input` from output and
// weight. BackwardWeight: writes `weight` (and `bias` when not null) from input and output. weight
// is (out, in / groups, kernel...).
struct ConvPlan {
  ConvPass pass;
  int32_t spatial;  // 1..3
  int64_t batch, in_channels, out_channels, groups;
  int64_t input_size[kMaxSpatial];
  int64_t output_size[kMaxSpatial];
  int64_t kernel[kMaxSpatial];
  int64_t stride[kMaxSpatial];
  int64_t padding[kMaxSpatial];
  int64_t dilation[kMaxSpatial];
  int64_t input_strides[kMaxSpatial + 2];
  int64_t weight_strides[kMaxSpatial + 2];
  int64_t output_strides[kMaxSpatial + 2];
  Place place;
  DType dtype;
  void* input;
  void* weight;
  void* bias;
  void* output;
};

enum class PoolOp : int32_t { kMax, kAverage, kAdaptiveAverage, kCount };

// Pooling of row-major tensors. Max writes values and, when positions is not null, the position of
// the first maximum within its input plane. Backward reads the upstream gradient from `output` and
// writes `input`, whole.
struct PoolPlan {
  PoolOp op;
  int32_t backward;
  int32_t spatial;
  int32_t count_include_pad;
  int64_t planes;  // batch times channels
  int64_t input_size[kMaxSpatial];
  int64_t output_size[kMaxSpatial];
  int64_t kernel[kMaxSpatial];
  int64_t stride[kMaxSpatial];
  int64_t padding[kMaxSpatial];
  int64_t dilation[kMaxSpatial];
  Place place;
  DType dtype;
  void* input;
  void* output;
  int64_t* positions;
};

// Normalises over `inner` elements of each of `outer` groups (layer_norm: outer = rows, channels =
// 1), or per channel over (outer, inner) with channels in the middle (batch_norm). Statistics have
// float32 (float64 for float64 input). Forward with `use_statistics` reads mean and rstd, otherwise
// computes and writes them. Backward reads input, mean, rstd, weight and the upstream gradient in
// `output`; writes grad_input, grad_weight, grad_bias (each may be null).
struct NormPlan {
  int32_t backward;
  int32_t per_channel;     // 1: batch_norm, 0: layer_norm
  int32_t use_statistics;  // evaluation mode
  int64_t outer, channels, inner;
  double eps;
  Place place;
  DType dtype;
  const void* input;
  const void* weight;  // null: ones; per channel, or per inner element for layer_norm
  const void* bias;
  void* mean;
  void* rstd;
  void* output;
  void* grad_input;
  void* grad_weight;
  void* grad_bias;
};

}  // namespace tsr::kernel
