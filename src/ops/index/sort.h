// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting along one axis. Stable; NaN counts as the largest value.
#pragma once

#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// In all functions: real dtypes; a bad axis throws kIndex; a 0-dim input is one element.

Tensor sort(const Tensor& input, int64_t axis = -1, bool descending = false, bool stable = true,
            Out out = {});
// int64 positions that sort the input.
Tensor argsort(const Tensor& input, int64_t axis = -1, bool descending = false, bool stable = true,
               Out out = {});
// Sorted values and their positions: (values, indices).
std::tuple<Tensor, Tensor> sort_with_indices(const Tensor& input, int64_t axis = -1,
                                             bool descending = false, bool stable = true,
                                             Out values = {}, Out indices = {});
// The k largest (or smallest) elements in order, and their positions. Throws kValue unless k is in
// [0, size]. `sorted` = false allows any order; the result is sorted all the same.
std::tuple<Tensor, Tensor> topk(const Tensor& input, int64_t k, int64_t axis = -1,
                                bool largest = true, bool sorted = true, Out values = {},
                                Out indices = {});

// The elements in order along axis 0.
Tensor msort(const Tensor& input, Out out = {});
// The elements of these ranks along an axis, and their positions: `ranks` (int64) has the input's
// shape but along the axis, its numbers are in [0, size). For the insides of ops.
std::tuple<Tensor, Tensor> at_ranks(const Tensor& input, int64_t axis, const Tensor& ranks);

}  // namespace tsr::ops
