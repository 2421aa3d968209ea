// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums of products along axes: vecdot, inner, tensordot, kron, cross, trace. Made of other ops.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// Σ conj(input) other along an axis, counted in the broadcast shape. Throws kShape, kDType, kIndex,
// kDevice.
Tensor vecdot(const Tensor& input, const Tensor& other, int64_t axis = -1, Out out = {});
// Σ over the last axis of both, for all pairs of the others; a 0-dim operand scales. Throws kShape,
// kDType, kDevice.
Tensor inner(const Tensor& input, const Tensor& other, Out out = {});
// Σ over pairs of axes, input_axes[i] with other_axes[i]; the result has the axes of `input` that
// are left, then those of `other`. Throws kValue, kIndex, kShape, kDType, kDevice.
Tensor tensordot(const Tensor& input, const Tensor& other, DimsView input_axes, DimsView other_axes,
                 Out out = {});
// The Kronecker product: every element of `input` times the whole of `other`, placed at its place.
// The shorter shape gets leading ones.
Tensor kron(const Tensor& input, const Tensor& other, Out out = {});
// The cross product of vectors of 3 along an axis of the broadcast shape. Throws kShape, kIndex.
Tensor cross(const Tensor& input, const Tensor& other, int64_t axis = -1, Out out = {});
// The sum of a diagonal of the last two axes; dtypes as sum. Throws kShape.
Tensor trace(const Tensor& input, int64_t offset = 0, std::optional<DType> dtype = {},
             Out out = {});

}  // namespace tsr::ops
