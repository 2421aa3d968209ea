// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of several matrices: multi_dot, matrix_power. Made of other ops.
#pragma once

#include <span>

#include "ops/result.h"

namespace tsr::ops {

// The product of at least two matrices in the order of fewest multiplications; the first may be a
// row and the last a column, given as 1-D tensors. Throws kValue, kShape, kDType, kDevice.
Tensor multi_dot(std::span<const Tensor> tensors, Out out = {});
// Square matrices times themselves n times; n = 0 gives the identity, a negative n powers of the
// inverse (kLinalg where there is none). Throws kShape, kDType.
Tensor matrix_power(const Tensor& input, int64_t n, Out out = {});

}  // namespace tsr::ops
