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

// A pointwise op on one compute dtype.
struct PointwiseKernel {
  Row row = nullptr;              // null: not implemented
  DType result = DType::kBool;    // what the row writes
  const char* refusal = nullptr;  // the error message if the row returns false
};

// Each function returns a null row for an op and compute dtype that are not implemented together.
struct PointwiseRows {
  PointwiseKernel (*unary)(kernel::UnaryOp op, DType compute);
  PointwiseKernel (*binary)(kernel::BinaryOp op, DType compute);
  PointwiseKernel (*ternary)(kernel::TernaryOp op, DType compute);
  PointwiseKernel (*sum_of_products)(DType compute);
};

}  // namespace tsr::cpu
