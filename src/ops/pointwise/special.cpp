// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/special.h"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/opmath.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary_run.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr auto kNothing = UnarySaves::kNothing;
constexpr auto kInput = UnarySaves::kInput;
constexpr auto kOutput = UnarySaves::kOutput;

// ---- derivatives: dL/dx from g = dL/dy and x or y ----

// sqrt(x - 1) sqrt(x + 1) has acosh's branch; sqrt(x² - 1) has not.
Tensor d_acosh(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(multiply(rsqrt(subtract(x, 1)), rsqrt(add(x, 1)))));
}
Tensor d_asinh(const Tensor& g, const Tensor& x) {
  return multiply(g, conj_of(rsqrt(add(square(x), 1))));
}
Tensor d_atanh(const Tensor& g, const Tensor& x) {
  return divide(g, conj_of(subtract(1, square(x))));
}
Tensor d_exp2(const Tensor& g, const Tensor& y) {
  return multiply(g, conj_of(multiply(y, std::numbers::ln2)));
}
// pi² x Σ (-1)^k 2k z^(k-1) / (2k+1)! with z = (pi x)²: sinc' for |x| <= 1/2, where the closed form
// cancels. It is a polynomial, so that derivatives of any order are right at 0 too.
Tensor sinc_slope_series(const Tensor& x) {
  constexpr double kPiSquare = std::numbers::pi * std::numbers::pi;
  constexpr int kTerms = 11;
  std::array<double, kTerms> terms{};
  double factorial = 1;
  for (int k = 1; k <= kTerms; ++k) {
    factorial *= (2.0 * k) * (2.0 * k + 1);
    terms[static_cast<size_t>(k - 1)] = (k % 2 == 0 ? 2.0 : -2.0) * k / factorial;
  }
  const Tensor z = multiply(square(x), kPiSquare);
  Tensor sum = add(multiply(z, terms[kTerms - 1]), terms[kTerms - 2]);
  for (int k = kTerms - 3; k >= 0; --k) sum = add(multiply(sum, z), terms[static_cast<size_t>(k)]);
  return multiply(multiply(x, kPiSquare), sum);
}
Tensor d_sinc(const Tensor& g, const Tensor& x) {
  const Tensor near = less_equal(abs(x), 0.5);
  const Tensor safe = where(near, 0.75, x);  // cos is slow next to multiples of pi/2
  const Tensor closed = divide(subtract(cos(multiply(safe, std::numbers::pi)), sinc(safe)), safe);
  return multiply(g, where(near, sinc_slope_series(where(near, x, 0.0)), closed));
}
// Σ (-1)^k z^k / (2k+1)! with z = (pi x)² for |x| <= 1/2, so that derivatives are right at 0 too.
Tensor sinc_of_complex(const Tensor& x) {
  constexpr int kTerms = 12;
  std::array<double, kTerms> terms{1};
  for (int k = 1; k < kTerms; ++k) {
    const auto i = static_cast<size_t>(k);
    terms[i] = -terms[i - 1] / ((2.0 * k) * (2.0 * k + 1));
  }
  const Tensor near = less_equal(abs(x.detached()), 0.5);
  const Tensor z = square(multiply(where(near, x, 0.0), std::numbers::pi));
  Tensor sum = add(multiply(z, terms[kTerms - 1]), terms[kTerms - 2]);
  for (int k = kTerms - 3; k >= 0; --k) sum = add(multiply(sum, z), terms[static_cast<size_t>(k)]);
  const Tensor angle = multiply(where(near, 0.75, x), std::numbers::pi);
  return where(near, sum, divide(sin(angle), angle));
}
Tensor d_lgamma(const Tensor& g, const Tensor& x) {
  return multiply(g, digamma(x));
}
Tensor d_digamma(const Tensor& g, const Tensor& x) {
  return multiply(g, polygamma(x, 1));
}
// sqrt(pi)/2 exp(y²)
Tensor d_erfinv(const Tensor& g, const Tensor& y) {
  return multiply(g, multiply(exp(square(y)), 0.5 / std::numbers::inv_sqrtpi));
}
Tensor d_pass(const Tensor& g, const Tensor&) {
  return g;
}
Tensor d_deg2rad(const Tensor& g, const Tensor&) {
  return deg2rad(g);
}
Tensor d_rad2deg(const Tensor& g, const Tensor&) {
  return rad2deg(g);
}
// i z / |z|², 0 at 0; real angles are flat.
Tensor d_angle(const Tensor& g, const Tensor& z) {
  if (!is_complex(z.dtype())) return zeros_of(g);
  const Tensor size = square(abs(z));
  const Tensor zero = equal(size, 0);
  const Tensor turned = multiply(multiply(z, Scalar(std::complex<double>(0, 1))), g);
  return where(zero, 0.0, divide(turned, where(zero, 1.0, size)));
}
// 1 / (x (1 - x)) inside the limits; outside 0, or NaN where there are none.
double outside_logit(std::optional<double> eps) {
  return eps.has_value() ? 0.0 : std::numeric_limits<double>::quiet_NaN();
}
Tensor d_logit(const Tensor& g, const Tensor& x, std::optional<double> eps) {
  const double low = eps.value_or(0);
  const Tensor inside = logical_and(greater_equal(x, low), less_equal(x, 1 - low));
  const Tensor slope = divide(g, multiply(x, subtract(1, x)));
  return where(inside, slope, outside_logit(eps));
}
// The same by one kernel, where nothing is recorded.
Tensor d_logit_of(Backward& ctx, std::optional<double> eps) {
  const Tensor& g = ctx.grad();
  const Tensor x = ctx.saved(0);
  if (ctx.create_graph() || x.dtype() != g.dtype()) return d_logit(in_opmath(g), in_opmath(x), eps);
  return launch_fused(BinaryOp::kLogitGrad, g, x, {eps.value_or(0), outside_logit(eps)});
}

constexpr UnaryRule kPolygamma{UnaryOp::kPolygamma, "PolygammaBackward", UnaryType::kFloatReal,
                               kInput};
constexpr UnaryRule kLogit{UnaryOp::kLogit, "LogitBackward", UnaryType::kFloatReal, kInput};

// ---- two operands ----

Tensor zero(const BinaryContext& ctx) {
  return zeros_of(ctx.g);
}
constexpr Binary kTruncDivide{{BinaryOp::kTruncDivide,
                               "DivideRoundedBackward",
                               BinaryType::kRealCounting,
                               {kSaveNothing, zero},
                               {kSaveNothing, zero}}};
constexpr Binary kNextafter{{BinaryOp::kNextafter, nullptr, BinaryType::kFloatReal}};
constexpr Binary kNextafterHalf{{BinaryOp::kNextafterHalf, nullptr, BinaryType::kFloatReal}};
constexpr Binary kNextafterBfloat{{BinaryOp::kNextafterBfloat, nullptr, BinaryType::kFloatReal}};

void check_parts(const Tensor& first, const Tensor& second, const char* first_arg,
                 const char* second_arg) {
  check_same_device(first, second, second_arg);
  TSR_CHECK(first.dtype() == DType::kFloat32 || first.dtype() == DType::kFloat64, Code::kDType,
            first_arg, "expected float32 or float64, got ", first.dtype());
  TSR_CHECK(second.dtype() == first.dtype(), Code::kDType, second_arg, "expected ", first.dtype(),
            " as ", first_arg, ", got ", second.dtype());
}

}  // namespace

Tensor polygamma(const Tensor& input, int64_t n, Out out) {
  TSR_CHECK(n >= 0, Code::kValue, "n", "expected an order of at least 0, got ", n);
  if (n == 0) return digamma(input, out);
  return run_unary(kPolygamma, input, out, {static_cast<double>(n)}, [n](Backward& ctx) {
    ctx.set(0, multiply(in_opmath(ctx.grad()), polygamma(in_opmath(ctx.saved(0)), n + 1)));
  });
}

Tensor logit(const Tensor& input, std::optional<double> eps, Out out) {
  const double low = eps.value_or(-std::numeric_limits<double>::infinity());
  return run_unary(kLogit, input, out, {low, 1 - low},
                   [eps](Backward& ctx) { ctx.set(0, d_logit_of(ctx, eps)); });
}

Tensor positive(const Tensor& input, Out out) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  return clone(input, out);
}

Tensor round_decimals(const Tensor& input, int64_t decimals, Out out) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  if (is_integral_or_bool(input.dtype())) {
    TSR_CHECK(decimals >= 0, Code::kValue, "decimals",
              "expected at least 0 decimals for integers, got ", decimals);
    return round(input, out);
  }
  const bool grad = needs_grad(input);
  // Larger powers are infinite in the dtype, and smaller numbers round to 0 or not at all.
  const double places = std::fmin(std::fabs(static_cast<double>(decimals)),
                                  input.dtype() == DType::kFloat64 ? 308.0 : 38.0);
  const double scale = std::pow(10.0, places);
  Tensor output;
  if (decimals >= 0) {
    Result result = allocate(out, input.sizes(), input.dtype(), input.device(), grad, {&input});
    launch_unary(UnaryOp::kRoundDecimals, result.value(), input, {scale});
    output = result.finish();
  } else {
    Tensor value;
    {
      const Unrecorded pause;
      const Tensor x = in_opmath(input);
      const Tensor whole = round(divide(x, scale));
      // What is out of range has no places to round.
      value = astype(where(isfinite(whole), multiply(whole, scale), x), input.dtype());
    }
    output = deliver(value, out, grad);
  }
  if (grad) {
    record(
        output, "RoundDecimalsBackward", {input}, {save_input(Tensor())},
        [](Backward& ctx) { ctx.set(0, zeros_of(ctx.grad())); }, kElementwise);
  }
  return output;
}

Tensor nan_to_num(const Tensor& input, double nan, std::optional<double> posinf,
                  std::optional<double> neginf, Out out) {
  const DType dtype = input.dtype();
  if (is_integral_or_bool(dtype)) return clone(input, out);
  if (is_complex(dtype)) {
    const Tensor parts =
        nan_to_num(view_as_real(contiguous(operand(input, out))), nan, posinf, neginf);
    return settle(view_as_complex(parts), out);
  }
  const bool grad = needs_grad(input);
  const Tensor original = operand(input, out);
  Result result = allocate(out, input.sizes(), dtype, input.device(), grad, {&input});
  const double most = largest_of(dtype);
  const double high = posinf.value_or(most);
  const double low = neginf.value_or(-most);
  if (high == most && low == -most) {
    launch_unary(UnaryOp::kNanToFinite, result.value(), input, {nan, most});
  } else if (result.value().numel() != 0) {
    const DType number = kernel::opmath(dtype);
    kernel::Elementwise walk(result.value(),
                             {input, kernel::Input(high, number), kernel::Input(low, number)});
    walk.param(0, nan, dtype);
    kernel::launch(kernel::kTernary, input.device(), kernel::TernaryOp::kNanToNum, walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    record(
        output, "NanToNumBackward", {input}, {save_input(original)},
        [](Backward& ctx) { ctx.set(0, where(isfinite(ctx.saved(0)), ctx.grad(), 0.0)); },
        kElementwise);
  }
  return output;
}

Tensor complex(const Tensor& real, const Tensor& imag, Out out) {
  check_parts(real, imag, "real", "imag");
  const Dims shape = broadcast_shapes(real.sizes(), imag.sizes());
  const DType dtype = real.dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  const bool grad = needs_grad(real, imag);
  Result result = allocate(out, shape, dtype, real.device(), grad, {&real, &imag});
  if (result.value().numel() != 0) {
    const kernel::Elementwise walk(result.value(), {real, imag});
    kernel::launch(kernel::kBinary, real.device(), BinaryOp::kJoinParts, walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, "ComplexBackward", {real, imag}, {}, TakesBatches{[](Backward& ctx) {
             if (ctx.needs(0)) ctx.set(0, ops::real(ctx.grad()));
             if (ctx.needs(1)) ctx.set(1, ops::imag(ctx.grad()));
           }},
           [&](Forward& ctx) {
             ctx.set(0, complex(ctx.tangent_or_zeros(0, real), ctx.tangent_or_zeros(1, imag)));
           });
  }
  return output;
}

Tensor polar(const Tensor& magnitude, const Tensor& phase, Out out) {
  check_parts(magnitude, phase, "magnitude", "phase");
  return complex(multiply(magnitude, cos(phase)), multiply(magnitude, sin(phase)), out);
}

Tensor nextafter(const Arg& input, const Arg& other, Out out) {
  const DType given = operands_dtype(input, other);
  TSR_CHECK(given != DType::kBool, Code::kDType, "other",
            "expected numeric operands, got bool and bool");
  const DType dtype = is_integral_or_bool(given) ? default_dtype() : given;
  if (kernel::opmath(dtype) == dtype) return kNextafter(input, other, out);
  const Binary& row = dtype == DType::kFloat16 ? kNextafterHalf : kNextafterBfloat;
  return row(rounded_number(input, dtype), rounded_number(other, dtype), out);
}

Tensor float_power(const Arg& input, const Arg& other, Out out) {
  const DType wide =
      is_complex(operands_dtype(input, other)) ? DType::kComplex128 : DType::kFloat64;
  const Tensor a = input.is_tensor() ? astype(operand(input.tensor(), out), wide) : Tensor();
  const Tensor b = other.is_tensor() ? astype(other.tensor(), wide) : Tensor();
  return settle(pow(a.defined() ? Arg(a) : input, b.defined() ? Arg(b) : other), out);
}

Tensor divide_rounded(const Arg& input, const Arg& other, std::string_view rounding_mode, Out out) {
  if (rounding_mode == "floor") return floor_divide(input, other, out);
  if (rounding_mode == "trunc") return kTruncDivide(input, other, out);
  TSR_CHECK(rounding_mode == "none", Code::kValue, "rounding_mode",
            "expected \"none\", \"trunc\" or \"floor\", got \"", rounding_mode, "\"");
  return divide(input, other, out);
}

// ---- the rows ----
// clang-format off
constinit const Unary acosh{{UnaryOp::kAcosh, "AcoshBackward", UnaryType::kFloat, kInput, d_acosh}};
constinit const Unary asinh{{UnaryOp::kAsinh, "AsinhBackward", UnaryType::kFloat, kInput, d_asinh}};
constinit const Unary atanh{{UnaryOp::kAtanh, "AtanhBackward", UnaryType::kFloat, kInput, d_atanh}};
constinit const Unary exp2{{UnaryOp::kExp2, "Exp2Backward", UnaryType::kFloat, kOutput, d_exp2}};
constinit const Unary sinc{{UnaryOp::kSinc, "SincBackward", UnaryType::kFloatReal, kInput, d_sinc, BinaryOp::kNone, sinc_of_complex}};
constinit const Unary lgamma{{UnaryOp::kLgamma, "LgammaBackward", UnaryType::kFloatReal, kInput, d_lgamma}};
constinit const Unary digamma{{UnaryOp::kDigamma, "DigammaBackward", UnaryType::kFloatReal, kInput, d_digamma}};
constinit const Unary erfinv{{UnaryOp::kErfinv, "ErfinvBackward", UnaryType::kFloatReal, kOutput, d_erfinv}};
constinit const Unary frac{{UnaryOp::kFrac, "FracBackward", UnaryType::kFloating, kNothing, d_pass}};
constinit const Unary signbit{{UnaryOp::kSignbit, nullptr, UnaryType::kRealPredicate}};
constinit const Unary isposinf{{UnaryOp::kIsposinf, nullptr, UnaryType::kRealPredicate}};
constinit const Unary isneginf{{UnaryOp::kIsneginf, nullptr, UnaryType::kRealPredicate}};
constinit const Unary angle{{UnaryOp::kAngle, "AngleBackward", UnaryType::kAngle, kInput, d_angle}};
constinit const Unary deg2rad{{UnaryOp::kDeg2rad, "Deg2radBackward", UnaryType::kFloatReal, kNothing, d_deg2rad}};
constinit const Unary rad2deg{{UnaryOp::kRad2deg, "Rad2degBackward", UnaryType::kFloatReal, kNothing, d_rad2deg}};
// clang-format on

}  // namespace tsr::ops
