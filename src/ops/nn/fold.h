// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Windows of images as columns of a matrix, and the sums that bring them back.
#pragma once

#include "ops/nn/image.h"

namespace tsr::ops {

// Lists have one number for both axes or one for each. The number of windows along an axis is that
// of a convolution. Throws kShape, kDType, kValue.

// (batch, channels, height, width), or without the batch, as (batch, channels kernel, windows): a
// column has the elements of one window. Padding counts as zeros. Any dtype.
Tensor im2col(const Tensor& input, DimsView kernel_size, SpatialArg dilation = {},
              SpatialArg padding = {}, SpatialArg stride = {});
// The reverse, an image of `output_size` that has at each place the sum of all elements of windows
// that stand for it: the derivative of im2col. Any dtype but bool; 16-bit floats are added in
// float32.
Tensor col2im(const Tensor& input, DimsView output_size, DimsView kernel_size,
              SpatialArg dilation = {}, SpatialArg padding = {}, SpatialArg stride = {});

}  // namespace tsr::ops
