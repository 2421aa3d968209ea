// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rarer rows of binary.h, with their derivatives.
#include <cmath>
#include <numbers>

#include "ops/create/copy.h"
#include "ops/pointwise/binary_grad.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;

Tensor pass(const BinaryContext& ctx) {
  return ctx.g;
}
Tensor zero(const BinaryContext& ctx) {
  return zeros_of(ctx.g);
}
// The product of both signs, 0 where a is 0.
Tensor copysign_a(const BinaryContext& ctx) {
  const Tensor own = sign(ctx.a.tensor());
  return multiply(ctx.g, multiply(own, copysign(own, ctx.b)));
}
// e^a / (e^a + e^b) = σ(a - b)
Tensor logaddexp_a(const BinaryContext& ctx) {
  return multiply(ctx.g, sigmoid(subtract(ctx.a, ctx.b)));
}
Tensor logaddexp_b(const BinaryContext& ctx) {
  return multiply(ctx.g, sigmoid(subtract(ctx.b, ctx.a)));
}
Tensor logaddexp2_a(const BinaryContext& ctx) {
  return multiply(ctx.g, sigmoid(multiply(subtract(ctx.a, ctx.b), std::numbers::ln2)));
}
Tensor logaddexp2_b(const BinaryContext& ctx) {
  return multiply(ctx.g, sigmoid(multiply(subtract(ctx.b, ctx.a), std::numbers::ln2)));
}
// The number with the larger real part, and the logarithm of what the other one adds to it.
Tensor logaddexp_of_complex(const Tensor& a, const Tensor& b) {
  const Tensor swapped = less(real(a.detached()), real(b.detached()));
  const Tensor larger = where(swapped, b, a);
  const Tensor finite = isfinite(real(larger.detached()));
  const Tensor step = where(finite, subtract(where(swapped, a, b), larger), 0);
  return add(larger, log1p(exp(step)));
}
// log b, and 0 where a is 0 and b not above 0
Tensor xlogy_a(const BinaryContext& ctx) {
  if (!ctx.b.is_tensor()) {
    const double b = ctx.b.scalar().to<double>();
    if (b > 0) return multiply(ctx.g, std::log(b));
    return multiply(ctx.g, where(equal(ctx.a, 0), 0.0, std::log(b)));
  }
  const Tensor flat = logical_and(equal(ctx.a, 0), less_equal(ctx.b, 0));
  return multiply(ctx.g, log(where(flat, 1.0, ctx.b)));
}
Tensor xlogy_b(const BinaryContext& ctx) {
  return multiply(ctx.g, divide(ctx.a, ctx.b));
}
Tensor ldexp_a(const BinaryContext& ctx) {
  return ldexp(ctx.g, ctx.b);
}
Tensor ldexp_b(const BinaryContext& ctx) {
  return multiply(ctx.g, multiply(ctx.y, std::numbers::ln2));
}
// A real exponent has the precision of the complex number.
Tensor ldexp_of_complex(const Tensor& a, const Tensor& b) {
  const DType wide = real_dtype(promote_types(a.dtype(), b.dtype()));
  return multiply(a, pow(2.0, is_complex(b.dtype()) ? b : astype(b, wide)));
}
// a - b trunc(a / b)
Tensor fmod_b(const BinaryContext& ctx) {
  return negative(multiply(ctx.g, trunc(divide(ctx.a, ctx.b))));
}
// Where the first operand is what fmax or fmin returns: it wins against NaN, two of them too.
Tensor first_wins(const BinaryContext& ctx, const Binary& wins) {
  const Tensor won = wins(ctx.a, ctx.b);
  if (ctx.b.is_tensor()) return logical_or(won, isnan(ctx.b.tensor()));
  return logical_or(won, std::isnan(ctx.b.scalar().to<double>()));
}
// If both are equal, each gets half of the gradient.
Tensor with_ties(const BinaryContext& ctx, const Tensor& mine) {
  return where(equal(ctx.a, ctx.b), multiply(ctx.g, 0.5), mine);
}
Tensor fmax_a(const BinaryContext& ctx) {
  return with_ties(ctx, where(first_wins(ctx, greater), ctx.g, 0.0));
}
Tensor fmax_b(const BinaryContext& ctx) {
  return with_ties(ctx, where(first_wins(ctx, greater), 0.0, ctx.g));
}
Tensor fmin_a(const BinaryContext& ctx) {
  return with_ties(ctx, where(first_wins(ctx, less), ctx.g, 0.0));
}
Tensor fmin_b(const BinaryContext& ctx) {
  return with_ties(ctx, where(first_wins(ctx, less), 0.0, ctx.g));
}

constexpr uint8_t kSaveBoth = kSaveA | kSaveB;
constexpr uint8_t kSaveWide = kSaveBoth | kInOpmath;

}  // namespace

// clang-format off
constinit const Binary copysign{{BinaryOp::kCopysign, "CopysignBackward", BinaryType::kFloatReal, {kSaveBoth, copysign_a}, {kSaveNothing, zero}}};
constinit const Binary logaddexp{{BinaryOp::kLogaddexp, "LogaddexpBackward", BinaryType::kFloatReal, {kSaveWide, logaddexp_a}, {kSaveWide, logaddexp_b}, logaddexp_of_complex}};
constinit const Binary logaddexp2{{BinaryOp::kLogaddexp2, "Logaddexp2Backward", BinaryType::kFloatReal, {kSaveWide, logaddexp2_a}, {kSaveWide, logaddexp2_b}}};
constinit const Binary xlogy{{BinaryOp::kXlogy, "XlogyBackward", BinaryType::kFloatReal, {kSaveWide, xlogy_a}, {kSaveWide, xlogy_b}}};
constinit const Binary heaviside{{BinaryOp::kHeaviside, nullptr, BinaryType::kReal}};
constinit const Binary ldexp{{BinaryOp::kLdexp, "LdexpBackward", BinaryType::kFloatReal, {kSaveB, ldexp_a}, {kSaveY | kInOpmath, ldexp_b}, ldexp_of_complex}};
constinit const Binary fmod{{BinaryOp::kFmod, "FmodBackward", BinaryType::kRealCounting, {kSaveNothing, pass}, {kSaveWide, fmod_b}}};
constinit const Binary fmax{{BinaryOp::kFmax, "FmaxBackward", BinaryType::kReal, {kSaveBoth, fmax_a}, {kSaveBoth, fmax_b}}};
constinit const Binary fmin{{BinaryOp::kFmin, "FminBackward", BinaryType::kReal, {kSaveBoth, fmin_a}, {kSaveBoth, fmin_b}}};
constinit const Binary gcd{{BinaryOp::kGcd, nullptr, BinaryType::kIntegers}};
constinit const Binary lcm{{BinaryOp::kLcm, nullptr, BinaryType::kIntegers}};
constinit const Binary bitwise_left_shift{{BinaryOp::kBitwiseLeftShift, nullptr, BinaryType::kIntegers}};
constinit const Binary bitwise_right_shift{{BinaryOp::kBitwiseRightShift, nullptr, BinaryType::kIntegers}};
// clang-format on

}  // namespace tsr::ops
