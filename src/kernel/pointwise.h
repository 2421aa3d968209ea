// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pointwise family: the plan that fill, copy, unary, binary and ternary kernels share.
#pragma once

#include "kernel/contract.h"
#include "kernel/generated/op_ids.h"

namespace tsr::kernel {

// Operand 0 is the output. The planner orders and merges the dims: sizes[ndim - 1] is the innermost
// (smallest output stride), ndim >= 1, so a contiguous same-shape call has ndim == 1 and strides
// equal to the item sizes. A stride of 0 broadcasts; strides are in BYTES and may be negative.
// numel may be 0. All inputs have one dtype (the compute dtype) unless the op says otherwise, and a
// number in host memory that of its opmath: Note [Numbers beside tensors] in numbers.h. The output
// either does not overlap an input, or has exactly the same elements in the same order (in place).
struct ElementwisePlan {
  int32_t ndim;
  int32_t operands;
  uint32_t host_operands;  // bit i: data[i] is one number in host memory, whatever the device
  int64_t numel;
  Place place;
  void* data[kMaxOperands];
  DType dtypes[kMaxOperands];
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxOperands][kMaxRank];
  Parameter params[3];
};

// Forward mode: the op's value with its tangent, in one pass. All operands are contiguous, of the
// same shape and of `dtype`. A unary op f has operand 0 and params; its tangent is
// derivative(tangent of the operand, saved), where saved is the value with `reads_value`, else the
// operand. A binary op is multiply or divide, of which one operand that is null is the number
// params[0], or add or subtract, with two tangents. A null tangent is zero; one of them is not
// null. The outputs overlap nothing.
struct DualPlan {
  BinaryOp derivative;
  int32_t reads_value;
  int64_t numel;
  Place place;
  DType dtype;
  void* operands[2];
  void* tangents[2];
  void* value;
  void* tangent;
  Parameter params[3];
};

}  // namespace tsr::kernel
