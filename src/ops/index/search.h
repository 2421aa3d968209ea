// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary search in sorted rows. The order is that of sort: NaN counts as the largest value.
#pragma once

#include <string_view>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// Everywhere: int64 positions of the shape of the values; real dtypes, which promote together.

// Where `values` would be put into the sorted `input` to keep it sorted: before equal elements, or
// behind them when `side` is "right". A 1-D input serves values of any shape; else its rows, along
// the last axis, go with the rows of the values, and the other axes agree. `sorter` (int64, may be
// undefined) has the positions that sort each row. Throws kShape, kDType, kValue, kDevice.
Tensor searchsorted(const Tensor& input, const Tensor& values, std::string_view side,
                    const Tensor& sorter, Out out = {});
Tensor searchsorted(const Tensor& input, const Scalar& values, std::string_view side,
                    const Tensor& sorter, Out out = {});

// The number of the bucket that each element falls into: the boundaries (1-D, sorted) that are
// smaller, or not larger when `right`. int32 when `out_int32`.
Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool right = false,
                 bool out_int32 = false, Out out = {});
// The same for one number: 0-dim.
Tensor bucketize(const Scalar& input, const Tensor& boundaries, bool right = false,
                 bool out_int32 = false, Out out = {});

}  // namespace tsr::ops
