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
namespace {

// The truths of a comparison as numbers.
template <class F>
bool truths_row(int64_t count, void* out, const void* const* in, const Parameter*) {
  using A = Access<VF>;
  const auto call = [](VF a, VF b) { return select(F{}(a, b), VF(1.0F), VF(0.0F)); };
  const auto at = [&](int64_t i) { return call(A::load(in[0], i), A::load(in[1], i)); };
  const int64_t i = whole_registers<1, VF>(count, 0, out, at);
  if (i < count) {
    store_part(call(A::load_part(in[0], i, count - i), A::load_part(in[1], i, count - i)), out, i,
               count - i);
  }
  return true;
}

}  // namespace

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

Row find_truths(kernel::BinaryOp op) {
  switch (op) {
    case kernel::BinaryOp::kEqual:
      return &truths_row<math::Equal>;
    case kernel::BinaryOp::kNotEqual:
      return &truths_row<math::NotEqual>;
    case kernel::BinaryOp::kLess:
      return &truths_row<math::Less>;
    case kernel::BinaryOp::kLessEqual:
      return &truths_row<math::LessEqual>;
    case kernel::BinaryOp::kGreater:
      return &truths_row<math::Greater>;
    case kernel::BinaryOp::kGreaterEqual:
      return &truths_row<math::GreaterEqual>;
    default:
      return nullptr;
  }
}

}  // namespace tsr::cpu::TSR_ISA
