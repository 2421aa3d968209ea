// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The ternary rows of one instruction-set level.
#include "backend/common/generated/visit_ternary.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {
namespace {

// Moves elements by size, so one row serves every type of that size.
template <class T>
bool where_row(int64_t count, void* out, const void* const* in, const Parameter*) {
  using V = Vec<T>;
  const auto* condition = static_cast<const uint8_t*>(in[0]);
  const T* yes = static_cast<const T*>(in[1]);
  const T* no = static_cast<const T*>(in[2]);
  T* target = static_cast<T*>(out);
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) {
    select(load_bools<T>(condition + i), V::load(yes + i), V::load(no + i)).store(target + i);
  }
  for (; i < count; ++i) target[i] = condition[i] != 0 ? yes[i] : no[i];
  return true;
}

struct Pair {
  int64_t low, high;
};
bool where_pair_row(int64_t count, void* out, const void* const* in, const Parameter*) {
  const auto* condition = static_cast<const uint8_t*>(in[0]);
  const Pair* yes = static_cast<const Pair*>(in[1]);
  const Pair* no = static_cast<const Pair*>(in[2]);
  Pair* target = static_cast<Pair*>(out);
  for (int64_t i = 0; i < count; ++i) target[i] = condition[i] != 0 ? yes[i] : no[i];
  return true;
}

Row find_where(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
      return &where_row<int8_t>;
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return &where_row<int16_t>;
    case DType::kUInt32:
    case DType::kInt32:
    case DType::kFloat32:
      return &where_row<int32_t>;
    case DType::kComplex128:
      return &where_pair_row;
    default:
      return &where_row<int64_t>;
  }
}

}  // namespace

PointwiseKernel find_ternary(kernel::TernaryOp op, DType dtype) {
  return math::visit_functor(op, [dtype]<class F>() -> PointwiseKernel {
    if constexpr ((F::kTypes & math::kMoved) != 0)
      return {find_where(dtype), dtype, nullptr};
    else
      return serve<F, 0, 1, 2>(dtype);
  });
}

PointwiseKernel find_sum_of_products(DType dtype) {
  return serve<math::SumOfProducts, 0, 1, 2, 3>(dtype);
}

}  // namespace tsr::cpu::TSR_ISA
