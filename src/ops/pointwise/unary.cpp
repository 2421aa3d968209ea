// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/unary.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/round_once.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary_run.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

void refuse(bool refused, const char* expected, DType dtype) {
  TSR_CHECK(!refused, Code::kDType, "input", "expected ", expected, ", got ", dtype);
}

void set_params(kernel::Elementwise& walk, std::initializer_list<double> params, DType dtype) {
  int index = 0;
  for (const double value : params) walk.param(index++, value, dtype);
}

}  // namespace

// ---- what unary_run.h declares ----

DType compute_dtype(UnaryType type, DType dtype) {
  const bool whole = is_integral_or_bool(dtype);
  switch (type) {
    case UnaryType::kNumeric:
      refuse(dtype == DType::kBool, "a numeric dtype", dtype);
      return dtype;
    case UnaryType::kCounting:
      return dtype == DType::kBool ? DType::kInt64 : dtype;
    case UnaryType::kFloatReal:
      refuse(is_complex(dtype), "a real dtype", dtype);
      [[fallthrough]];
    case UnaryType::kFloat:
      return whole ? default_dtype() : dtype;
    case UnaryType::kFloating:
      refuse(!is_floating(dtype), "a floating dtype", dtype);
      return dtype;
    case UnaryType::kRounding:
      refuse(is_complex(dtype), "a real dtype", dtype);
      return dtype;
    case UnaryType::kBits:
      refuse(!whole, "an integer or bool dtype", dtype);
      return dtype;
    case UnaryType::kRealPredicate:
      refuse(is_complex(dtype), "a real dtype", dtype);
      return dtype;
    case UnaryType::kAngle:
      return whole ? default_dtype() : dtype;
    case UnaryType::kSame:
    case UnaryType::kRoundingParts:
    case UnaryType::kMagnitude:
    case UnaryType::kPredicate:
      return dtype;
  }
  return dtype;
}

DType result_dtype(UnaryType type, DType compute) {
  if (type == UnaryType::kPredicate || type == UnaryType::kRealPredicate) return DType::kBool;
  const bool magnitude = type == UnaryType::kMagnitude || type == UnaryType::kAngle;
  return magnitude ? real_dtype(compute) : compute;
}

void launch_unary(UnaryOp op, const Tensor& result, const Tensor& source,
                  std::initializer_list<double> params) {
  if (result.numel() == 0) return;
  kernel::Elementwise walk(result, {source});
  set_params(walk, params, source.dtype());
  kernel::launch(kernel::kUnary, result.device(), op, walk.plan());
}

Tensor launch_plain(UnaryOp op, const Tensor& source, DType dtype,
                    std::initializer_list<double> params) {
  Tensor result = empty_dense_like(source, dtype, source.device());
  kernel::Elementwise walk(result);
  walk.add(source);
  set_params(walk, params, source.dtype());
  kernel::launch(kernel::kUnary, result.device(), op, walk.plan());
  return result;
}

Tensor launch_fused(BinaryOp op, const Tensor& g, const Tensor& saved,
                    std::initializer_list<double> params) {
  Tensor result = g.is_contiguous()
                      ? empty_dense_like(g, g.dtype(), g.device())
                      : allocate({}, g.sizes(), g.dtype(), g.device(), false, {&g}).finish();
  if (result.numel() == 0) return result;
  kernel::Elementwise walk(result, {g, saved});
  set_params(walk, params, g.dtype());
  kernel::launch(kernel::kBinary, result.device(), op, walk.plan());
  return result;
}

bool push_fused(const UnaryRule& rule, const Tensor& input, const Tensor& saved,
                const Tensor& output, std::initializer_list<double> params) {
  if (output.is_same(input)) return false;
  LoneTangents lone;
  if (!lone.find({input})) return false;
  if (!lone.any()) return true;
  const DType dtype = output.dtype();
  if (!lone.are_plain() || lone[0].dtype() != dtype || saved.dtype() != dtype ||
      is_complex(dtype)) {
    return false;
  }
  lone.give(output, launch_fused(rule.fused, lone[0], saved, params));
  return true;
}

namespace {

// ---- derivatives: dL/dx from g = dL/dy and x or y, for real and complex x (conjugates: Wirtinger)
// ----

// The sign of a complex number is x / |x|.
Tensor d_abs(const Tensor& g, const Tensor& x) {
  return multiply(g, sign(x));
}
Tensor d_negative(const Tensor& g, const Tensor&) {
  return negative(g);
}
Tensor d_reciprocal(const Tensor& g, const Tensor& y) {
  return negative(multiply(g, conj_of(square(y))));
}
Tensor d_square(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(multiply(x, 2)));
}
Tensor d_sqrt(const Tensor& g, const Tensor& y) {
  return divide(g, conj_of(multiply(y, 2)));
}
Tensor d_rsqrt(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(multiply(multiply(square(y), y), -0.5)));
}
Tensor d_exp(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(y));
}
Tensor d_expm1(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(add(y, 1)));
}
Tensor d_log(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(x));
}
Tensor d_log1p(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(add(x, 1)));
}
Tensor d_log2(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(multiply(x, std::numbers::ln2)));
}
Tensor d_log10(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(multiply(x, std::numbers::ln10)));
}
Tensor d_sin(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(cos(x)));
}
Tensor d_cos(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, conj_of(sin(x))));
}
Tensor d_tan(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(add(square(y), 1)));
}
Tensor d_asin(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(rsqrt(subtract(1, square(x)))));
}
Tensor d_acos(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, conj_of(rsqrt(subtract(1, square(x))))));
}
Tensor d_atan(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(add(square(x), 1)));
}
Tensor d_sinh(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(cosh(x)));
}
Tensor d_cosh(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(sinh(x)));
}
Tensor d_tanh(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(subtract(1, square(y))));
}
Tensor d_sigmoid(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(multiply(y, subtract(1, y))));
}
// 2/sqrt(pi) exp(-x²)
Tensor d_erf(const Tensor& g, const Tensor& x) {
  return multiply(g, multiply(exp(negative(square(x))), 2 * std::numbers::inv_sqrtpi));
}
// -2/sqrt(pi) exp(-x²)
Tensor d_erfc(const Tensor& g, const Tensor& x) {
  return multiply(g, multiply(exp(negative(square(x))), -2 * std::numbers::inv_sqrtpi));
}
Tensor d_conj(const Tensor& g, const Tensor&) {
  return conj_of(g);
}
Tensor d_relu(const Tensor& g, const Tensor& y) {
  return multiply(g, astype(greater(y, 0), g.dtype()));
}
// σ(x) (1 + x (1 - σ(x)))
Tensor d_silu(const Tensor& g, const Tensor& x) {
  const Tensor s = sigmoid(x);
  return multiply(g, multiply(s, add(multiply(x, subtract(1, s)), 1)));
}
Tensor silu_of_complex(const Tensor& x) {
  return multiply(x, sigmoid(x));
}
Tensor d_zero(const Tensor& g, const Tensor&) {
  return zeros_of(g);
}
// The sign y = x / |x| of a complex number can only rotate: (g - y Re(conj(y) g)) / |x|, 0 at 0.
// The sign of a real number is constant.
Tensor d_sign(const Tensor& g, const Tensor& x) {
  if (!is_complex(x.dtype())) return zeros_of(g);
  const Tensor y = sign(x);
  const Tensor along = multiply(y, real_part(multiply(conj(y), g)));
  const Tensor size = abs(x);
  const Tensor safe = where(equal(size, 0), 1.0, size);
  return where(equal(size, 0), 0.0, divide(subtract(g, along), safe));
}
Tensor d_leaky_relu(const Tensor& g, const Tensor& x, double slope) {
  const Tensor positive = astype(greater(x, 0), g.dtype());
  return multiply(g, add(multiply(positive, 1 - slope), slope));
}
// Φ(x) + x φ(x)
Tensor d_gelu(const Tensor& g, const Tensor& x) {
  const Tensor cdf = multiply(add(erf(multiply(x, 1 / std::numbers::sqrt2)), 1), 0.5);
  const double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const Tensor pdf = multiply(exp(multiply(square(x), -0.5)), scale);
  return multiply(g, add(cdf, multiply(x, pdf)));
}
// y = x/2 (1 + tanh u), u = c (x + a x³): (1 + tanh u)/2 + x/2 (1 - tanh² u) c (1 + 3 a x²)
Tensor d_gelu_tanh(const Tensor& g, const Tensor& x) {
  constexpr double kCubic = 0.044715;
  const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Tensor squared = square(x);
  const Tensor t = tanh(multiply(multiply(x, add(multiply(squared, kCubic), 1)), c));
  const Tensor slope = multiply(add(multiply(squared, 3 * kCubic), 1), c);
  const Tensor rise = multiply(multiply(x, subtract(1, square(t))), slope);
  return multiply(g, multiply(add(add(t, 1), rise), 0.5));
}

constexpr auto kNothing = UnarySaves::kNothing;
constexpr auto kInput = UnarySaves::kInput;
constexpr auto kOutput = UnarySaves::kOutput;

constexpr Unary kGelu{
    {UnaryOp::kGelu, "GeluBackward", UnaryType::kFloating, kInput, d_gelu, BinaryOp::kGeluGrad}};
constexpr Unary kGeluTanh{{UnaryOp::kGeluTanh, "GeluBackward", UnaryType::kFloating, kInput,
                           d_gelu_tanh, BinaryOp::kGeluTanhGrad}};
constexpr UnaryRule kLeakyRelu{UnaryOp::kLeakyRelu, "LeakyReluBackward", UnaryType::kFloating,
                               kInput};

}  // namespace

Tensor Unary::operator()(const Tensor& input, Out out) const {
  if (rule.of_complex != nullptr && is_complex(input.dtype())) [[unlikely]]
    return settle(rule.of_complex(operand(input, out)), out);
  return run_unary(rule, input, out, {}, [row = &rule](Backward& ctx) {
    const Tensor saved = row->saves == UnarySaves::kNothing ? Tensor() : ctx.saved(0);
    const bool fuse = row->fused != BinaryOp::kNone && !ctx.create_graph() &&
                      saved.dtype() == ctx.grad().dtype() && !is_complex(saved.dtype());
    if (fuse) {
      ctx.set(0, launch_fused(row->fused, ctx.grad(), saved, {}));
    } else if (row->saves == UnarySaves::kNothing) {
      ctx.set(0, row->derivative(ctx.grad(), saved));
    } else {
      ctx.set(0, round_once({&ctx.grad(), &saved}, [row](std::span<const Tensor> wide) {
                return row->derivative(wide[0], wide[1]);
              }));
    }
  });
}

Tensor leaky_relu(const Tensor& input, double negative_slope, Out out) {
  return run_unary(kLeakyRelu, input, out, {negative_slope}, [negative_slope](Backward& ctx) {
    ctx.set(0, ctx.create_graph() ? d_leaky_relu(ctx.grad(), ctx.saved(0), negative_slope)
                                  : launch_fused(BinaryOp::kLeakyReluGrad, ctx.grad(), ctx.saved(0),
                                                 {negative_slope}));
  });
}

Tensor gelu(const Tensor& input, std::string_view approximate, Out out) {
  TSR_CHECK(approximate == "none" || approximate == "tanh", Code::kValue, "approximate",
            "expected \"none\" or \"tanh\", got \"", approximate, "\"");
  return (approximate == "tanh" ? kGeluTanh : kGelu)(input, out);
}

// ---- the rows ----
// clang-format off
constinit const Unary abs{{UnaryOp::kAbs, "AbsBackward", UnaryType::kMagnitude, kInput, d_abs, BinaryOp::kAbsGrad}};
constinit const Unary negative{{UnaryOp::kNegative, "NegativeBackward", UnaryType::kNumeric, kNothing, d_negative}};
constinit const Unary sign{{UnaryOp::kSign, "SignBackward", UnaryType::kNumeric, kInput, d_sign}};
constinit const Unary reciprocal{{UnaryOp::kReciprocal, "ReciprocalBackward", UnaryType::kFloat, kOutput, d_reciprocal, BinaryOp::kReciprocalGrad}};
constinit const Unary square{{UnaryOp::kSquare, "SquareBackward", UnaryType::kCounting, kInput, d_square, BinaryOp::kSquareGrad}};
constinit const Unary sqrt{{UnaryOp::kSqrt, "SqrtBackward", UnaryType::kFloat, kOutput, d_sqrt, BinaryOp::kSqrtGrad}};
constinit const Unary rsqrt{{UnaryOp::kRsqrt, "RsqrtBackward", UnaryType::kFloat, kOutput, d_rsqrt, BinaryOp::kRsqrtGrad}};
constinit const Unary exp{{UnaryOp::kExp, "ExpBackward", UnaryType::kFloat, kOutput, d_exp, BinaryOp::kMultiply}};
constinit const Unary expm1{{UnaryOp::kExpm1, "Expm1Backward", UnaryType::kFloat, kOutput, d_expm1, BinaryOp::kExpm1Grad}};
constinit const Unary log{{UnaryOp::kLog, "LogBackward", UnaryType::kFloat, kInput, d_log, BinaryOp::kDivide}};
constinit const Unary log1p{{UnaryOp::kLog1p, "Log1pBackward", UnaryType::kFloat, kInput, d_log1p, BinaryOp::kLog1pGrad}};
constinit const Unary log2{{UnaryOp::kLog2, "Log2Backward", UnaryType::kFloat, kInput, d_log2}};
constinit const Unary log10{{UnaryOp::kLog10, "Log10Backward", UnaryType::kFloat, kInput, d_log10}};
constinit const Unary sin{{UnaryOp::kSin, "SinBackward", UnaryType::kFloat, kInput, d_sin, BinaryOp::kSinGrad}};
constinit const Unary cos{{UnaryOp::kCos, "CosBackward", UnaryType::kFloat, kInput, d_cos, BinaryOp::kCosGrad}};
constinit const Unary tan{{UnaryOp::kTan, "TanBackward", UnaryType::kFloat, kOutput, d_tan, BinaryOp::kTanGrad}};
constinit const Unary asin{{UnaryOp::kAsin, "AsinBackward", UnaryType::kFloat, kInput, d_asin}};
constinit const Unary acos{{UnaryOp::kAcos, "AcosBackward", UnaryType::kFloat, kInput, d_acos}};
constinit const Unary atan{{UnaryOp::kAtan, "AtanBackward", UnaryType::kFloat, kInput, d_atan}};
constinit const Unary sinh{{UnaryOp::kSinh, "SinhBackward", UnaryType::kFloat, kInput, d_sinh}};
constinit const Unary cosh{{UnaryOp::kCosh, "CoshBackward", UnaryType::kFloat, kInput, d_cosh}};
constinit const Unary tanh{{UnaryOp::kTanh, "TanhBackward", UnaryType::kFloat, kOutput, d_tanh, BinaryOp::kTanhGrad}};
constinit const Unary floor{{UnaryOp::kFloor, "FloorBackward", UnaryType::kRounding, kNothing, d_zero}};
constinit const Unary ceil{{UnaryOp::kCeil, "CeilBackward", UnaryType::kRounding, kNothing, d_zero}};
constinit const Unary round{{UnaryOp::kRound, "RoundBackward", UnaryType::kRoundingParts, kNothing, d_zero}};
constinit const Unary trunc{{UnaryOp::kTrunc, "TruncBackward", UnaryType::kRounding, kNothing, d_zero}};
constinit const Unary sigmoid{{UnaryOp::kSigmoid, "SigmoidBackward", UnaryType::kFloat, kOutput, d_sigmoid, BinaryOp::kSigmoidGrad}};
constinit const Unary erf{{UnaryOp::kErf, "ErfBackward", UnaryType::kFloatReal, kInput, d_erf}};
constinit const Unary erfc{{UnaryOp::kErfc, "ErfcBackward", UnaryType::kFloatReal, kInput, d_erfc}};
constinit const Unary conj{{UnaryOp::kConj, "ConjBackward", UnaryType::kSame, kNothing, d_conj}};
constinit const Unary relu{{UnaryOp::kRelu, "ReluBackward", UnaryType::kNumeric, kOutput, d_relu, BinaryOp::kReluGrad}};
constinit const Unary silu{{UnaryOp::kSilu, "SiluBackward", UnaryType::kFloating, kInput, d_silu, BinaryOp::kSiluGrad, silu_of_complex}};
constinit const Unary isnan{{UnaryOp::kIsnan, nullptr, UnaryType::kPredicate}};
constinit const Unary isinf{{UnaryOp::kIsinf, nullptr, UnaryType::kPredicate}};
constinit const Unary isfinite{{UnaryOp::kIsfinite, nullptr, UnaryType::kPredicate}};
constinit const Unary logical_not{{UnaryOp::kLogicalNot, nullptr, UnaryType::kPredicate}};
constinit const Unary bitwise_invert{{UnaryOp::kBitwiseInvert, nullptr, UnaryType::kBits}};
// clang-format on

}  // namespace tsr::ops
