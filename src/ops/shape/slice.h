// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Views that show a part of their input.
#pragma once

#include <optional>
#include <vector>

#include "ops/result.h"

namespace tsr::ops {

// Axes and positions may be negative (they count from the end). Bad axes and positions throw
// kIndex.

// The elements at one position of an axis; the axis is removed.
Tensor select(const Tensor& input, int64_t axis, int64_t index);
// start, start + step, ... before stop, with Python's rules: bounds are clipped, absent bounds mean
// the whole axis. A negative step walks backwards; a step of 0 throws kValue.
Tensor slice(const Tensor& input, int64_t axis, std::optional<int64_t> start,
             std::optional<int64_t> stop, int64_t step = 1);
// `length` positions from `start`; all of them must exist (kIndex, kValue).
Tensor narrow(const Tensor& input, int64_t axis, int64_t start, int64_t length);

// Splits an axis into parts of `size`; the last may be smaller. An in-place write to one of several
// parts is ambiguous and throws if it is recorded.
std::vector<Tensor> split(const Tensor& input, int64_t size, int64_t axis = 0);
// Splits into parts of the given sizes, which must add up to the axis (kShape).
std::vector<Tensor> split_with_sizes(const Tensor& input, DimsView sizes, int64_t axis = 0);
// Splits into at most `chunks` parts of equal size; the last may be smaller.
std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int64_t axis = 0);
// `sections` parts whose sizes differ by 1 at most, the longer ones first.
std::vector<Tensor> tensor_split(const Tensor& input, int64_t sections, int64_t axis = 0);
// One part more than indices: from each of them to the next, with Python's rules for slices.
std::vector<Tensor> tensor_split_at(const Tensor& input, DimsView indices, int64_t axis = 0);
// One part for each position of the axis, without that axis.
std::vector<Tensor> unstack(const Tensor& input, int64_t axis = 0);

// The elements with equal positions (shifted by offset) on two axes. The result lacks the two axes;
// the diagonal is its last axis.
Tensor diagonal(const Tensor& input, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);

// The result of Python's slice.indices for a step other than 0: `count` positions from `start`.
struct SliceRange {
  int64_t start, count;
};
SliceRange clip_slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step,
                      int64_t size);

// ---- on memory alone: no autograd, for use inside ops; the arguments must be valid ----
Tensor select_memory(const Tensor& input, int64_t axis, int64_t index);
Tensor narrow_memory(const Tensor& input, int64_t axis, int64_t start, int64_t length);

}  // namespace tsr::ops
