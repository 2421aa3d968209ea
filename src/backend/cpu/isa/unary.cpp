// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The unary rows of one instruction-set level: every functor over the types it is written for.
#include "backend/common/generated/visit_unary.h"
#include "backend/common/math_special.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {

PointwiseKernel find_unary(kernel::UnaryOp op, DType dtype) {
  return math::visit_functor(op, [dtype]<class F>() { return serve<F, 0>(dtype); });
}

}  // namespace tsr::cpu::TSR_ISA
