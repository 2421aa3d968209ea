// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// run_unary: the five verbs of a unary op whose row has parameters, for the op files that have such
// rows.
#pragma once

#include <initializer_list>
#include <utility>

#include "ops/create/copy.h"
#include "ops/pointwise/dual.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {

// The dtype that the kernel computes in; throws kDType.
DType compute_dtype(UnaryType type, DType dtype);
DType result_dtype(UnaryType type, DType compute);
void launch_unary(kernel::UnaryOp op, const Tensor& result, const Tensor& source,
                  std::initializer_list<double> params);
// A fresh result of contiguous elements, of which there are some, that the kernel takes as they
// are.
Tensor launch_plain(kernel::UnaryOp op, const Tensor& source, DType dtype,
                    std::initializer_list<double> params);
// One kernel for g and what the forward saved; outside any graph.
Tensor launch_fused(kernel::BinaryOp op, const Tensor& g, const Tensor& saved,
                    std::initializer_list<double> params);

// Whether there may be a kernel for the value and its tangent.
inline bool has_dual(const UnaryRule& rule) {
  return rule.fused != kernel::BinaryOp::kNone || rule.op == kernel::UnaryOp::kNegative;
}

// Sets the tangent of `output` by the rule's fused derivative in the common case of forward mode.
// False: another case, and nothing has been done.
bool push_fused(const UnaryRule& rule, const Tensor& input, const Tensor& saved,
                const Tensor& output, std::initializer_list<double> params);

// `params` are the plan's, also of the fused derivative; `derivative(ctx)` may hold them. The rule
// says what is saved, as ctx.saved(0).
template <class Derivative>
Tensor run_unary(const UnaryRule& rule, const Tensor& input, const Out& out,
                 std::initializer_list<double> params, Derivative derivative) {
  const DType compute = compute_dtype(rule.type, input.dtype());
  const bool grad = rule.node != nullptr && is_differentiable(compute) && needs_grad(input);
  if (grad && has_dual(rule) && forward_enabled() && out.is_fresh()) [[unlikely]] {
    if (Tensor value = dual_unary(rule, input, compute, params); value.defined()) return value;
  }
  const bool rounds = rule.type == UnaryType::kRounding || rule.type == UnaryType::kRoundingParts;
  const bool copies = rounds && is_integral_or_bool(compute);
  // The in-place form destroys what the derivative wants to read.
  const bool keep = grad && out.is_inplace() && rule.saves == UnarySaves::kInput;
  const Tensor original = keep ? clone(input) : Tensor();
  Tensor output;
  // Note [Plain calls] in binary.cpp
  if (out.is_fresh() && input.is_contiguous() && input.dtype() == compute && !copies &&
      input.numel() != 0) {
    output = launch_plain(rule.op, input, result_dtype(rule.type, compute), params);
  } else {
    Result result = allocate(out, input.sizes(), result_dtype(rule.type, compute), input.device(),
                             grad, {&input});
    if (copies) {
      if (!result.value().is_same(input)) copy_memory(result.value(), input);
    } else {
      const bool cast = input.dtype() != compute;
      const Tensor converted = cast ? cast_memory(input, compute) : Tensor();
      launch_unary(rule.op, result.value(), cast ? converted : input, params);
    }
    output = result.finish();
  }
  if (grad) {
    const Tensor none;
    if (rule.fused != kernel::BinaryOp::kNone && forward_enabled()) [[unlikely]] {
      const Tensor& saved = rule.saves == UnarySaves::kOutput ? output : input;
      if (push_fused(rule, input, saved, output, params)) return output;
    }
    const Save save = rule.saves == UnarySaves::kOutput  ? save_output(output)
                      : rule.saves == UnarySaves::kInput ? save_input(keep ? original : input)
                                                         : save_input(none);
    const bool holomorphic = rule.type != UnaryType::kMagnitude && rule.type != UnaryType::kAngle &&
                             rule.op != kernel::UnaryOp::kSign;
    if (holomorphic || !is_complex(compute)) {
      record(output, rule.node, {input}, {save}, std::move(derivative), kElementwise);
    } else {
      record(output, rule.node, {input}, {save}, TakesBatches{std::move(derivative)});
    }
  }
  return output;
}

}  // namespace tsr::ops
