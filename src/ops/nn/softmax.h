// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax along one axis.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// exp(x) / Σ exp(x) along the axis, and its logarithm, without overflow. A slice of only -infinity
// gives NaN. `dtype` casts the input first; integers become default_dtype(). 16-bit floats are
// computed in float32 and rounded once. Real dtypes. Throws kIndex, kDType.
Tensor softmax(const Tensor& input, int64_t axis, std::optional<DType> dtype = {}, Out out = {});
Tensor log_softmax(const Tensor& input, int64_t axis, std::optional<DType> dtype = {},
                   Out out = {});
// The tangent of `output`, the softmax along the last axis of a tensor whose tangent is `tangent`,
// which has the same shape.
Tensor softmax_tangent(const Tensor& tangent, const Tensor& output);

}  // namespace tsr::ops
