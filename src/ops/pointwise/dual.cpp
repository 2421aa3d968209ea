// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/dual.h"

#include "autograd/record.h"
#include "kernel/registry.h"
#include "ops/opmath.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::DualPlan;

// Whether the kernels take the operand.
bool is_plain(const Tensor& operand, DType dtype) {
  return operand.device().is_cpu() && operand.dtype() == dtype && operand.is_contiguous() &&
         operand.numel() != 0;
}

bool is_sum(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kSubtract;
}

// Whether it may have a tangent: that of a view is the tangent of its base.
bool may_be_dual(const Tensor& operand) {
  return operand.defined() && (operand.has(kDualFlag) || operand.has(kViewFlag));
}

// 16-bit floats have rows of sums and products of tensors; complex numbers none of a number.
bool has_rows(BinaryOp op, const Arg& a, const Arg& b, DType dtype) {
  const bool tensors = a.is_tensor() && b.is_tensor();
  if (is_sum(op)) return tensors;  // else the tangent of the tensor is that of the sum
  if (op == BinaryOp::kMultiply) return tensors || (itemsize(dtype) >= 4 && !is_complex(dtype));
  return op == BinaryOp::kDivide && itemsize(dtype) >= 4 && (tensors || !is_complex(dtype));
}

// Whether the tangents of the op can be read as they are, and there is one.
bool are_plain(const LoneTangents& lone) {
  if (!lone.any() || !lone.are_plain()) return false;
  for (const Tensor& tangent : lone.all()) {
    if (tangent.defined() && !tangent.is_contiguous()) return false;
  }
  return true;
}

// ALLOCATE, and the part of the plan that all ops have. The caller sets the rest, so that the plan
// is not cleared first.
Tensor prepare(DualPlan& plan, const Tensor& like, const Tensor& tangent) {
  const Tensor value = empty_dense_like(like, like.dtype(), like.device());
  plan.numel = like.numel();
  plan.place = kernel::place_on(like.device());
  plan.dtype = like.dtype();
  plan.value = value.data();
  plan.tangent = tangent.data();
  return value;
}

}  // namespace

Tensor dual_unary(const UnaryRule& rule, const Tensor& input, DType compute,
                  std::initializer_list<double> params) {
  if (!is_plain(input, compute) || is_complex(compute) || itemsize(compute) < 4) return {};
  LoneTangents lone;
  if (!lone.borrow({input}) || !are_plain(lone)) return {};
  Tensor tangent = empty_dense_like(input, compute, input.device());
  DualPlan plan;
  Tensor value = prepare(plan, input, tangent);
  plan.derivative = rule.fused;
  plan.reads_value = rule.saves == UnarySaves::kOutput ? 1 : 0;
  plan.operands[0] = input.data();
  plan.operands[1] = nullptr;
  plan.tangents[0] = lone[0].data();
  plan.tangents[1] = nullptr;
  int index = 0;
  for (const double number : params) Scalar(number).store(compute, plan.params[index++].bytes);
  kernel::launch(kernel::kDualUnary, value.device(), rule.op, plan);
  lone.give(value, std::move(tangent));
  return value;
}

Tensor dual_binary(const BinaryRule& rule, const Arg& a, const Arg& b, DType compute) {
  if (!has_rows(rule.op, a, b, compute)) return {};
  const Tensor none;
  const Tensor& first = a.is_tensor() ? a.tensor() : none;
  const Tensor& second = b.is_tensor() ? b.tensor() : none;
  const Tensor& like = a.is_tensor() ? first : second;
  if (!is_plain(like, compute)) return {};
  // The tangent of a sum with a constant is that of the other operand.
  if (is_sum(rule.op) && !(may_be_dual(first) && may_be_dual(second))) return {};
  if (a.is_tensor() && b.is_tensor() && !second.is_same(first) &&
      (!is_plain(second, compute) || second.sizes() != first.sizes())) {
    return {};
  }
  LoneTangents lone;
  if (!lone.borrow({first, second}) || !are_plain(lone)) return {};
  if (is_sum(rule.op) && (!lone[0].defined() || !lone[1].defined())) return {};
  Tensor tangent = empty_dense_like(like, compute, like.device());
  DualPlan plan;
  Tensor value = prepare(plan, like, tangent);
  plan.derivative = BinaryOp::kNone;
  plan.reads_value = 0;
  plan.operands[0] = data_or_null(first);
  plan.operands[1] = data_or_null(second);
  plan.tangents[0] = data_or_null(lone[0]);
  plan.tangents[1] = data_or_null(lone[1]);
  if (!a.is_tensor() || !b.is_tensor())
    (a.is_tensor() ? b : a).scalar().store(compute, plan.params[0].bytes);
  kernel::launch(kernel::kDualBinary, value.device(), rule.op, plan);
  lone.give(value, std::move(tangent));
  return value;
}

}  // namespace tsr::ops
