// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling of images: maximum, average, adaptive average.
#pragma once

#include <tuple>

#include "ops/nn/image.h"

namespace tsr::ops {

// In all functions: input is (batch, channels, height, width) or without the batch, real floating.
// The result keeps its layout, row-major or channels last. Lists have one number for both axes or
// one for each. stride: if absent or empty, the kernel's size. padding: at most half the kernel.
// With ceil_mode, a last window that reaches beyond the padded input counts if it starts inside the
// input or the padding before it. Throws kShape, kDType, kValue.

// The maximum of each window; NaN is larger than any number. The first of equal values gets the
// gradient.
Tensor max_pool2d(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                  SpatialArg padding = {}, SpatialArg dilation = {}, bool ceil_mode = false,
                  Out out = {});
// Also the positions of the maxima: int64 positions in the flattened plane.
std::tuple<Tensor, Tensor> max_pool2d_with_positions(const Tensor& input, DimsView kernel_size,
                                                     SpatialArg stride = {},
                                                     SpatialArg padding = {},
                                                     SpatialArg dilation = {},
                                                     bool ceil_mode = false);
// The mean of each window. Padding counts as zeros unless count_include_pad is false.
// divisor_override replaces the number of elements in the window.
Tensor avg_pool2d(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                  SpatialArg padding = {}, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {}, Out out = {});
// The means over output_size windows that cover the input evenly.
Tensor adaptive_avg_pool2d(const Tensor& input, DimsView output_size, Out out = {});

}  // namespace tsr::ops
