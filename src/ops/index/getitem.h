// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Indexing as in array languages: integers, slices, new axes, an ellipsis, index arrays and masks
// in one call.
#pragma once

#include <cstdint>
#include <span>

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// Note [Index items]
// An index is a list of items, each of four numbers: kind, start, stop, step. Numbers that a kind
// does not use are ignored; a start, stop or step of kAbsent is absent (step 1).
//   kInteger   one position, `start`; removes the axis
//   kSlice     start, stop, step with Python's rules
//   kNewAxis   an axis of size 1
//   kEllipsis  as many whole axes as no other item takes; at most once
//   kArray     the next of the `arrays`: integers, or a bool mask over as many axes as it has
// Axes beyond the items are taken whole. NumPy's rules hold: with arrays, an integer counts as an
// array. The broadcast dims of adjacent arrays replace them; those of separated arrays come first.
enum class IndexKind : int32_t { kInteger, kSlice, kNewAxis, kEllipsis, kArray };
using IndexItems = std::span<const int64_t>;

// input[items]: a view if there are no arrays, else a copy. Throws kIndex (out of range, too many
// indices), kShape (masks, arrays that do not broadcast), kDType, kValue (a step of 0, an invalid
// list of items).
Tensor getitem(const Tensor& input, IndexItems items, std::span<const Tensor> arrays);
// The view of items without arrays.
Tensor getitem_basic(const Tensor& input, IndexItems items);
// The elements where the mask is true. The mask has the leading axes of the input.
Tensor getitem_boolean(const Tensor& input, const Tensor& mask, Out out = {});
// One array (integers or masks) for each leading axis; undefined: the whole axis.
Tensor getitem_integer(const Tensor& input, std::span<const Tensor> indices, Out out = {});

// input[items] = value in place; a tensor value broadcasts and is cast (complex to real: kDType).
// For repeated positions the last in row-major order wins. Differentiable in both arguments.
void setitem(const Tensor& input, IndexItems items, std::span<const Tensor> arrays,
             const Arg& value);
// input[indices] = values, or += values if `accumulate`, and every occurrence counts. Indices as in
// getitem_integer.
Tensor index_put(const Tensor& input, std::span<const Tensor> indices, const Tensor& values,
                 bool accumulate = false, Out out = {});

}  // namespace tsr::ops
