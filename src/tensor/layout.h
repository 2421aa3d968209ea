// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shape and stride algebra: pure functions on sizes and strides (in elements). No tensor, no
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/small_vector.h"

namespace tsr {

inline constexpr int64_t kMaxTensorRank = 64;

// Throws kShape when a size is negative, the rank exceeds 64 or the number of bytes overflows
// int64.
int64_t checked_numel(DimsView sizes, int64_t itemsize);
int64_t numel_of(DimsView sizes) noexcept;

// Row-major strides; sizes of 0 count as 1, as NumPy and PyTorch do.
Dims contiguous_strides(DimsView sizes);
// Strides that keep the memory order of `like` (largest stride first) for dense results.
Dims dense_strides_like(DimsView sizes, DimsView like);

bool is_contiguous(DimsView sizes, DimsView strides) noexcept;
// Dense: no two elements share a place and no place between them is unused, in any order of dims.
bool is_dense(DimsView sizes, DimsView strides) noexcept;
// True when two different indices may refer to the same element (a stride of 0, or strides that
// interleave).
bool may_overlap_itself(DimsView sizes, DimsView strides) noexcept;

// Lowest and one-past-highest element offset that the layout touches, relative to its first
// element.
struct Extent {
  int64_t low, high;
};
Extent extent_of(DimsView sizes, DimsView strides) noexcept;

// The axis counted from 0; throws kIndex when it is not in [-rank, rank). Rank 0 accepts -1 and 0.
int64_t wrap_axis(int64_t axis, int64_t rank, const char* arg = "axis");
// Wrapped axes, in the order given; duplicates throw kValue.
Dims wrap_axes(DimsView axes, int64_t rank, const char* arg = "axis");

// NumPy's broadcasting; throws kShape that names both shapes.
Dims broadcast_shapes(DimsView a, DimsView b, const char* arg = "other");
// Strides that broadcast `sizes` to `target` (0 along new and stretched dims); throws kShape.
Dims broadcast_strides(DimsView sizes, DimsView strides, DimsView target,
                       const char* arg = "shape");

// Replaces a single -1 by what numel demands; throws kShape.
Dims infer_shape(DimsView shape, int64_t numel, const char* arg = "shape");
// Strides for the same memory in another shape (a reshape without a copy), or nullopt when a copy
// is needed.
std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView shape);

// The shape after reducing `axes` (wrapped, no duplicates).
Dims reduced_shape(DimsView sizes, DimsView axes, bool keepdims);

}  // namespace tsr
