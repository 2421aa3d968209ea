// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Unary pointwise ops: one row for each, with the op and its derivative.
#pragma once

#include "kernel/pointwise.h"
#include "ops/generated/unary_rows.h"
#include "ops/result.h"

namespace tsr::ops {

// The dtypes that an op takes and the dtype that it returns.
enum class UnaryType : uint8_t {
  kSame,           // any dtype, returned as it is
  kNumeric,        // as kSame, bool refused
  kCounting,       // as kSame, bool becomes int64
  kFloat,          // integers and bool become default_dtype()
  kFloatReal,      // as kFloat, complex refused
  kFloating,       // floating only
  kRounding,       // real; integers and bool are copied unchanged
  kRoundingParts,  // as kRounding, complex too
  kMagnitude,      // as kSame, complex becomes its real dtype
  kAngle,          // as kFloat, complex becomes its real dtype
  kPredicate,      // any dtype, returns bool
  kRealPredicate,  // as kPredicate, complex refused
  kBits,           // integers and bool
};

// The tensor that the derivative reads besides the upstream gradient.
enum class UnarySaves : uint8_t { kNothing, kInput, kOutput };

struct UnaryRule {
  kernel::UnaryOp op;
  const char* node;  // the name of the backward node; null if the op is not differentiable
  UnaryType type;
  UnarySaves saves = UnarySaves::kNothing;
  // dL/dx from g = dL/dy and the saved tensor (undefined for kNothing). Null: the derivative is
  // zero.
  Tensor (*derivative)(const Tensor& g, const Tensor& saved) = nullptr;
  // Computes the derivative in one kernel; used if the backward itself is not recorded.
  kernel::BinaryOp fused = kernel::BinaryOp::kNone;
  // The result for complex x in terms of other ops, for an op whose kernel has real numbers alone.
  Tensor (*of_complex)(const Tensor& x) = nullptr;
};

// A row that can be called: exp(x), exp(x, Out::into(y)), exp(x, Out::inplace(x)).
struct Unary {
  UnaryRule rule;
  // input: any shape; the result has the same. Throws kDType for a dtype outside the rule.
  Tensor operator()(const Tensor& input, Out out = {}) const;
};

// max(x, 0) + slope min(x, 0). Floating only.
Tensor leaky_relu(const Tensor& input, double negative_slope, Out out = {});
// x Φ(x), or its tanh approximation when `approximate` is "tanh". Floating only.
Tensor gelu(const Tensor& input, std::string_view approximate, Out out = {});

}  // namespace tsr::ops
