// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/ternary.h"

#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/copy.h"
#include "ops/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::KernelTable;
using kernel::TernaryOp;

DType scalar_dtype(const Scalar& value) {
  return promote_scalar(DType::kBool, value);
}

DType promoted_dtype(const Arg& a, const Arg& b) {
  if (!a.is_tensor() && !b.is_tensor()) return promote_scalar(scalar_dtype(a.scalar()), b.scalar());
  if (!a.is_tensor()) return promote_scalar(b.tensor().dtype(), a.scalar());
  if (!b.is_tensor()) return promote_scalar(a.tensor().dtype(), b.scalar());
  return promote_types(a.tensor().dtype(), b.tensor().dtype());
}

Dims joined_shape(const Dims& shape, const Arg& arg, const char* name) {
  return arg.is_tensor() ? broadcast_shapes(shape, arg.tensor().sizes(), name) : shape;
}

kernel::Input operand(const Arg& arg, DType compute, Tensor& storage) {
  if (!arg.is_tensor()) return kernel::Input(arg.scalar(), compute);
  storage = cast_memory(arg.tensor(), compute);
  return kernel::Input(storage);
}

// The gradient goes where the condition chose the operand.
void where_backward(Backward& ctx, bool tensor_a, bool tensor_b) {
  const Tensor condition = ctx.saved(0);
  const size_t input_b = tensor_a ? 1 : 0;
  if (tensor_a && ctx.needs(0)) ctx.set(0, where(condition, ctx.grad(), 0));
  if (tensor_b && ctx.needs(input_b)) ctx.set(input_b, where(condition, 0, ctx.grad()));
}

}  // namespace

Tensor where(const Tensor& condition, const Arg& input, const Arg& other, Out out) {
  TSR_CHECK(condition.dtype() == DType::kBool, Code::kDType, "condition",
            "expected a bool tensor, got ", condition.dtype());
  const Tensor none;
  const Tensor& a = input.is_tensor() ? input.tensor() : none;
  const Tensor& b = other.is_tensor() ? other.tensor() : none;
  check_same_device(condition, a, "input");
  check_same_device(condition, b, "other");
  const DType compute = promoted_dtype(input, other);
  const Dims shape = joined_shape(joined_shape(condition.sizes(), input, "input"), other, "other");
  const bool grad = is_differentiable(compute) && needs_grad(a, b);
  Result result = allocate(out, shape, compute, condition.device(), grad, {&a, &b, &condition});
  if (result.value().numel() != 0) {
    Tensor cast_a;
    Tensor cast_b;
    const kernel::Elementwise walk(result.value(), {condition, operand(input, compute, cast_a),
                                                    operand(other, compute, cast_b)});
    kernel::launch<&KernelTable::ternary>(condition.device(), "ternary", TernaryOp::kWhere,
                                          walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    const auto derivative = [ta = a.defined(), tb = b.defined()](Backward& ctx) {
      where_backward(ctx, ta, tb);
    };
    if (a.defined() && b.defined()) {
      record(output, "WhereBackward", {a, b}, {save_input(condition)}, derivative);
    } else {
      record(output, "WhereBackward", {a.defined() ? a : b}, {save_input(condition)}, derivative);
    }
  }
  return output;
}

}  // namespace tsr::ops
