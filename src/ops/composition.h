// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The first and the last step of an op that is made of other ops and differentiates through them.
#pragma once

#include "autograd/record.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "tensor/promotion.h"

namespace tsr::ops {

// What the parts of an in-place form compute from: their derivatives read the values of before,
// which the result overwrites.
inline Tensor operand(const Tensor& input, const Out& out) {
  return out.is_inplace() && needs_grad(input) ? clone(input) : input;
}

// `value`, which is fresh, in the form that `out` asks for. Throws kShape and kDType where the
// in-place form would change the shape or lower the category.
inline Tensor settle(const Tensor& value, const Out& out) {
  if (out.is_fresh()) return value;
  if (!out.is_inplace()) return clone(value, out);
  const Tensor& target = out.tensor();
  TSR_CHECK(value.sizes() == target.sizes(), Code::kShape, "input",
            "expected operands that leave the shape ", target.sizes(), ", got a result of shape ",
            value.sizes());
  TSR_CHECK(can_cast_in_place(value.dtype(), target.dtype()), Code::kDType, "input",
            "expected a dtype that holds the result's ", value.dtype(), ", got ", target.dtype());
  return copy_(target, value);
}

}  // namespace tsr::ops
