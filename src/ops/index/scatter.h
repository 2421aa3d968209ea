// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scattering: elements written to, or folded into, places that indices name. (scatter_add stands in
// index.h.)
#pragma once

#include <string_view>

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// Indices are not negative (kIndex); an index or a source of an impossible shape throws kShape. A
// source is cast to the input's dtype, whose category is not lower (kDType). Of equal places the
// last in row-major order is written; folds take every occurrence, in row-major order.

// ---- one index for each element; shapes as for gather ----

// input[i, index[i, j, ...], ...] = source[i, j, ...] for axis 1, and so on; or += or *= for the
// modes "add" and "multiply" beside "replace" (kValue for others).
Tensor scatter(const Tensor& input, int64_t axis, const Tensor& index, const Arg& source,
               std::string_view reduce = "replace", Out out = {});
// The same places get the "sum", "prod", "mean", "amax" or "amin" of the source's elements (kValue
// for others) and, when `include_self`, of their own value. Means of integers are rounded down. The
// gradient of a largest or smallest element is divided evenly among equal ones.
Tensor scatter_reduce(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self = true, Out out = {});

// ---- one index for each position of an axis; it is 1-D, or 0-dim for one position ----

// The slices of an axis that the index names: += alpha source, = source, = value (a number or a
// 0-dim tensor), or as scatter_reduce does. A source has the input's shape but for that axis.
Tensor index_add(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1, Out out = {});
Tensor index_copy(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                  Out out = {});
Tensor index_fill(const Tensor& input, int64_t axis, const Tensor& index, const Arg& value,
                  Out out = {});
Tensor index_reduce(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self = true, Out out = {});

// ---- places in row-major order ----

// The elements of the source, in row-major order, where the mask (bool, broadcasts to the input)
// holds; kValue when there are not enough. Waits for the device.
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source, Out out = {});
// Writes the source to, or adds it at, places of the flattened input; negative ones count from the
// end. kShape unless the source has as many elements as the index.
Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate = false,
           Out out = {});

}  // namespace tsr::ops
