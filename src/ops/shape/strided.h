// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Views by strides and bytes: as_strided, unfold, view_dtype.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// A window with any sizes and strides on the memory of the input; `offset` counts elements from the
// start of that memory, absent: where the input begins. kValue when a part of it lies outside.
// Elements that are shown repeatedly get the sum of their gradients; where the input itself shows
// elements repeatedly, each of those gets the mean.
Tensor as_strided(const Tensor& input, DimsView shape, DimsView strides,
                  std::optional<int64_t> offset = {});
// Windows of `size` positions of an axis, `step` apart: the axis counts the windows, and a new last
// axis the positions in each. kValue for a size below 0 or above the axis, or a step below 1.
Tensor unfold(const Tensor& input, int64_t axis, int64_t size, int64_t step);
// The same bytes as elements of another dtype. Where the dtypes have different sizes the last axis
// grows or shrinks; its elements must lie side by side, and whole new elements must fit (kShape).
// Not differentiable.
Tensor view_dtype(const Tensor& input, DType dtype);

}  // namespace tsr::ops
