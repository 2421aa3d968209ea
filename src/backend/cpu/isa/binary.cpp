// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The binary rows of one instruction-set level: every functor over the types it is written for.
#include "backend/common/generated/visit_binary.h"
#include "backend/common/math_special.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/isa/power.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {

PointwiseKernel find_binary(kernel::BinaryOp op, DType dtype) {
  return math::visit_functor(op, [dtype]<class F>() -> PointwiseKernel {
    if constexpr (std::is_same_v<F, math::Pow>) {
      if (dtype == DType::kFloat32) return {&power_row<VF>, dtype, nullptr, &power_beside<VF>};
      if (dtype == DType::kFloat64) return {&power_row<VD>, dtype, nullptr, &power_beside<VD>};
      if (dtype == DType::kComplex64) return {&power_row<CF>, dtype, nullptr};
      if (dtype == DType::kComplex128) return {&power_row<CD>, dtype, nullptr};
    }
    return serve<F, 0, 1>(dtype);
  });
}

}  // namespace tsr::cpu::TSR_ISA
