// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode of pointwise ops in the pass of the forward. The CPU has that for contiguous tensors
// of one dtype and shape in the case of LoneTangents; in other cases RECORD makes the tangent.
#pragma once

#include <initializer_list>

#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {

// The value, with its tangent. Undefined: another case, and nothing has been done. Call them under
// needs_grad and forward_enabled, for a fresh result.
Tensor dual_unary(const UnaryRule& rule, const Tensor& input, DType compute,
                  std::initializer_list<double> params);
Tensor dual_binary(const BinaryRule& rule, const Arg& a, const Arg& b, DType compute);

}  // namespace tsr::ops
