// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Plans of one thread that need no blocks: contiguous elements, a number beside them, or a few
// elements. Inline, because every pointwise op comes here.
#pragma once

#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"

namespace tsr::cpu {

// All operands are contiguous and of the row's dtype.
inline bool is_direct(const kernel::ElementwisePlan& plan, const RowTypes& types) {
  if (plan.ndim != 1 || plan.numel > kGrain) return false;
  if (plan.dtypes[0] != types.output || plan.strides[0][0] != itemsize(types.output)) return false;
  for (int k = 1; k < plan.operands; ++k) {
    const DType dtype = types.inputs[k - 1];
    if (plan.dtypes[k] != dtype || plan.strides[k][0] != itemsize(dtype)) return false;
  }
  return true;
}

inline constexpr int64_t kFew = 64;

// Like is_direct, but inputs may be constants, which are repeated in small buffers.
inline bool is_few(const kernel::ElementwisePlan& plan, const RowTypes& types) {
  if (plan.ndim != 1 || plan.numel > kFew) return false;
  if (plan.dtypes[0] != types.output || plan.strides[0][0] != itemsize(types.output)) return false;
  for (int k = 1; k < plan.operands; ++k) {
    const DType dtype = types.inputs[k - 1];
    const int64_t stride = plan.strides[k][0];
    if (plan.dtypes[k] != dtype || (stride != itemsize(dtype) && stride != 0)) return false;
  }
  return true;
}
inline bool run_few(const kernel::ElementwisePlan& plan, Row row) {
  constexpr int kMaxInputs = 3;
  alignas(64) std::byte repeated[kMaxInputs][kFew * 16];
  const void* in[kMaxInputs] = {};
  for (int k = 0; k < plan.operands - 1; ++k) {
    in[k] = plan.data[k + 1];
    if (plan.strides[k + 1][0] != 0) continue;
    const int64_t size = itemsize(plan.dtypes[k + 1]);
    copy_strided(plan.numel, size, repeated[k], size, in[k], 0);
    in[k] = repeated[k];
  }
  return row(plan.numel, plan.data[0], in, plan.params);
}

// The operand of a short row that is one element in opmath, beside elements that need no buffer; 0
// if there is none.
inline int element_beside(const kernel::ElementwisePlan& plan, const PointwiseKernel& kernel,
                          const RowTypes& types) {
  if (kernel.beside == nullptr || plan.operands != 3 || plan.ndim != 1 || plan.numel > kGrain ||
      plan.dtypes[0] != types.output || plan.strides[0][0] != itemsize(types.output)) {
    return 0;
  }
  const auto is_alone = [&](int k) {
    return plan.strides[k][0] == 0 && plan.dtypes[k] == kernel::opmath(types.inputs[k - 1]);
  };
  const int alone = is_alone(1) ? 1 : 2;
  const int other = 3 - alone;
  const DType dtype = types.inputs[other - 1];
  const bool dense = plan.dtypes[other] == dtype && plan.strides[other][0] == itemsize(dtype);
  return dense && is_alone(alone) ? alone : 0;
}

}  // namespace tsr::cpu
