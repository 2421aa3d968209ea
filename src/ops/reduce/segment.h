// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions over consecutive parts of an axis.
#pragma once

#include <optional>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// The "sum", "mean", "max", "min" or "prod" of each of the segments, which follow each other along
// `axis`. One of `lengths` and `offsets` (integers) is defined: their shape is that of the input's
// axes before `axis`, then the number of segments, and for offsets one more, the end of the last.
// `initial` takes part in every segment; without it, an empty one has the sum 0, the product 1, the
// mean NaN, the extrema -inf and inf. Equal extrema share the gradient. `unchecked` leaves out the
// check, which waits for the device, that the segments cover the axis. Floating dtypes. Throws
// kShape, kDType, kValue.
Tensor segment_reduce(const Tensor& input, std::string_view reduce, const Tensor& lengths = {},
                      const Tensor& offsets = {}, int64_t axis = 0,
                      std::optional<double> initial = {}, bool unchecked = false);

}  // namespace tsr::ops
