// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary kernels: every functor over the types it is written for. Here: floating and complex ones.
#include "backend/common/generated/visit_binary.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/pointwise/halves.h"
#include "backend/cuda/pointwise/pointwise.cuh"
#include "kernel/numbers.h"

namespace tsr::cuda {

Status binary(kernel::BinaryOp op, const ElementwisePlan& plan) {
  const DType dtype = kernel::compute_dtype(plan);
  if (is_integral_or_bool(dtype)) return binary_of_integers(op, plan);
  return status_of(
      math::visit_functor(op, [&]<class F>() { return serve_floats<F, 2>(dtype, plan); }));
}

}  // namespace tsr::cuda
