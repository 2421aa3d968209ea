// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scans: running sums, products, extrema and logarithms of sums of exponentials along an axis.
#pragma once

#include <optional>
#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: a bad axis throws kIndex; a 0-dim input counts as a line of one element.

// The sums or products of the first 1, 2, ... elements along an axis (not needed for inputs of at
// most one dim); dtypes as sum. With include_initial a 0 or 1 stands before them, which a 0-dim
// input has no place for (kShape). Throws kValue.
Tensor cumulative_sum(const Tensor& input, std::optional<int64_t> axis = {},
                      std::optional<DType> dtype = {}, bool include_initial = false, Out out = {});
Tensor cumulative_prod(const Tensor& input, std::optional<int64_t> axis = {},
                       std::optional<DType> dtype = {}, bool include_initial = false, Out out = {});

// The largest or smallest of the first 1, 2, ... elements and the position of the last that equals
// it, as int64; NaN from the first NaN on. Real dtypes.
std::tuple<Tensor, Tensor> cummax(const Tensor& input, int64_t axis, Out values = {},
                                  Out indices = {});
std::tuple<Tensor, Tensor> cummin(const Tensor& input, int64_t axis, Out values = {},
                                  Out indices = {});

// The logarithms of the sums of the exponentials of the first 1, 2, ... elements, without overflow;
// integers and bool become default_dtype(). Real dtypes.
Tensor logcumsumexp(const Tensor& input, int64_t axis, Out out = {});

}  // namespace tsr::ops
