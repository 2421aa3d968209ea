// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Unary kernels: every functor over the types it is written for. Here: floating ones.
#include "backend/common/generated/visit_unary.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/pointwise/halves.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {

Status unary(kernel::UnaryOp op, const ElementwisePlan& plan) {
  const DType dtype = plan.dtypes[1];
  if (!is_floating(dtype)) return unary_of_others(op, plan);
  return status_of(math::visit_functor(op, [&]<class F>() { return serve_reals<F>(dtype, plan); }));
}

}  // namespace tsr::cuda
