// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs of vectors.
#pragma once

#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: the vectors are rows, distances are p-norms of their differences, p in [0, inf] (0
// counts the components that differ). Floating dtypes, 16-bit floats computed in float32. A
// distance of 0 has the gradient 0. Throws kShape, kDType, kValue.

// From each row of x1 (..., rows, components) to each row of x2; the leading axes broadcast.
// compute_mode, for p = 2: "use_mm_for_euclid_dist" takes the distances from a matrix product,
// which is faster and loses digits of small distances between large vectors;
// "donot_use_mm_for_euclid_dist" does not; "use_mm_for_euclid_dist_if_necessary" does if one of the
// two has more than 25 rows.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
             std::string_view compute_mode = "use_mm_for_euclid_dist_if_necessary");
// Between the rows of a matrix, each pair i < j once, in row-major order.
Tensor pdist(const Tensor& input, double p = 2);

}  // namespace tsr::ops
