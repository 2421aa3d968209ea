// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Ternary pointwise ops.
#pragma once

#include "ops/binary.h"

namespace tsr::ops {

// input where condition holds, other elsewhere. condition: bool; all three broadcast; input and
// other promote together (both may be scalars). Throws kShape, kDType, kDevice.
Tensor where(const Tensor& condition, const Arg& input, const Arg& other, Out out = {});

}  // namespace tsr::ops
