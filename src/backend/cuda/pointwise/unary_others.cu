// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/common/generated/visit_unary.h"
#include "backend/cuda/pointwise/halves.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {

Status unary_of_others(kernel::UnaryOp op, const ElementwisePlan& plan) {
  const DType dtype = plan.dtypes[1];
  return status_of(math::visit_functor(op, [&]<class F>() {
    return is_complex(dtype) ? serve_complexes<F>(dtype, plan) : serve_integers<F>(dtype, plan);
  }));
}

}  // namespace tsr::cuda
