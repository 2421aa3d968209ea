// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The order of the rows of a matrix, compared element by element from the first column on.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

struct RowOrder {
  Tensor order;  // int64, where each row stood; equal rows keep their order
  Tensor
      differs;  // bool, one less than rows: whether a row differs from the one before it in order
};

// Rows of real numbers or truth values in the host's memory. NaN comes behind all numbers and
// differs from itself. Takes time in the number of columns only where rows begin with equal
// elements.
[[nodiscard]] RowOrder order_of_rows(const Tensor& matrix);

}  // namespace tsr::ops
