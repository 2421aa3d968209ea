// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The binary rows of one instruction-set level: which functor serves which op and which types.
#include "backend/common/functors_binary.h"
#include "backend/cpu/row_loop.h"

namespace tsr::cpu::TSR_ISA {
namespace {

using kernel::BinaryOp;

// Bool arithmetic is logic on bytes that hold 0 or 1.
Row find_for_bool(BinaryOp op) {
  const DType byte = DType::kUInt8;
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMaximum:
      return find_binary(BinaryOp::kBitwiseOr, byte);
    case BinaryOp::kMultiply:
    case BinaryOp::kMinimum:
      return find_binary(BinaryOp::kBitwiseAnd, byte);
    case BinaryOp::kSubtract:
    case BinaryOp::kDivide:
      return nullptr;
    default:
      return find_binary(op, byte);
  }
}

// What an integer op is not defined for, asked of its second operand.
struct IsZero {
  template <class T>
  static bool refuses(T value) {
    return value == 0;
  }
};
struct IsNegative {
  template <class T>
  static bool refuses(T value) {
    return value < T{0};
  }
};

// Looks for refused operands first, then runs the loop.
template <class F, class V, class Refused>
bool checked_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  using T = typename V::Element;
  const T* operands = static_cast<const T*>(in[1]);
  bool refused = false;
  for (int64_t i = 0; i < count; ++i) refused |= Refused::refuses(operands[i]);
  return !refused && binary_row<F, V>(count, out, in, params);
}
template <class F, class Refused, unsigned kUnchecked>
Row pick_checked(DType dtype) {
  if (const Row row = pick_binary<F, kUnchecked>(dtype)) return row;
  return pick<kIntegers>(dtype, []<class V>() -> Row { return &checked_row<F, V, Refused>; });
}

Row find_comparison(BinaryOp op, DType dtype) {
  constexpr unsigned kAny = kReal | kComplexes | kSignless;
  constexpr unsigned kOrdered = kReal | kIntegers;
  switch (op) {
    case BinaryOp::kEqual:
      return pick_binary<math::Equal, kAny>(dtype);
    case BinaryOp::kNotEqual:
      return pick_binary<math::NotEqual, kAny>(dtype);
    case BinaryOp::kLess:
      return pick_binary<math::Less, kOrdered>(dtype);
    case BinaryOp::kLessEqual:
      return pick_binary<math::LessEqual, kOrdered>(dtype);
    case BinaryOp::kGreater:
      return pick_binary<math::Greater, kOrdered>(dtype);
    case BinaryOp::kGreaterEqual:
      return pick_binary<math::GreaterEqual, kOrdered>(dtype);
    case BinaryOp::kLogicalAnd:
      return pick_binary<math::LogicalAnd, kAny>(dtype);
    case BinaryOp::kLogicalOr:
      return pick_binary<math::LogicalOr, kAny>(dtype);
    case BinaryOp::kLogicalXor:
      return pick_binary<math::LogicalXor, kAny>(dtype);
    default:
      return nullptr;
  }
}

Row find_gradient(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::kTanhGrad:
      return pick_binary<math::TanhGrad, kReal>(dtype);
    case BinaryOp::kSigmoidGrad:
      return pick_binary<math::SigmoidGrad, kReal>(dtype);
    case BinaryOp::kReluGrad:
      return pick_binary<math::ReluGrad, kReal>(dtype);
    case BinaryOp::kLeakyReluGrad:
      return pick_binary<math::LeakyReluGrad, kReal>(dtype);
    case BinaryOp::kGeluGrad:
      return pick_binary<math::GeluGrad, kReal>(dtype);
    case BinaryOp::kGeluTanhGrad:
      return pick_binary<math::GeluTanhGrad, kReal>(dtype);
    case BinaryOp::kSiluGrad:
      return pick_binary<math::SiluGrad, kReal>(dtype);
    default:
      return find_comparison(op, dtype);
  }
}

}  // namespace

Row find_binary(BinaryOp op, DType dtype) {
  if (dtype == DType::kBool) return find_for_bool(op);
  switch (op) {
    case BinaryOp::kAdd:
      return pick_binary<math::Add, kReal | kComplexes | kSignless>(dtype);
    case BinaryOp::kSubtract:
      return pick_binary<math::Subtract, kReal | kComplexes | kSignless>(dtype);
    case BinaryOp::kMultiply:
      return pick_binary<math::Multiply, kReal | kComplexes | kSignless>(dtype);
    case BinaryOp::kDivide:
      return pick_binary<math::Divide, kReal | kComplexes>(dtype);
    case BinaryOp::kFloorDivide:
      return pick_checked<math::FloorDivide, IsZero, kReal>(dtype);
    case BinaryOp::kRemainder:
      return pick_checked<math::Remainder, IsZero, kReal>(dtype);
    case BinaryOp::kPow:
      return pick_checked<math::Pow, IsNegative, kReal | kComplexes>(dtype);
    case BinaryOp::kMaximum:
      return pick_binary<math::Maximum, kReal | kIntegers>(dtype);
    case BinaryOp::kMinimum:
      return pick_binary<math::Minimum, kReal | kIntegers>(dtype);
    case BinaryOp::kAtan2:
      return pick_binary<math::Atan2, kReal>(dtype);
    case BinaryOp::kHypot:
      return pick_binary<math::Hypot, kReal>(dtype);
    case BinaryOp::kBitwiseAnd:
      return pick_binary<math::BitwiseAnd, kSignless>(dtype);
    case BinaryOp::kBitwiseOr:
      return pick_binary<math::BitwiseOr, kSignless>(dtype);
    case BinaryOp::kBitwiseXor:
      return pick_binary<math::BitwiseXor, kSignless>(dtype);
    default:
      return find_gradient(op, dtype);
  }
}

}  // namespace tsr::cpu::TSR_ISA
