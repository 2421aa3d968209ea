// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The matrix exponential. Made of other ops.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// I + A + A²/2! + ... of square matrices of float32, float64 or complex; any batch. NaN where a
// matrix has NaN or infinities. Throws kShape, kDType.
Tensor matrix_exp(const Tensor& input, Out out = {});

}  // namespace tsr::ops
