// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Images of another size.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// (batch, channels, spatial...) with 1 to 3 spatial axes, resampled to `size`, or to the input's
// sizes times `scale_factor`, rounded down; one of the two, with one number or one for each spatial
// axis. The result keeps the layout, row-major or channels last. Floating dtypes; with the two
// nearest modes any dtype.
//
// mode: "nearest", "nearest-exact", "area"; "linear", "bilinear", "trilinear" for 1, 2 and 3 axes;
// "bicubic" for 2. align_corners, of the last four: the first and last elements of input and output
// are at the same place. recompute_scale_factor: positions follow from the sizes, not from the
// factors that were given. antialias, for bilinear and bicubic: shrinking averages all elements.
// Throws kShape, kValue, kDType.
Tensor interpolate(const Tensor& input, std::span<const double> scale_factor,
                   std::optional<DimsView> size = {}, std::string_view mode = "nearest",
                   std::optional<bool> align_corners = {}, bool recompute_scale_factor = false,
                   bool antialias = false, Out out = {});

}  // namespace tsr::ops
