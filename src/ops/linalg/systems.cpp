// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/systems.h"

#include "base/error.h"
#include "ops/linalg/factor.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

System::System(const Tensor& input, const Tensor& other, bool left, const char* arg)
    : turned(!left), column_(other.ndim() == 1) {
  check_same_device(input, other, arg);
  TSR_CHECK(other.dtype() == input.dtype(), Code::kDType, arg, "expected ", input.dtype(),
            " as the matrix, got ", other.dtype());
  TSR_CHECK(other.ndim() >= 1, Code::kShape, arg, "expected at least 1 dimension, got shape ",
            other.sizes());
  const int64_t n = input.size(input.ndim() - 1);
  const int64_t side = other.ndim() - (left && !column_ ? 2 : 1);
  TSR_CHECK(other.size(side) == n, Code::kShape, arg, "expected ", n,
            left ? " rows for matrices of shape " : " columns for matrices of shape ",
            input.sizes(), ", got shape ", other.sizes());
  a = turned ? matrix_transpose(input) : input;
  b = column_ ? expand_dims(other, -1) : turned ? matrix_transpose(other) : other;
  const Dims batch = broadcast_shapes(batch_of(a), batch_of(b), arg);
  const auto spread = [&](const Tensor& matrices) {
    if (batch_of(matrices) == batch) return matrices;
    Dims sizes = batch;
    sizes.push_back(matrices.size(matrices.ndim() - 2));
    sizes.push_back(matrices.size(matrices.ndim() - 1));
    return broadcast_to(matrices, sizes);
  };
  b = spread(b);
  if (a.ndim() > 2) a = spread(a);
}

Tensor System::finish(const Tensor& x, const Out& out, bool grad) const {
  const Tensor solution = column_ ? squeeze(x, Dims{-1}) : turned ? matrix_transpose(x) : x;
  return deliver(solution, out, grad);
}

}  // namespace tsr::ops
