// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary pointwise ops: one row for each, with the op and its derivatives.
#pragma once

#include "base/scalar.h"
#include "kernel/pointwise.h"
#include "ops/generated/binary_rows.h"
#include "ops/result.h"

namespace tsr::ops {

// An operand: a tensor, or a number of the host language, which is weak in promotion and needs no
// tensor.
class Arg {
 public:
  Arg(const Tensor& value) : tensor_(&value) {}
  Arg(const Scalar& value) : scalar_(value) {}
  template <class Number>
  requires(std::is_arithmetic_v<Number>) Arg(Number value) : scalar_(value) {}

  [[nodiscard]] bool is_tensor() const { return tensor_ != nullptr; }
  [[nodiscard]] const Tensor& tensor() const { return *tensor_; }
  [[nodiscard]] const Scalar& scalar() const { return scalar_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_{false};
};

// The dtypes that an op takes (the operands are promoted first) and the dtype that it returns.
enum class BinaryType : uint8_t {
  kArithmetic,    // any dtype
  kNumeric,       // as kArithmetic, bool refused
  kReal,          // as kArithmetic, complex refused
  kFloat,         // integers and bool become default_dtype()
  kFloatReal,     // as kFloat, complex refused
  kCounting,      // as kArithmetic, bool becomes int64
  kRealCounting,  // as kReal, bool becomes int64
  kEquality,      // any dtype, returns bool
  kOrder,         // real, returns bool
  kBits,          // integers and bool
  kIntegers,      // integers only
};

// The arguments of a binary op's derivatives. A scalar operand never needs a gradient, and `b` may
// then be a scalar.
struct BinaryContext {
  const Tensor& g;  // dL/dy
  Arg a, b;         // the operands if the rule saves them, else undefined
  const Tensor& y;  // the result if the rule saves it, else undefined
};

enum BinarySaves : uint8_t { kSaveNothing = 0, kSaveA = 1, kSaveB = 2, kSaveY = 4 };

// dL/d(operand). The result may have a larger shape that sums to the operand's; the engine reduces
// it.
struct BinaryGrad {
  uint8_t saves =
      kSaveNothing;  // what it reads besides g; saved only when this operand needs a gradient
  Tensor (*derivative)(const BinaryContext& ctx) = nullptr;
};

struct BinaryRule {
  kernel::BinaryOp op;
  const char* node;  // the name of the backward node; null if the op is not differentiable
  BinaryType type;
  BinaryGrad a = {};
  BinaryGrad b = {};
  // The result of complex dtype in terms of other ops, for an op whose kernel has real numbers
  // alone.
  Tensor (*of_complex)(const Tensor& a, const Tensor& b) = nullptr;
};

// A row that can be called: add(a, b), add(a, 2.0), add(a, b, Out::inplace(a)). One operand must be
// a tensor.
struct Binary {
  BinaryRule rule;
  // input, other: shapes that broadcast. Throws kShape, kDType, kDevice.
  Tensor operator()(const Arg& input, const Arg& other, Out out = {}) const;
};

// The dtype that two operands promote to; one of them is a tensor.
DType operands_dtype(const Arg& a, const Arg& b);

// An operand that is compared with elements of a dtype: a number as rounded_to() has it.
Arg rounded_number(const Arg& operand, DType dtype);

}  // namespace tsr::ops
