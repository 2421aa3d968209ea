// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#pragma once

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// The product of the last two dims, broadcast over the others. A 1-D operand is a row (input) or a
// column (other), and its extra dim is removed from the result. Operands must share a dtype. Throws
// kShape, kDType, kDevice.
Tensor matmul(const Tensor& input, const Tensor& other, Out out = {});

}  // namespace tsr::ops
