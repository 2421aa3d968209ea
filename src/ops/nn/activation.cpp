// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "autograd/forward.h"
#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/create.h"
#include "ops/nn/softmax.h"
#include "ops/opmath.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary_run.h"
#include "ops/random/random.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr auto kInput = UnarySaves::kInput;
// As in the functor.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

// An activation with up to two parameters, which its fused derivative takes too.
struct Activation {
  UnaryRule rule;
  // dL/dx in terms of ops, from g, x and the parameters.
  Tensor (*derivative)(const Tensor& g, const Tensor& x, double p0, double p1);

  Tensor operator()(const Tensor& input, double p0, double p1, const Out& out) const {
    return run_unary(rule, input, out, {p0, p1}, [row = this, p0, p1](Backward& ctx) {
      const Tensor x = ctx.saved(0);
      ctx.set(0, ctx.create_graph() ? row->derivative(in_opmath(ctx.grad()), in_opmath(x), p0, p1)
                                    : launch_fused(row->rule.fused, ctx.grad(), x, {p0, p1}));
    });
  }
};

// ---- derivatives in terms of ops ----

// g times a slope that is 1 right of 0, alpha rate exp(rate x) elsewhere.
Tensor d_elu(const Tensor& g, const Tensor& x, double alpha, double rate) {
  const Tensor right = greater(x, 0);
  const Tensor left = where(right, 0.0, x);  // large x would overflow
  const Tensor slope = multiply(exp(multiply(left, rate)), alpha * rate);
  return multiply(g, where(right, 1.0, slope));
}
Tensor d_selu(const Tensor& g, const Tensor& x) {
  return multiply(d_elu(g, x, kSeluAlpha, 1), kSeluScale);
}
Tensor d_softplus(const Tensor& g, const Tensor& x, double beta, double threshold) {
  const Tensor scaled = multiply(x, beta);
  return multiply(g, where(greater(scaled, threshold), 1.0, sigmoid(scaled)));
}
Tensor d_logsigmoid(const Tensor& g, const Tensor& x) {
  return multiply(g, sigmoid(negative(x)));
}
// t + x (1 - t²) σ(x) with t = tanh(softplus(x))
Tensor d_mish(const Tensor& g, const Tensor& x) {
  const Tensor t = tanh(softplus(x));
  const Tensor rise = multiply(multiply(x, subtract(1, square(t))), sigmoid(x));
  return multiply(g, add(t, rise));
}
Tensor d_hardtanh(const Tensor& g, const Tensor& x, double low, double high) {
  return where(logical_or(less_equal(x, low), greater_equal(x, high)), 0.0, g);
}
Tensor d_hardsigmoid(const Tensor& g, const Tensor& x) {
  return where(less(abs(x), 3), divide(g, 6), 0.0);
}
Tensor d_hardswish(const Tensor& g, const Tensor& x) {
  const Tensor slope = multiply(g, add(divide(x, 3), 0.5));
  return where(less_equal(x, -3), 0.0, where(greater_equal(x, 3), g, slope));
}
Tensor d_threshold(const Tensor& g, const Tensor& x, double threshold, double) {
  return where(less_equal(x, threshold), 0.0, g);
}
Tensor d_shrink(const Tensor& g, const Tensor& x, double lambda, double) {
  return where(less_equal(abs(x), lambda), 0.0, g);
}
Tensor d_softsign(const Tensor& g, const Tensor& x) {
  return divide(g, square(add(abs(x), 1)));
}
Tensor d_tanhshrink(const Tensor& g, const Tensor& x) {
  return multiply(g, square(tanh(x)));
}
Tensor softsign_of_complex(const Tensor& x) {
  return divide(x, add(abs(x), 1));
}
Tensor tanhshrink_of_complex(const Tensor& x) {
  return subtract(x, tanh(x));
}

constexpr UnaryRule rule_of(UnaryOp op, const char* node, BinaryOp fused) {
  return {op, node, UnaryType::kFloating, kInput, nullptr, fused};
}
constexpr Activation kElu{rule_of(UnaryOp::kElu, "EluBackward", BinaryOp::kEluGrad), d_elu};
constexpr Activation kCelu{rule_of(UnaryOp::kElu, "CeluBackward", BinaryOp::kEluGrad), d_elu};
constexpr Activation kHardtanh{
    rule_of(UnaryOp::kHardtanh, "HardtanhBackward", BinaryOp::kHardtanhGrad), d_hardtanh};

// hardtanh of integers, whose limits lose their fractions.
Tensor limited(const Tensor& input, double low, double high, const Out& out) {
  const auto whole = [](double limit) {
    constexpr double kMost = 9.2e18;
    return Scalar(static_cast<int64_t>(std::clamp(limit, -kMost, kMost)));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return clip(input, whole(std::isnan(low) ? -kInfinity : low),
              whole(std::isnan(high) ? kInfinity : high), out);
}

constexpr Activation kSoftplus{
    rule_of(UnaryOp::kSoftplus, "SoftplusBackward", BinaryOp::kSoftplusGrad), d_softplus};
constexpr Activation kSoftshrink{
    rule_of(UnaryOp::kSoftshrink, "SoftshrinkBackward", BinaryOp::kShrinkGrad), d_shrink};
constexpr Activation kHardshrink{
    rule_of(UnaryOp::kHardshrink, "HardshrinkBackward", BinaryOp::kShrinkGrad), d_shrink};
constexpr Activation kThreshold{
    rule_of(UnaryOp::kThreshold, "ThresholdBackward", BinaryOp::kThresholdGrad), d_threshold};

// ---- prelu: two operands ----

Tensor prelu_x(const BinaryContext& ctx) {
  return multiply(ctx.g, where(greater(ctx.a, 0), 1.0, ctx.b));
}
Tensor prelu_weight(const BinaryContext& ctx) {
  return where(greater(ctx.a, 0), 0.0, multiply(ctx.g, ctx.a));
}
constexpr Binary kPrelu{{BinaryOp::kPrelu,
                         "PreluBackward",
                         BinaryType::kFloatReal,
                         {kSaveA | kSaveB, prelu_x},
                         {kSaveA, prelu_weight}}};

// One number per channel as an operand that broadcasts over the others.
Tensor per_channel(const Tensor& weight, const Tensor& input) {
  if (weight.numel() == 1) return reshape(weight, {});
  const int64_t channels = input.ndim() < 2 ? 1 : input.size(1);
  TSR_CHECK(weight.ndim() == 1 && weight.size(0) == channels, Code::kShape, "weight",
            "expected 1 number, or ", channels, " numbers, one per channel of an input of shape ",
            input.sizes(), ", got shape ", weight.sizes());
  Dims shape(static_cast<size_t>(input.ndim()), int64_t{1});
  shape[1] = channels;
  return reshape(weight, shape);
}

// ---- glu: a σ(b) ----

struct Halves {
  Tensor a, b;
};
Halves halves_of(const Tensor& x, int64_t axis) {
  const int64_t half = x.size(axis) / 2;
  return {narrow_memory(x, axis, 0, half), narrow_memory(x, axis, half, half)};
}

Tensor fused_glu_derivative(const Tensor& g, const Tensor& x, int64_t axis) {
  Tensor result = empty(x.sizes(), x.dtype(), x.device());
  if (result.numel() == 0) return result;
  const Halves in = halves_of(x, axis);
  const Halves out = halves_of(result, axis);
  const Tensor slope = g.detached();
  const kernel::Elementwise first(out.a, {slope, in.b});
  kernel::launch(kernel::kBinary, x.device(), BinaryOp::kGate, first.plan());
  const kernel::Elementwise second(out.b, {slope, in.a, in.b});
  kernel::launch(kernel::kTernary, x.device(), kernel::TernaryOp::kGateGrad, second.plan());
  return result;
}

Tensor glu_derivative(const Tensor& g, const Tensor& x, int64_t axis) {
  const int64_t half = x.size(axis) / 2;
  const Tensor s = sigmoid(narrow(x, axis, half, half));
  const Tensor to_a = multiply(g, s);
  const Tensor to_b = multiply(multiply(to_a, subtract(1, s)), narrow(x, axis, 0, half));
  const std::array<Tensor, 2> parts{to_a, to_b};
  return ops::concat(std::span<const Tensor>(parts), axis);
}

// 1 at the largest of each line along the axis, else 0.
Tensor one_hot_of_largest(const Tensor& x, int64_t axis) {
  const int64_t size = x.ndim() == 0 ? 1 : x.size(axis);
  Dims shape(static_cast<size_t>(x.ndim()), int64_t{1});
  if (x.ndim() > 0) shape[static_cast<size_t>(axis)] = size;
  const Tensor places = reshape(arange(0, size, 1, DType::kInt64, x.device()), shape);
  return astype(equal(places, argmax(x, axis, true)), x.dtype());
}

}  // namespace

Tensor elu(const Tensor& input, double alpha, Out out) {
  return kElu(input, alpha, 1, out);
}

Tensor celu(const Tensor& input, double alpha, Out out) {
  TSR_CHECK(alpha != 0, Code::kValue, "alpha", "expected a number other than 0, got ", alpha);
  return kCelu(input, alpha, 1 / alpha, out);
}

Tensor hardtanh(const Tensor& input, double min_val, double max_val, Out out) {
  TSR_CHECK(!(min_val > max_val), Code::kValue, "max_val", "expected at least min_val = ", min_val,
            ", got ", max_val);
  if (is_integral(input.dtype())) return limited(input, min_val, max_val, out);
  return kHardtanh(input, min_val, max_val, out);
}

Tensor relu6(const Tensor& input, Out out) {
  return hardtanh(input, 0, 6, out);
}

Tensor softplus(const Tensor& input, double beta, double threshold, Out out) {
  TSR_CHECK(beta != 0, Code::kValue, "beta", "expected a number other than 0, got ", beta);
  return kSoftplus(input, beta, threshold, out);
}

Tensor softshrink(const Tensor& input, double lambd, Out out) {
  TSR_CHECK(lambd >= 0, Code::kValue, "lambd", "expected at least 0, got ", lambd);
  return kSoftshrink(input, lambd, 0, out);
}

Tensor hardshrink(const Tensor& input, double lambd, Out out) {
  TSR_CHECK(lambd >= 0, Code::kValue, "lambd", "expected at least 0, got ", lambd);
  return kHardshrink(input, lambd, 0, out);
}

Tensor threshold(const Tensor& input, double limit, double value, Out out) {
  return kThreshold(input, limit, value, out);
}

Tensor prelu(const Tensor& input, const Tensor& weight, Out out) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  check_like(weight, "weight", input);
  return kPrelu(input, per_channel(weight, input), out);
}

Tensor glu(const Tensor& input, int64_t axis, Out out) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input", "expected at least 1 dimension, got 0");
  const int64_t along = wrap_axis(axis, input.ndim());
  TSR_CHECK(input.size(along) % 2 == 0, Code::kShape, "input", "expected an even size on axis ",
            along, ", got shape ", input.sizes());
  const bool grad = needs_grad(input);
  const Halves in = halves_of(input.detached(), along);
  Result result = allocate_apart(out, in.a.sizes(), input.dtype(), input.device(), grad, {&input});
  if (result.value().numel() != 0) {
    const kernel::Elementwise walk(result.value(), {in.a, in.b});
    kernel::launch(kernel::kBinary, input.device(), BinaryOp::kGate, walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, "GluBackward", {input}, {save_input(input)},
           TakesBatches{[along](Backward& ctx) {
             const Tensor x = for_samples(ctx, ctx.saved(0));
             const int64_t place = along + ctx.lead();
             ctx.set(0, ctx.create_graph() ? glu_derivative(ctx.grad(), x, place)
                                           : fused_glu_derivative(ctx.grad(), x, place));
           }});
  }
  return output;
}

Tensor softmin(const Tensor& input, int64_t axis, std::optional<DType> dtype, Out out) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  // Converted first: the negative of an integer may be out of its dtype's range.
  if (is_integral(input.dtype()) && !dtype.has_value()) dtype = default_dtype();
  const Tensor x = dtype.has_value() ? astype(input, *dtype) : input;
  return softmax(negative(x), axis, dtype, out);
}

Tensor gumbel_softmax(const Tensor& input, double tau, bool hard, int64_t axis,
                      Generator* generator) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(tau > 0, Code::kValue, "tau", "expected a number above 0, got ", tau);
  const int64_t along = wrap_axis(axis, input.ndim());
  Tensor noise;
  {
    const Unrecorded pause;
    const DType wide = kernel::opmath(input.dtype());
    const Tensor uniform = rand(input.sizes(), wide, input.device(), generator);
    noise = astype(negative(log(negative(log(uniform)))), input.dtype());
  }
  const Tensor soft = softmax(divide(add(input, noise), tau), along);
  if (!hard) return soft;
  const Tensor chosen = one_hot_of_largest(soft.detached(), along);
  return add(subtract(chosen, soft.detached()), soft);
}

// ---- the rows ----
// clang-format off
constinit const Unary selu{{UnaryOp::kSelu, "SeluBackward", UnaryType::kFloating, kInput, d_selu, BinaryOp::kSeluGrad}};
constinit const Unary mish{{UnaryOp::kMish, "MishBackward", UnaryType::kFloating, kInput, d_mish, BinaryOp::kMishGrad}};
constinit const Unary hardswish{{UnaryOp::kHardswish, "HardswishBackward", UnaryType::kFloating, kInput, d_hardswish, BinaryOp::kHardswishGrad}};
constinit const Unary hardsigmoid{{UnaryOp::kHardsigmoid, "HardsigmoidBackward", UnaryType::kFloating, kInput, d_hardsigmoid, BinaryOp::kHardsigmoidGrad}};
constinit const Unary softsign{{UnaryOp::kSoftsign, "SoftsignBackward", UnaryType::kFloatReal, kInput, d_softsign, BinaryOp::kSoftsignGrad, softsign_of_complex}};
constinit const Unary tanhshrink{{UnaryOp::kTanhshrink, "TanhshrinkBackward", UnaryType::kFloatReal, kInput, d_tanhshrink, BinaryOp::kTanhshrinkGrad, tanhshrink_of_complex}};
constinit const Unary logsigmoid{{UnaryOp::kLogsigmoid, "LogsigmoidBackward", UnaryType::kFloating, kInput, d_logsigmoid, BinaryOp::kLogsigmoidGrad}};
// clang-format on

}  // namespace tsr::ops
