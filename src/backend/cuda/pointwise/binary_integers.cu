// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/common/generated/visit_binary.h"
#include "backend/cuda/pointwise/halves.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {

Status binary_of_integers(kernel::BinaryOp op, const ElementwisePlan& plan) {
  const DType dtype = plan.dtypes[1];
  return status_of(
      math::visit_functor(op, [&]<class F>() { return serve_integers<F, 2>(dtype, plan); }));
}

}  // namespace tsr::cuda
