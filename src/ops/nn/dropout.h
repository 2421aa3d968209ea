// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Dropout.
#pragma once

#include "base/generator.h"
#include "ops/result.h"

namespace tsr::ops {

// Each element is 0 with probability p and input / (1 - p) otherwise. Returns the input itself if
// not training or if p is 0. Floating dtypes; a null generator means the thread's current one.
// Throws kValue for p outside [0, 1], kDType.
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true,
               Generator* generator = nullptr, Out out = {});

}  // namespace tsr::ops
