// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Indexing with integer arrays: reading, writing and accumulating at computed positions.
#pragma once

#include <optional>
#include <span>

#include "ops/result.h"

namespace tsr::ops {

// Index arrays have any integer dtype but uint64 (kDType). A negative index counts from the end; an
// index out of range throws kIndex. Gradients of elements that are read more than once are added
// up, in a fixed order.

// ---- one array, along one axis ----

// The slices of `input` at the positions of the `index`, of at most one dim, along an axis. A 0-dim
// input, which counts as one slice, stays 0-dim and takes one position.
Tensor index_select(const Tensor& input, int64_t axis, const Tensor& index, Out out = {});
// As index_select for indices of any shape, whose dims stand in place of the axis. Without an axis
// the input is flattened; a 0-dim input counts as 1-D.
Tensor take(const Tensor& input, const Tensor& indices, std::optional<int64_t> axis = {},
            Out out = {});
// The rows of `weight` (kShape unless 2-D) at the positions in `input`. Row `padding_idx` gets no
// gradient.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx = {},
                 Out out = {});

// ---- one index for each element ----

// out[i, j, ...] = input[i, index[i, j, ...], ...] for axis 1, and so on. `index` has the rank of
// the input, 0-dim ones counting as 1-D, and is not longer on the other axes (kShape).
Tensor gather(const Tensor& input, int64_t axis, const Tensor& index, Out out = {});
// As gather, but sizes on the other axes broadcast.
Tensor take_along_axis(const Tensor& input, const Tensor& indices, int64_t axis = -1, Out out = {});
// input[i, index[i, j, ...], ...] += source[i, j, ...] for axis 1, and so on. `source` is at least
// as long as `index` on every axis and of a dtype that casts to the input's category.
Tensor scatter_add(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                   Out out = {});

// ---- several arrays, NumPy's rules; for getitem and setitem ----

// One entry for each of the leading axes of the input; an undefined entry takes the whole axis. The
// arrays broadcast together. Their dims replace the indexed axes, or come first if these axes are
// not adjacent or `front` is set.
struct IndexArrays {
  std::span<const Tensor> arrays;
  bool front = false;
};
Tensor index_get(const Tensor& input, const IndexArrays& indices, Out out = {});
// target[indices] = values, or += values, in place. `values` broadcasts and is cast. For repeated
// positions the last in row-major order wins.
void index_put_(const Tensor& target, const IndexArrays& indices, const Tensor& values,
                bool accumulate);

}  // namespace tsr::ops
