// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling: which inputs an output's window covers along one axis.
#pragma once

#include "base/host_device.h"
#include "kernel/nn.h"

namespace tsr::math {

struct PooledAxis {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

// Axis 0, 1 or 2 of a plan. The axes that the plan lacks come first and have size 1.
inline PooledAxis pooled_axis(const kernel::PoolPlan& plan, int axis) {
  const int d = axis - (3 - plan.spatial);
  if (d < 0) return {};
  return {plan.input_size[d], plan.output_size[d], plan.kernel[d],
          plan.stride[d],     plan.padding[d],     plan.dilation[d]};
}

// Inputs [begin, end) in steps of the dilation; `span` is the size that counts in an average.
struct PoolWindow {
  int64_t begin, end, span;
};

[[gnu::always_inline]] TSR_HD inline PoolWindow pool_window(const PooledAxis& a, bool adaptive,
                                                            bool count_padding, int64_t o) {
  if (adaptive) {
    const int64_t begin = o * a.input / a.output;
    const int64_t end = ((o + 1) * a.input + a.output - 1) / a.output;
    return {begin, end, end - begin};
  }
  const int64_t start = o * a.stride - a.padding;
  const int64_t stop = start + (a.kernel - 1) * a.dilation + 1;
  // The first point of the window's grid that is inside the input.
  const int64_t skipped = start < 0 ? (-start + a.dilation - 1) / a.dilation : 0;
  const int64_t begin = start + skipped * a.dilation;
  const int64_t end = stop < a.input ? stop : a.input;
  const int64_t padded = a.input + a.padding;
  return {begin, end, count_padding ? (stop < padded ? stop : padded) - start : end - begin};
}

}  // namespace tsr::math
