// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shape ops: the same elements with another shape or order of dims, as views of the same memory.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// These functions return views (writes through them change the input) unless they say otherwise;
// axes may be negative. Bad shapes throw kShape, bad axes kIndex, repeated axes kValue.

// The same elements in row-major order with another shape (one -1 is inferred): a view if the
// strides allow it, else a copy. `copy` true: always a copy; false: throws kValue if a copy is
// needed.
Tensor reshape(const Tensor& input, DimsView shape, std::optional<bool> copy = {});
// As reshape, but never a copy: throws kValue if the strides do not allow a view.
Tensor view(const Tensor& input, DimsView shape);
// Merges the axes from `start` to `end` (inclusive) into one; a 0-dim input becomes 1-D. A copy if
// the strides need one.
Tensor flatten(const Tensor& input, int64_t start = 0, int64_t end = -1);
// The reverse of flatten: one axis as several (one -1 is inferred).
Tensor unflatten(const Tensor& input, int64_t axis, DimsView shape);

// Drops the named axes, which must have size 1; a 0-dim input has none to drop.
Tensor squeeze(const Tensor& input, DimsView axes);
// Inserts axes of size 1, which are these axes of the result.
Tensor expand_dims(const Tensor& input, DimsView axes);
Tensor expand_dims(const Tensor& input, int64_t axis);

// Axis i of the result is axis axes[i] of the input.
Tensor permute_dims(const Tensor& input, DimsView axes);
// Swaps two axes.
Tensor transpose(const Tensor& input, int64_t axis0, int64_t axis1);
// Swaps the last two axes; throws kShape for less than two dims.
Tensor matrix_transpose(const Tensor& input);
// Axis source[i] of the input becomes axis destination[i]; the others keep their order.
Tensor moveaxis(const Tensor& input, DimsView source, DimsView destination);

// The stretched axes have stride 0, so the result cannot be written in place.
Tensor broadcast_to(const Tensor& input, DimsView shape);
// As broadcast_to; -1 keeps the input's size.
Tensor expand(const Tensor& input, DimsView shape);

// At least 1, 2 or 3 axes; an input that has them is returned as it is. New axes stand in front, in
// 3 dims of a matrix behind, and around a vector.
Tensor atleast_1d(const Tensor& input);
Tensor atleast_2d(const Tensor& input);
Tensor atleast_3d(const Tensor& input);

// Without leading axes of size 1 beyond `rank`: a value that is assigned may have them.
Tensor drop_leading_ones(const Tensor& input, int64_t rank);

}  // namespace tsr::ops
