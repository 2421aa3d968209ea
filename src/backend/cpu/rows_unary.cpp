// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The unary rows of one instruction-set level: which functor serves which op and which types.
#include "backend/common/functors_unary.h"
#include "backend/cpu/row_loop.h"

namespace tsr::cpu::TSR_ISA {
namespace {

using kernel::UnaryOp;

Row find_for_bool(UnaryOp op) {
  const DType byte = DType::kUInt8;
  switch (op) {
    case UnaryOp::kBitwiseInvert:
      return pick_unary<math::InvertBool, kSignless>(byte);
    case UnaryOp::kLogicalNot:
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
    case UnaryOp::kIsFinite:
      return find_unary(op, byte);
    case UnaryOp::kNegative:
    case UnaryOp::kReciprocal:
      return nullptr;
    default:
      return find_unary(op, byte) == nullptr ? nullptr
                                             : pick_unary<math::Identity, kSignless>(byte);
  }
}

Row find_activation(UnaryOp op, DType dtype) {
  switch (op) {
    case UnaryOp::kSigmoid:
      return pick_unary<math::Sigmoid, kReal | kComplexes>(dtype);
    case UnaryOp::kErf:
      return pick_unary<math::Erf, kReal>(dtype);
    case UnaryOp::kRelu:
      return pick_unary<math::Relu, kReal | kIntegers>(dtype);
    case UnaryOp::kLeakyRelu:
      return pick_unary<math::LeakyRelu, kReal>(dtype);
    case UnaryOp::kGelu:
      return pick_unary<math::Gelu, kReal>(dtype);
    case UnaryOp::kGeluTanh:
      return pick_unary<math::GeluTanh, kReal>(dtype);
    case UnaryOp::kSilu:
      return pick_unary<math::Silu, kReal>(dtype);
    case UnaryOp::kClip:
      return pick_unary<math::Clip, kReal | kIntegers>(dtype);
    case UnaryOp::kIsNan:
      return pick_unary<math::IsNan, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kIsInf:
      return pick_unary<math::IsInf, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kIsFinite:
      return pick_unary<math::IsFinite, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kLogicalNot:
      return pick_unary<math::LogicalNot, kReal | kComplexes | kSignless>(dtype);
    default:
      return nullptr;
  }
}

Row find_transcendental(UnaryOp op, DType dtype) {
  constexpr unsigned kTypes = kReal | kComplexes;
  switch (op) {
    case UnaryOp::kSqrt:
      return pick_unary<math::Sqrt, kTypes>(dtype);
    case UnaryOp::kRsqrt:
      return pick_unary<math::Rsqrt, kTypes>(dtype);
    case UnaryOp::kExp:
      return pick_unary<math::Exp, kTypes>(dtype);
    case UnaryOp::kExpm1:
      return pick_unary<math::Expm1, kTypes>(dtype);
    case UnaryOp::kLog:
      return pick_unary<math::Log, kTypes>(dtype);
    case UnaryOp::kLog1p:
      return pick_unary<math::Log1p, kTypes>(dtype);
    case UnaryOp::kLog2:
      return pick_unary<math::Log2, kTypes>(dtype);
    case UnaryOp::kLog10:
      return pick_unary<math::Log10, kTypes>(dtype);
    case UnaryOp::kSin:
      return pick_unary<math::Sin, kTypes>(dtype);
    case UnaryOp::kCos:
      return pick_unary<math::Cos, kTypes>(dtype);
    case UnaryOp::kTan:
      return pick_unary<math::Tan, kTypes>(dtype);
    case UnaryOp::kAsin:
      return pick_unary<math::Asin, kTypes>(dtype);
    case UnaryOp::kAcos:
      return pick_unary<math::Acos, kTypes>(dtype);
    case UnaryOp::kAtan:
      return pick_unary<math::Atan, kTypes>(dtype);
    case UnaryOp::kSinh:
      return pick_unary<math::Sinh, kTypes>(dtype);
    case UnaryOp::kCosh:
      return pick_unary<math::Cosh, kTypes>(dtype);
    case UnaryOp::kTanh:
      return pick_unary<math::Tanh, kTypes>(dtype);
    default:
      return find_activation(op, dtype);
  }
}

template <class Functor>
Row pick_rounding(DType dtype) {
  if (const Row row = pick_unary<Functor, kReal>(dtype)) return row;
  return pick_unary<math::Identity, kSignless>(dtype);
}

}  // namespace

Row find_unary(UnaryOp op, DType dtype) {
  if (dtype == DType::kBool) return find_for_bool(op);
  switch (op) {
    case UnaryOp::kAbs:
      return pick_unary<math::Abs, kNumbers>(dtype);
    case UnaryOp::kNegative:
      return pick_unary<math::Negative, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kSign:
      return pick_unary<math::Sign, kNumbers>(dtype);
    case UnaryOp::kReciprocal:
      return pick_unary<math::Reciprocal, kReal | kComplexes>(dtype);
    case UnaryOp::kSquare:
      return pick_unary<math::Square, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kFloor:
      return pick_rounding<math::Floor>(dtype);
    case UnaryOp::kCeil:
      return pick_rounding<math::Ceil>(dtype);
    case UnaryOp::kRound:
      return pick_rounding<math::Round>(dtype);
    case UnaryOp::kTrunc:
      return pick_rounding<math::Trunc>(dtype);
    case UnaryOp::kConj:
      return pick_unary<math::Conj, kReal | kComplexes | kSignless>(dtype);
    case UnaryOp::kBitwiseInvert:
      return pick_unary<math::BitwiseInvert, kSignless>(dtype);
    default:
      return find_transcendental(op, dtype);
  }
}

}  // namespace tsr::cpu::TSR_ISA
