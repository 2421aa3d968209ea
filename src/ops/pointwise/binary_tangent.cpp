// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/binary_tangent.h"

#include <algorithm>

#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary_run.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;

// Whether the CPU's kernel of sums of products takes these: no casts, no strides.
bool are_dense(std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  if (!first.device().is_cpu() || itemsize(first.dtype()) < 4) return false;
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor* tensor) {
    return tensor->is_contiguous() && tensor->dtype() == first.dtype() &&
           tensor->sizes() == first.sizes();
  });
}

// a b + c d in one pass.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
  const Tensor result = empty_dense_like(a, a.dtype(), a.device());
  if (result.numel() == 0) return result;
  const kernel::Elementwise walk(result, {a, b, c, d});
  kernel::launch(kernel::kSumOfProducts, result.device(), walk.plan());
  return result;
}

// a b; in one kernel and no more where nothing is to be recorded, cast or broadcast.
Tensor product(const Tensor& a, const Tensor& b) {
  const bool plain = !recording_enabled() && a.dtype() == b.dtype() && a.sizes() == b.sizes();
  return plain ? launch_fused(BinaryOp::kMultiply, a, b, {}) : multiply(a, b);
}

// Sets the tangent of a product in the common case of forward mode, in one kernel. False: another
// case, and nothing has been done.
bool push_product(const Tensor& output, const Tensor& a, const Tensor& b) {
  LoneTangents lone;
  if (output.is_same(a) || !lone.find({a, b})) return false;
  if (!lone.any()) return true;
  // A tangent has the dtype and the shape of its factor.
  const bool alike = a.is_same(b) || (a.dtype() == b.dtype() && a.sizes() == b.sizes());
  if (!alike || !lone.are_plain()) return false;
  const Tensor& of_a = lone[0];
  const Tensor& of_b = lone[1];
  if (!of_b.defined()) {
    lone.give(output, launch_fused(BinaryOp::kMultiply, of_a, b, {}));
  } else if (!of_a.defined()) {
    lone.give(output, launch_fused(BinaryOp::kMultiply, of_b, a, {}));
  } else {
    return false;
  }
  return true;
}

// The same for a sum or a difference whose tangent is that of one operand.
bool push_sum(const BinaryRule& rule, const Tensor& output, const Arg& a, const Arg& b) {
  const Tensor none;
  const Tensor& first = a.is_tensor() ? a.tensor() : none;
  const Tensor& second = b.is_tensor() ? b.tensor() : none;
  LoneTangents lone;
  if (output.is_same(first) || output.is_same(second) || !lone.find({first, second})) return false;
  if (!lone.any()) return true;
  const bool negated = rule.op == BinaryOp::kSubtract;
  if (!lone.are_plain() || (lone[1].defined() && (negated || lone[0].defined()))) return false;
  const Tensor& tangent = lone[0].defined() ? lone[0] : lone[1];
  if (tangent.dtype() != output.dtype() || tangent.sizes() != output.sizes()) return false;
  lone.give(output, tangent);
  return true;
}

}  // namespace

Tensor pushed_product(const Forward& ctx, uint8_t saves) {
  const auto b = [&] { return ctx.saved((saves & kSaveA) != 0 ? 1 : 0); };
  if (!ctx.has(1)) return product(ctx.tangent(0), b());
  if (!ctx.has(0)) return product(ctx.saved(0), ctx.tangent(1));
  const Tensor a = ctx.saved(0);
  const Tensor& t = ctx.tangent(1);
  if (const Tensor other = b();
      !recording_enabled() && are_dense({&ctx.tangent(0), &other, &a, &t})) {
    return sum_of_products(ctx.tangent(0), other, a, t);
  }
  const Tensor first = multiply(ctx.tangent(0), b());
  // In the memory of the first product where that has the shape of the sum.
  const bool here = !recording_enabled() &&
                    broadcast_shapes(a.sizes(), t.sizes()) == first.sizes() &&
                    promote_types(a.dtype(), t.dtype()) == first.dtype();
  return addcmul(first, a, t, 1, here ? Out::inplace(first) : Out());
}

bool push_lone(const BinaryRule& rule, const Tensor& output, const Arg& a, const Arg& b) {
  if (rule.op == BinaryOp::kAdd || rule.op == BinaryOp::kSubtract)
    return push_sum(rule, output, a, b);
  return rule.op == BinaryOp::kMultiply && a.is_tensor() && b.is_tensor() &&
         push_product(output, a.tensor(), b.tensor());
}

}  // namespace tsr::ops
