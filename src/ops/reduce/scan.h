// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scans: running sums along an axis.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// The sums of the first 1, 2, ... elements along an axis (not needed for 1-D inputs); dtypes as
// sum. With include_initial a 0 stands before them. Throws kIndex, kValue.
Tensor cumulative_sum(const Tensor& input, std::optional<int64_t> axis = {},
                      std::optional<DType> dtype = {}, bool include_initial = false, Out out = {});

}  // namespace tsr::ops
