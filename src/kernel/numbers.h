// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers in host memory among the operands of an elementwise plan.
//
// Note [Numbers beside tensors]
// A number is in the opmath of the tensors' dtype: beside 16-bit floats 0.4 is a float32, and the
// result is rounded once. Ops that compare round the number to the tensors' dtype before, so that
// x == 0.1 can hold. where() moves numbers, so it has them in the dtype of the output.
#pragma once

#include "kernel/pointwise.h"

namespace tsr::kernel {

// The dtype of the tensors among two inputs, of which the first may be a number.
inline DType compute_dtype(const ElementwisePlan& plan) {
  const bool number = (plan.host_operands & 2U) != 0;
  return plan.dtypes[number ? 2 : 1];
}

}  // namespace tsr::kernel
