// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Images read at the positions of a grid, and grids of affine maps.
#pragma once

#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// The image (batch, channels, spatial...) with 2 or 3 spatial axes at the positions of the grid
// (batch, spatial of the result..., axes); the last axis of a position counts along the width, then
// height, then depth. -1 and 1 are the edges of the first and last element, or with `align_corners`
// their centres. mode: "bilinear" (trilinear in 3-D), "nearest" or, in 2-D, "bicubic".
// padding_mode, outside of the image: "zeros", "border" (the nearest element) or "reflection".
// One floating dtype for both. A position of NaN gives 0. Throws kShape, kDType, kValue.
Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode = "bilinear",
                   std::string_view padding_mode = "zeros", bool align_corners = false);

// The grid for grid_sample that takes an image of `size` (batch, channels, spatial...) through
// theta, which has one matrix (axes, axes + 1) for each item of the batch. Throws kShape, kDType,
// kValue.
Tensor affine_grid(const Tensor& theta, DimsView size, bool align_corners = false);

}  // namespace tsr::ops
