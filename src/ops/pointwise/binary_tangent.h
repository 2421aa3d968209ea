// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode of binary ops: tangents that need fewer kernels than the derivative has.
#pragma once

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// The tangent of a product. The factors are saved in the order a, b; each only if the other one has
// a tangent or requires grad.
Tensor pushed_product(const Forward& ctx, uint8_t saves);

// Sets the tangent of a sum, a difference or a product in the common case of forward mode
// (LoneTangents), in one kernel or none. False: another case, and nothing has been done.
bool push_lone(const BinaryRule& rule, const Tensor& output, const Arg& a, const Arg& b);

}  // namespace tsr::ops
