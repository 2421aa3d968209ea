// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling of images with 1 to 3 spatial axes: maximum, average, p-norm, and the placing of maxima.
#pragma once

#include <tuple>

#include "ops/nn/image.h"

namespace tsr::ops {

// In all functions: kAxes is 1, 2 or 3; input is (batch, channels, spatial...) or without the
// batch, real floating. The result keeps its layout, row-major or channels last. Lists have one
// number for all axes or one for each. stride: if absent or empty, the kernel's size. padding: at
// most half the kernel. With ceil_mode, a last window that reaches beyond the padded input counts
// if it starts inside the input or the padding before it. Adaptive windows: output_size of them
// cover the input evenly. Throws kShape, kDType, kValue.

// The maximum of each window; NaN is larger than any number. The first of equal values gets the
// gradient.
template <int32_t kAxes>
Tensor max_pool(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                SpatialArg padding = {}, SpatialArg dilation = {}, bool ceil_mode = false,
                Out out = {});
// Also the positions of the maxima: int64 positions in the flattened plane.
template <int32_t kAxes>
std::tuple<Tensor, Tensor> max_pool_with_positions(const Tensor& input, DimsView kernel_size,
                                                   SpatialArg stride = {}, SpatialArg padding = {},
                                                   SpatialArg dilation = {},
                                                   bool ceil_mode = false);
template <int32_t kAxes>
Tensor adaptive_max_pool(const Tensor& input, DimsView output_size, Out out = {});
template <int32_t kAxes>
std::tuple<Tensor, Tensor> adaptive_max_pool_with_positions(const Tensor& input,
                                                            DimsView output_size);

// The mean of each window. Padding counts as zeros unless count_include_pad is false.
// divisor_override replaces the number of elements in the window.
template <int32_t kAxes>
Tensor avg_pool(const Tensor& input, DimsView kernel_size, SpatialArg stride = {},
                SpatialArg padding = {}, bool ceil_mode = false, bool count_include_pad = true,
                std::optional<int64_t> divisor_override = {}, Out out = {});
template <int32_t kAxes>
Tensor adaptive_avg_pool(const Tensor& input, DimsView output_size, Out out = {});

// (n mean(x^p))^(1/p) for each window, where n is the kernel's number of elements and p norm_type,
// a finite number above 0. The gradient of a root of 0 is 0.
template <int32_t kAxes>
Tensor lp_pool(const Tensor& input, double norm_type, DimsView kernel_size, SpatialArg stride = {},
               bool ceil_mode = false, Out out = {});

// Zeros with the input's elements at their positions in the flattened planes, which max_pool gave;
// of equal positions the last is written. The spatial sizes of the result are the last ones of
// output_size, by default the smallest that max_pool with these windows may have had. Throws kIndex
// for a position outside the plane.
template <int32_t kAxes>
Tensor max_unpool(const Tensor& input, const Tensor& positions, DimsView kernel_size,
                  SpatialArg stride = {}, SpatialArg padding = {}, SpatialArg output_size = {},
                  Out out = {});

}  // namespace tsr::ops
