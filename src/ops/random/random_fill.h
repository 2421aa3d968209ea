// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What all random ops share: the launch of the kernel, and filling a tensor in place.
#pragma once

#include "base/generator.h"
#include "kernel/random.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// Fills a row-major tensor; the generator (null: the current one) moves on by what the elements
// consume.
void launch_random(const Tensor& result, kernel::RandomPlan plan, Generator* generator);
kernel::RandomPlan distribution(kernel::RandomOp op, double p0, double p1 = 0);
// Throws kDType.
void check_floating(const Tensor& input);
// Overwrites the input with numbers that are drawn in the dtype `drawn`. The gradient of what was
// there is 0.
Tensor refill(const Tensor& input, const kernel::RandomPlan& plan, DType drawn,
              Generator* generator);

}  // namespace tsr::ops
