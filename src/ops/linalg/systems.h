// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Systems of linear equations as a caller gives them, brought into one form.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// A X = B for stacks of matrices, made by differentiable ops from `input` and `other`: X input =
// other becomes inputᵀ Xᵀ = otherᵀ, a 1-D other one column. B has the whole batch, A too unless it
// is one matrix.
struct System {
  // `input` is square. Throws kDevice, kDType, kShape, for the argument `arg`, which is `other`.
  System(const Tensor& input, const Tensor& other, bool left, const char* arg = "other");

  Tensor a, b;
  bool turned;  // a is the transpose of the input

  // The solution as the caller wants it.
  [[nodiscard]] Tensor finish(const Tensor& x, const Out& out, bool grad) const;

 private:
  bool column_;
};

}  // namespace tsr::ops
