// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pointwise family: op ids and the one plan that fill, copy, unary, binary and ternary kernels
// share.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// Operand 0 is the output. Dims are ordered and merged by the planner: sizes[ndim - 1] is the
// innermost (smallest output stride), ndim >= 1, so a contiguous same-shape call has ndim == 1 and
// strides equal to the item sizes. A stride of 0 broadcasts; strides are in BYTES and may be
// negative. numel may be 0. All inputs have one dtype (the compute dtype) unless the op says
// otherwise; memory of the output either is disjoint from an input's or is exactly the same
// elements in the same order (in place).
struct ElementwisePlan {
  int32_t ndim;
  int32_t operands;
  int64_t numel;
  Place place;
  void* data[kMaxOperands];
  DType dtypes[kMaxOperands];
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxOperands][kMaxRank];
  Parameter params[3];
};

// out = f(x). Parameters p0, p1 as noted.
enum class UnaryOp : int32_t {
  kAbs,  // complex input: real output
  kNegative,
  kSign,
  kReciprocal,
  kSquare,
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kFloor,
  kCeil,
  kRound,  // half to even
  kTrunc,
  kSigmoid,
  kErf,
  kConj,
  kRelu,
  kLeakyRelu,  // p0 = slope
  kGelu,       // erf form
  kGeluTanh,
  kSilu,
  kClip,  // p0 = min, p1 = max
  kBitwiseInvert,
  // ---- bool output ----
  kIsNan,
  kIsInf,
  kIsFinite,
  kLogicalNot,
  kCount
};

// out = f(a, b).
enum class BinaryOp : int32_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,       // floating and complex only
  kFloorDivide,  // Python's floor; an integer division by zero fails with kValue
  kRemainder,    // Python's sign (of the divisor)
  kPow,
  kMaximum,  // NaN propagates
  kMinimum,
  kAtan2,
  kHypot,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  // ---- bool output ----
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  // ---- fused derivatives: a = upstream gradient g, b = what the forward saved ----
  kTanhGrad,       // g (1 - y²)
  kSigmoidGrad,    // g y (1 - y)
  kReluGrad,       // g where y > 0, else 0
  kLeakyReluGrad,  // x > 0 ? g : p0 g
  kGeluGrad,       // of x, erf form
  kGeluTanhGrad,
  kSiluGrad,
  kCount
};

// out = f(a, b, c).
enum class TernaryOp : int32_t {
  kWhere,    // a is bool; b, c of the output's dtype
  kLerp,     // a + c (b - a)
  kAddcmul,  // a + p0 b c
  kAddcdiv,  // a + p0 b / c
  kClip,     // a clipped to [b, c]
  kCount
};

}  // namespace tsr::kernel
