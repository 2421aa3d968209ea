// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution (cross-correlation) of images with 1 to 3 spatial axes, and its transpose.
#pragma once

#include "ops/nn/image.h"

namespace tsr::ops {

// input: (batch, in, spatial...) or (in, spatial...); weight: (out, in / groups, kernel...); bias:
// (out), may be undefined. All have the same floating dtype. stride and dilation default to 1,
// padding (zeros on both sides) to 0. `same` pads so that the output has the input's size (stride 1
// only; if the number of zeros is odd, one more goes to the end). The result keeps the input's
// layout, row-major or channels last. Throws kShape, kDType, kDevice, kValue.
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride = {},
              SpatialArg padding = {}, SpatialArg dilation = {}, int64_t groups = 1,
              bool same = false, Out out = {});
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride = {},
              SpatialArg padding = {}, SpatialArg dilation = {}, int64_t groups = 1,
              bool same = false, Out out = {});
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride = {},
              SpatialArg padding = {}, SpatialArg dilation = {}, int64_t groups = 1,
              bool same = false, Out out = {});

// The derivative of a convolution with respect to its input, as an op. input: (batch, in,
// spatial...) or without the batch; weight: (in, out / groups, kernel...). output_padding makes the
// output longer at its end and must be less than stride or dilation. Throws as conv2d does.
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride = {}, SpatialArg padding = {},
                        SpatialArg output_padding = {}, int64_t groups = 1,
                        SpatialArg dilation = {}, Out out = {});
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride = {}, SpatialArg padding = {},
                        SpatialArg output_padding = {}, int64_t groups = 1,
                        SpatialArg dilation = {}, Out out = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride = {}, SpatialArg padding = {},
                        SpatialArg output_padding = {}, int64_t groups = 1,
                        SpatialArg dilation = {}, Out out = {});

}  // namespace tsr::ops
