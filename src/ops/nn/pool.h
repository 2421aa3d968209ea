// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling of images: maximum, average, adaptive average.
#pragma once

#include <tuple>

#include "ops/nn/image.h"

namespace tsr::ops {

// Everywhere: input is (batch, channels, height, width) or without the batch, real floating; the
// result keeps its layout, row-major or channels last. Lists have one number for both axes or one
// each. stride: absent or empty means the kernel's size; padding: at most half the kernel. With
// ceil_mode a last window that starts inside the padded input counts although it reaches out of it.
// Throw kShape, kDType, kValue.

// The largest number of each window; NaN wins. The first of equal ones gets the gradient.
Tensor max_pool2d(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                  SpatialArg padding = {}, SpatialArg dilation = {}, bool ceil_mode = false,
                  Out out = {});
// Also where it stands, as int64 positions in the flattened plane.
std::tuple<Tensor, Tensor> max_pool2d_with_positions(const Tensor& input, DimsView kernel_size,
                                                     SpatialArg stride = {},
                                                     SpatialArg padding = {},
                                                     SpatialArg dilation = {},
                                                     bool ceil_mode = false);
// The mean of each window. Padding counts as zeros unless count_include_pad is false;
// divisor_override divides in place of the window's size.
Tensor avg_pool2d(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                  SpatialArg padding = {}, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {}, Out out = {});
// The means of output_size windows that cover the input evenly.
Tensor adaptive_avg_pool2d(const Tensor& input, DimsView output_size, Out out = {});

}  // namespace tsr::ops
