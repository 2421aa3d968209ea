// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the pointwise family: what a level offers for contiguous elements.
#pragma once

#include <cstdint>

#include "kernel/pointwise.h"

namespace tsr::cpu {

// out[i] = f(in[0][i], ...) for i < count. `out` may be one of the inputs. Returns false if the op
// refuses an integer operand (a zero divisor, a negative exponent).
using Row = bool (*)(int64_t count, void* out, const void* const* in,
                     const kernel::Parameter* params);

// Rows of results of an op of two operands, of which one is a single element for each row: the
// first operand if `first`. The elements are in the opmath type of the op's dtype. A step leads
// from a row to the next one, in bytes.
struct BesideRows {
  int64_t count;
  void* out;
  const void* many;
  const void* element;
  bool first;
  int64_t rows = 1;
  int64_t out_step = 0;
  int64_t many_step = 0;
  int64_t element_step = 0;
};
using BesideRow = void (*)(const BesideRows& all);

// A pointwise op on one dtype: the compute dtype of the op or, for some ops, a 16-bit float.
struct PointwiseKernel {
  Row row = nullptr;              // null: not implemented
  DType result = DType::kBool;    // what the row writes
  const char* refusal = nullptr;  // the error message if the row returns false
  BesideRow beside = nullptr;     // null: the element is repeated in a buffer for `row`
  Row alone = nullptr;            // of three operands: `row` with one element as the second one
};

// value[i] = f(a[i], b[i]), and tangent[i] in the direction (t[i], u[i]), for i < count; `in` is
// a, b, t, u. The outputs are none of the inputs.
using DualRow = void (*)(int64_t count, void* value, void* tangent, const void* const* in);

// Each function returns a null row for an op and dtype that are not implemented together. 16-bit
// floats have a row only where moving them through buffers of float32 would cost most.
struct PointwiseRows {
  PointwiseKernel (*unary)(kernel::UnaryOp op, DType dtype);
  PointwiseKernel (*binary)(kernel::BinaryOp op, DType dtype);
  PointwiseKernel (*ternary)(kernel::TernaryOp op, DType dtype);
  PointwiseKernel (*sum_of_products)(DType compute);
  // Of a comparison of float32: writes its truths as 1 and 0 in float32. Null for other ops.
  Row (*truths)(kernel::BinaryOp op);
  // Products and quotients; which of the tangents are not zero.
  DualRow (*dual)(kernel::BinaryOp op, DType dtype, bool first, bool second);
};

}  // namespace tsr::cpu
