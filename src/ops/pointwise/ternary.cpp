// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/ternary.h"

#include <array>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/round_once.h"
#include "ops/pointwise/unary_run.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

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

// A number, which only where() has here, is an element of the result.
kernel::Input operand(const Arg& arg, DType compute, Tensor& storage) {
  if (!arg.is_tensor()) return kernel::Input(arg.scalar(), compute);
  storage = cast_memory(arg.tensor(), compute);
  return kernel::Input(storage);
}

// Each operand gets the gradient of the elements that the condition took from it.
void where_backward(Backward& ctx, bool tensor_a, bool tensor_b) {
  const Tensor condition = ctx.saved(0);
  const size_t input_b = tensor_a ? 1 : 0;
  if (tensor_a && ctx.needs(0)) ctx.set(0, where(condition, ctx.grad(), 0));
  if (tensor_b && ctx.needs(input_b)) ctx.set(input_b, where(condition, 0, ctx.grad()));
}

// input op (tensor1, tensor2): the launch that lerp, addcmul and addcdiv share.
struct Ternary {
  TernaryOp op;
  Arg a, b, c;
  const char* name_b = "tensor1";
  const char* name_c = "tensor2";
  Scalar parameter = 0;
};

void refuse_inexact_only(DType dtype) {
  TSR_CHECK(is_differentiable(dtype), Code::kDType, "input",
            "expected a floating or complex dtype, got ", dtype);
}

DType common_dtype(const Ternary& call) {
  DType dtype = promote_types(call.a.tensor().dtype(), call.b.tensor().dtype());
  return call.c.is_tensor() ? promote_types(dtype, call.c.tensor().dtype())
                            : promote_scalar(dtype, call.c.scalar());
}

Tensor run(const Ternary& call, bool grad, const Out& out) {
  const Tensor none;
  const Tensor& third = call.c.is_tensor() ? call.c.tensor() : none;
  check_same_device(call.a.tensor(), call.b.tensor(), call.name_b);
  check_same_device(call.a.tensor(), third, call.name_c);
  const DType compute = common_dtype(call);
  const Dims shape =
      joined_shape(joined_shape(call.a.tensor().sizes(), call.b, call.name_b), call.c, call.name_c);
  Result result = allocate(out, shape, compute, call.a.tensor().device(), grad,
                           {&call.a.tensor(), &call.b.tensor(), &third});
  if (result.value().numel() != 0) {
    Tensor cast_a;
    Tensor cast_b;
    Tensor cast_c;
    kernel::Elementwise walk(result.value(),
                             {operand(call.a, compute, cast_a), operand(call.b, compute, cast_b),
                              operand(call.c, compute, cast_c)});
    walk.param(0, call.parameter, compute);
    kernel::launch(kernel::kTernary, result.value().device(), call.op, walk.plan());
  }
  return result.finish();
}

// A number as weight is a parameter of the kernel, so that it stays in a register.
Tensor lerp_by(const Tensor& from, const Tensor& to, const Scalar& weight, DType compute, bool grad,
               const Out& out) {
  check_same_device(from, to, "other");
  const Dims shape = broadcast_shapes(from.sizes(), to.sizes(), "other");
  Result result = allocate(out, shape, compute, from.device(), grad, {&from, &to});
  if (result.value().numel() != 0) {
    const Tensor a = cast_memory(from, compute);
    const Tensor b = cast_memory(to, compute);
    kernel::Elementwise walk(result.value(), {a, b});
    walk.param(0, weight, compute);
    kernel::launch(kernel::kBinary, from.device(), kernel::BinaryOp::kLerpBy, walk.plan());
  }
  return result.finish();
}

// A bool or integer weight counts as a real number; promotion must not reduce it to an integer
// dtype.
Arg real_weight(const Arg& weight) {
  const bool whole = !weight.is_tensor() && weight.scalar().category() <= Category::kIntegral;
  return whole ? Arg(weight.scalar().to<double>()) : weight;
}

bool is_one(const Scalar& value) {
  return value.category() != Category::kComplex && value.to<double>() == 1;
}

// 1 if the input lies inside the bounds or on them.
Tensor inside(const Tensor& input, const Arg* min, const Arg* max) {
  if (min == nullptr) return less_equal(input, *max);
  const Tensor above = greater_equal(input, *min);
  return max == nullptr ? above : logical_and(above, less_equal(input, *max));
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
  if (!input.is_tensor()) check_fits(input.scalar(), compute, "input");
  if (!other.is_tensor()) check_fits(other.scalar(), compute, "other");
  const Dims shape = joined_shape(joined_shape(condition.sizes(), input, "input"), other, "other");
  const bool grad = is_differentiable(compute) && needs_grad(a, b);
  Result result = allocate(out, shape, compute, condition.device(), grad, {&condition, &a, &b});
  if (result.value().numel() != 0) {
    Tensor cast_a;
    Tensor cast_b;
    const kernel::Elementwise walk(result.value(), {condition, operand(input, compute, cast_a),
                                                    operand(other, compute, cast_b)});
    kernel::launch(kernel::kTernary, condition.device(), TernaryOp::kWhere, walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    const auto derivative = [ta = a.defined(), tb = b.defined()](Backward& ctx) {
      where_backward(ctx, ta, tb);
    };
    if (a.defined() && b.defined()) {
      record(output, "WhereBackward", {a, b}, {save_input(condition)}, derivative, kElementwise);
    } else {
      record(output, "WhereBackward", {a.defined() ? a : b}, {save_input(condition)}, derivative,
             kElementwise);
    }
  }
  return output;
}

Tensor lerp(const Tensor& input, const Tensor& other, const Arg& given, Out out) {
  const Arg weight = real_weight(given);
  const Ternary call{TernaryOp::kLerp, input, other, weight, "other", "weight"};
  refuse_inexact_only(common_dtype(call));
  const Tensor none;
  const bool tensor_weight = weight.is_tensor();
  const Tensor& w = tensor_weight ? weight.tensor() : none;
  const bool grad = needs_grad(input, other, w);
  const bool slope = tensor_weight && needs_grad(w);
  const Tensor start = out.is_inplace() && slope ? clone(input) : input;
  const std::array saves{save_input(w), save_input(slope ? start : none),
                         save_input(slope ? other : none)};
  if (grad) check_saves(saves);
  Tensor output = tensor_weight
                      ? run(call, grad, out)
                      : lerp_by(input, other, weight.scalar(), common_dtype(call), grad, out);
  if (!grad) return output;
  // The slot of an absent weight stays undefined.
  record(
      output, "LerpBackward", {input, other, w}, saves,
      [tensor_weight, scalar = weight.scalar()](Backward& ctx) {
        const Tensor kept = tensor_weight ? conj_of(ctx.saved(0)) : Tensor();
        const Arg factor = tensor_weight ? Arg(kept) : Arg(conj_of(scalar));
        if (ctx.needs(0)) {
          ctx.set(0, round_once({&ctx.grad(), &kept}, [&](std::span<const Tensor> wide) {
                    const Arg by = tensor_weight ? Arg(wide[1]) : factor;
                    return subtract(wide[0], multiply(wide[0], by));
                  }));
        }
        if (ctx.needs(1)) ctx.set(1, multiply(ctx.grad(), factor));
        if (tensor_weight && ctx.needs(2)) {
          const Tensor from = ctx.saved(1);
          const Tensor to = ctx.saved(2);
          ctx.set(2, round_once({&ctx.grad(), &from, &to}, [](std::span<const Tensor> wide) {
                    return multiply(wide[0], conj_of(subtract(wide[2], wide[1])));
                  }));
        }
      },
      kElementwise);
  return output;
}

Tensor addcmul(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value, Out out) {
  const Ternary call{TernaryOp::kAddcmul, input, tensor1, tensor2, "tensor1", "tensor2", value};
  const DType compute = common_dtype(call);
  TSR_CHECK(compute != DType::kBool, Code::kDType, "input", "expected numbers, got ", compute);
  check_holds(value, compute, "value");
  const bool grad = is_differentiable(compute) && needs_grad(input, tensor1, tensor2);
  const Tensor none;
  const std::array saves{save_input(grad && needs_grad(tensor2) ? tensor1 : none),
                         save_input(grad && needs_grad(tensor1) ? tensor2 : none)};
  check_saves(saves);
  Tensor output = run(call, grad, out);
  if (!grad) return output;
  record(
      output, "AddcmulBackward", {input, tensor1, tensor2}, saves,
      [value](Backward& ctx) {
        if (ctx.needs(0)) ctx.set(0, ctx.grad());
        if (!ctx.needs(1) && !ctx.needs(2)) return;
        const auto slope = [&](const Tensor& other) {
          if (is_one(value)) return multiply(ctx.grad(), conj_of(other));
          return round_once({&ctx.grad(), &other}, [&](std::span<const Tensor> wide) {
            return multiply(multiply(wide[0], conj_of(value)), conj_of(wide[1]));
          });
        };
        if (ctx.needs(1)) ctx.set(1, slope(ctx.saved(1)));
        if (ctx.needs(2)) ctx.set(2, slope(ctx.saved(0)));
      },
      kElementwise);
  return output;
}

Tensor addcdiv(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value, Out out) {
  const Ternary call{TernaryOp::kAddcdiv, input, tensor1, tensor2, "tensor1", "tensor2", value};
  refuse_inexact_only(common_dtype(call));
  check_holds(value, common_dtype(call), "value");
  const bool grad = needs_grad(input, tensor1, tensor2);
  const Tensor none;
  const std::array saves{save_input(grad && needs_grad(tensor2) ? tensor1 : none),
                         save_input(grad && needs_grad(tensor1, tensor2) ? tensor2 : none)};
  check_saves(saves);
  Tensor output = run(call, grad, out);
  if (!grad) return output;
  record(
      output, "AddcdivBackward", {input, tensor1, tensor2}, saves,
      [value](Backward& ctx) {
        if (ctx.needs(0)) ctx.set(0, ctx.grad());
        if (!ctx.needs(1) && !ctx.needs(2)) return;
        const Tensor divisor = ctx.saved(1);
        const auto quotient = [&](const Tensor& g, const Tensor& by) {
          return divide(multiply(g, conj_of(value)), conj_of(by));
        };
        if (ctx.needs(1)) {
          ctx.set(1, round_once({&ctx.grad(), &divisor}, [&](std::span<const Tensor> wide) {
                    return quotient(wide[0], wide[1]);
                  }));
        }
        if (ctx.needs(2)) {
          const Tensor over = ctx.saved(0);
          ctx.set(2, round_once({&ctx.grad(), &divisor, &over}, [&](std::span<const Tensor> wide) {
                    const Tensor ratio = divide(conj_of(wide[2]), conj_of(wide[1]));
                    return negative(multiply(quotient(wide[0], wide[1]), ratio));
                  }));
        }
      },
      kElementwise);
  return output;
}

namespace {

// clip without a bound.
Tensor unlimited(const Tensor& input, const Out& out) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected real numbers, got ",
            input.dtype());
  return out.is_inplace() ? input : clone(input, out);
}

// The values of clip, without a record; `compute` is the dtype of the result.
Tensor clip_values(const Tensor& input, const std::optional<Scalar>& min,
                   const std::optional<Scalar>& max, DType compute, bool grad, const Out& out) {
  Result result = allocate(out, input.sizes(), compute, input.device(), grad, {&input});
  if (!min.has_value() || !max.has_value() || compute == DType::kBool) {
    // maximum or minimum with a number, without autograd: clip records its own derivative. Bools
    // have no kernel for two bounds.
    const Tensor given = input.detached();
    const Tensor target = result.value().detached();
    const bool both = min.has_value() && max.has_value();
    const Tensor plain = both ? maximum(given, *min) : given;
    if (!max.has_value()) {
      maximum(plain, *min, Out::into(target));
    } else {
      minimum(plain, *max, Out::into(target));
    }
    return result.finish();
  }
  if (result.value().numel() == 0) return result.finish();
  const Tensor source = cast_memory(input, compute);
  if (is_floating(compute) && min->to<double>() <= max->to<double>()) {
    // The same function with the bounds as parameters, which stay in registers.
    launch_unary(kernel::UnaryOp::kHardtanh, result.value(), source,
                 {min->to<double>(), max->to<double>()});
  } else {
    const DType number = kernel::opmath(compute);
    const kernel::Elementwise walk(
        result.value(), {source, kernel::Input(*min, number), kernel::Input(*max, number)});
    kernel::launch(kernel::kTernary, input.device(), TernaryOp::kClip, walk.plan());
  }
  return result.finish();
}

}  // namespace

Tensor clip(const Tensor& input, std::optional<Scalar> min, std::optional<Scalar> max, Out out) {
  if (!min.has_value() && !max.has_value()) return unlimited(input, out);
  DType compute = input.dtype();
  if (min.has_value()) compute = promote_scalar(compute, *min);
  if (max.has_value()) compute = promote_scalar(compute, *max);
  TSR_CHECK(!is_complex(compute), Code::kDType, "input", "expected real numbers, got ", compute);
  if (is_integral(compute)) {
    // A bound outside the dtype's range on its own side has no effect. On the other side it would
    // exclude every number of the dtype, and throws.
    if (min.has_value() && fit_of(*min, compute) == Fit::kBelow) min = lowest_of(compute);
    if (max.has_value() && fit_of(*max, compute) == Fit::kAbove) max = highest_of(compute);
    if (min.has_value()) check_fits(*min, compute, "min");
    if (max.has_value()) check_fits(*max, compute, "max");
  }
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const Tensor original = out.is_inplace() && grad ? clone(input) : input;
  const Tensor output = clip_values(input, min, max, compute, grad, out);
  if (grad) {
    record(
        output, "ClipBackward", {input}, {save_input(original)},
        [min, max](Backward& ctx) {
          const Arg low = min.has_value() ? Arg(*min) : Arg(0);
          const Arg high = max.has_value() ? Arg(*max) : Arg(0);
          const Tensor mask = inside(ctx.saved(0), min.has_value() ? &low : nullptr,
                                     max.has_value() ? &high : nullptr);
          ctx.set(0, where(mask, ctx.grad(), 0));
        },
        kElementwise);
  }
  return output;
}

// min(max(x, low), high). Its gradient goes to the input inside the bounds, and to a bound outside.
Tensor clip(const Tensor& input, const Tensor& min, const Tensor& max, Out out) {
  if (!min.defined() && !max.defined()) return unlimited(input, out);
  const bool grad = needs_grad(input, min) || needs_grad(max);
  // Of two equal numbers, 0 and -0, these give the second.
  if (!grad && !max.defined()) return maximum(min, input, out);
  if (!grad && !min.defined()) return minimum(max, input, out);
  if (!grad && min.defined() && max.defined()) {
    const Ternary call{TernaryOp::kClip, input, min, max, "min", "max"};
    const DType compute = common_dtype(call);
    if (compute != DType::kBool && !is_complex(compute)) return run(call, false, out);
  }
  Tensor limited = input;
  // A NaN limit gives NaN, as it does in the kernel.
  const auto applies = [](const Tensor& beyond, const Tensor& limit) {
    return is_floating(limit.dtype()) ? logical_or(beyond, isnan(limit)) : beyond;
  };
  if (min.defined()) limited = where(applies(less(limited, min), min), min, limited);
  if (max.defined()) limited = where(applies(greater(limited, max), max), max, limited);
  if (out.is_inplace()) return copy_(input, limited);
  return out.is_fresh() ? limited : clone(limited, out);
}

}  // namespace tsr::ops
