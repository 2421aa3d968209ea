// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/special_more.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/create.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary_grad.h"
#include "ops/pointwise/ternary.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr auto kInput = UnarySaves::kInput;
constexpr auto kOutput = UnarySaves::kOutput;

// ---- derivatives: dL/dx from g = dL/dy and x or y ----

// exp(-x²/2) / sqrt(2 pi)
Tensor d_ndtr(const Tensor& g, const Tensor& x) {
  constexpr double kScale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return multiply(g, multiply(exp(multiply(square(x), -0.5)), kScale));
}
// sqrt(2 pi) exp(y²/2)
Tensor d_ndtri(const Tensor& g, const Tensor& y) {
  constexpr double kScale = std::numbers::sqrt2 / std::numbers::inv_sqrtpi;
  return multiply(g, multiply(exp(multiply(square(y), 0.5)), kScale));
}
// The density over the distribution: sqrt(2 / pi) / erfcx(-x / sqrt 2)
Tensor d_log_ndtr(const Tensor& g, const Tensor& x) {
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return divide(multiply(g, kScale), erfcx(multiply(x, -1 / std::numbers::sqrt2)));
}
// 2 x erfcx(x) - 2 / sqrt(pi)
Tensor d_erfcx(const Tensor& g, const Tensor& x) {
  const Tensor slope = subtract(multiply(multiply(x, 2), erfcx(x)), 2 * std::numbers::inv_sqrtpi);
  return multiply(g, slope);
}
Tensor d_entr(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(-1, log(x)));
}
Tensor d_i0(const Tensor& g, const Tensor& x) {
  return multiply(g, i1(x));
}
Tensor d_i0e(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(i1e(x), multiply(sign(x), i0e(x))));
}
// value / x, where the limit at 0 is 1/2.
Tensor over_argument(const Tensor& value, const Tensor& x) {
  const Tensor zero = equal(x, 0);
  return where(zero, 0.5, divide(value, where(zero, 1.0, x)));
}
Tensor d_i1(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(i0(x), over_argument(i1(x), x)));
}
Tensor d_i1e(const Tensor& g, const Tensor& x) {
  const Tensor value = i1e(x);
  const Tensor fall = multiply(sign(x), value);
  return multiply(g, subtract(subtract(i0e(x), over_argument(value, x)), fall));
}

// ---- Bessel functions (Abramowitz and Stegun, 9.1.27, 9.1.28 and 9.6.26 to 9.6.28) ----

Tensor d_bessel_j0(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, bessel_j1(x)));
}
Tensor d_bessel_j1(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(bessel_j0(x), over_argument(bessel_j1(x), x)));
}
Tensor d_bessel_y0(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, bessel_y1(x)));
}
Tensor d_bessel_y1(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(bessel_y0(x), divide(bessel_y1(x), x)));
}
Tensor d_k0(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, modified_bessel_k1(x)));
}
Tensor d_k1(const Tensor& g, const Tensor& x) {
  return negative(multiply(g, add(modified_bessel_k0(x), divide(modified_bessel_k1(x), x))));
}
Tensor d_scaled_k0(const Tensor& g, const Tensor& x) {
  return multiply(g, subtract(scaled_modified_bessel_k0(x), scaled_modified_bessel_k1(x)));
}
Tensor d_scaled_k1(const Tensor& g, const Tensor& x) {
  const Tensor value = scaled_modified_bessel_k1(x);
  return multiply(g, subtract(subtract(value, scaled_modified_bessel_k0(x)), divide(value, x)));
}
// (cos x - sin(x) / x) / x; near 0, where that cancels, the series with the coefficients
// (-1)^k 2k / (2k + 1)!.
Tensor d_spherical_bessel_j0(const Tensor& g, const Tensor& x) {
  constexpr double kSeries[] = {-1.0 / 3,       1.0 / 30,        -1.0 / 840,        1.0 / 45360,
                                -1.0 / 3991680, 1.0 / 518918400, -1.0 / 93405312000};
  const Tensor near = less(abs(x), 0.5);
  const Tensor z = square(where(near, x, 0.0));
  Tensor sum = full_like(z, kSeries[6]);
  for (int k = 5; k >= 0; --k) sum = add(multiply(sum, z), kSeries[k]);
  const Tensor far = where(near, 1.0, x);
  const Tensor slope = divide(subtract(cos(far), spherical_bessel_j0(far)), far);
  return multiply(g, where(near, multiply(sum, x), slope));
}

// Ai'' = x Ai (DLMF 9.2.1).
extern const Unary kAiryAiPrime;
Tensor d_airy_ai(const Tensor& g, const Tensor& x) {
  return multiply(g, kAiryAiPrime(x));
}
Tensor d_airy_ai_prime(const Tensor& g, const Tensor& x) {
  return multiply(g, multiply(x, airy_ai(x)));
}

// ---- two operands ----

Tensor no_derivative(const BinaryContext&) {
  TSR_CHECK(false, Code::kNotImplemented, "input",
            "zeta, igamma and igammac have no derivative towards their first operand; expected one "
            "that requires no grad");
  return {};
}
Tensor no_second_derivative(const BinaryContext&) {
  TSR_CHECK(false, Code::kNotImplemented, "input",
            "standard_gamma has no second derivative; expected a backward without create_graph");
  return {};
}
// The first operand plus a number.
struct Shifted {
  Shifted(const Arg& arg, double step)
      : tensor(arg.is_tensor() ? add(arg.tensor(), step) : Tensor()),
        number(arg.is_tensor() ? 0 : arg.scalar().to<double>() + step) {}
  [[nodiscard]] Arg arg() const { return tensor.defined() ? Arg(tensor) : Arg(number); }

  Tensor tensor;
  double number;
};
// -s zeta(s + 1, q)
Tensor zeta_q(const BinaryContext& ctx) {
  const Tensor next = zeta(Shifted(ctx.a, 1).arg(), ctx.b);
  return negative(multiply(ctx.g, multiply(next, ctx.a)));
}
// x^(a - 1) exp(-x) / gamma(a)
Tensor gamma_density(const BinaryContext& ctx) {
  const Tensor& x = ctx.b.tensor();
  const Tensor power = xlogy(Shifted(ctx.a, -1).arg(), x);
  if (!ctx.a.is_tensor()) {
    return exp(subtract(subtract(power, x), std::lgamma(ctx.a.scalar().to<double>())));
  }
  return exp(subtract(subtract(power, x), lgamma(ctx.a.tensor())));
}
Tensor igamma_x(const BinaryContext& ctx) {
  return multiply(ctx.g, gamma_density(ctx));
}
Tensor igammac_x(const BinaryContext& ctx) {
  return negative(multiply(ctx.g, gamma_density(ctx)));
}
// log(1 + b), and 0 where a is 0 and b not above -1
Tensor xlog1py_a(const BinaryContext& ctx) {
  if (!ctx.b.is_tensor()) {
    const double b = ctx.b.scalar().to<double>();
    if (b > -1) return multiply(ctx.g, std::log1p(b));
    return multiply(ctx.g, where(equal(ctx.a, 0), 0.0, std::log1p(b)));
  }
  const Tensor flat = logical_and(equal(ctx.a, 0), less_equal(ctx.b, -1));
  return multiply(ctx.g, log1p(where(flat, 0.0, ctx.b)));
}
Tensor xlog1py_b(const BinaryContext& ctx) {
  return multiply(ctx.g, divide(ctx.a, add(ctx.b, 1)));
}

constexpr uint8_t kSaveWide = kSaveA | kSaveB | kInOpmath;

// ---- windows ----

// A window of n places from the angles 2 pi i / N, of which value(angles) makes numbers of float64.
// It is symmetric: half of it is computed. A window of one number is 1.
template <class Value>
Tensor window_of(int64_t n, bool periodic, std::optional<DType> dtype, std::optional<Device> device,
                 const Value& value) {
  const Unrecorded pause;
  TSR_CHECK(n >= 0, Code::kValue, "n", "expected a count that is not negative, got ", n);
  const DType type = dtype.value_or(default_dtype());
  TSR_CHECK(is_floating(type), Code::kDType, "dtype", "expected a floating dtype, got ", type);
  if (n < 2) return ones(Dims{n}, type, device);
  const int64_t half = n / 2 + (periodic ? 1 : n % 2);
  const double step = 2 * std::numbers::pi / static_cast<double>(periodic ? n : n - 1);
  const Tensor angles =
      linspace(0.0, step * static_cast<double>(half - 1), half, DType::kFloat64, true, device);
  const Tensor first = astype(value(angles), type);
  // The rest runs backwards from the place before the middle to the one after 0, or to 0.
  const int64_t rest = n - half;
  const int64_t last = periodic ? rest : rest - 1;
  if (rest == 0) return first;
  const std::optional<int64_t> end = periodic ? std::optional<int64_t>(0) : std::nullopt;
  const std::array parts{first, slice(first, 0, last, end, -1)};
  return ops::concat(parts, 0);
}

// Σ (-1)^k c[k] cos(k angle)
Tensor cosine_window(int64_t n, bool periodic, std::span<const double> c,
                     std::optional<DType> dtype, std::optional<Device> device) {
  return window_of(n, periodic, dtype, device, [c](const Tensor& angles) {
    Tensor sum;
    for (size_t k = c.size() - 1; k > 0; --k) {
      const Tensor wave = k == 1 ? angles : multiply(angles, static_cast<double>(k));
      cos(wave, Out::inplace(wave));
      multiply(wave, k % 2 == 0 ? c[k] : -c[k], Out::inplace(wave));
      sum = sum.defined() ? add(sum, wave, Out::inplace(sum)) : wave;
    }
    return add(sum, c[0], Out::inplace(sum));
  });
}

}  // namespace

Tensor multigammaln(const Tensor& input, int64_t p, Out out) {
  constexpr int64_t kMost = 10000;  // each dimension takes a pass
  TSR_CHECK(p >= 1 && p <= kMost, Code::kValue, "p", "expected a dimension from 1 to ", kMost,
            ", got ", p);
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  const DType dtype = is_integral_or_bool(input.dtype()) ? default_dtype() : input.dtype();
  const Tensor x = in_opmath(astype(operand(input, out), dtype));
  const auto dimension = static_cast<double>(p);
  Tensor sum = add(lgamma(x), dimension * (dimension - 1) / 4 * std::log(std::numbers::pi));
  for (int64_t j = 1; j < p; ++j) {
    sum = add(sum, lgamma(subtract(x, static_cast<double>(j) / 2)));
  }
  const Tensor inside = greater(x, (dimension - 1) / 2);
  const Tensor value = where(inside, sum, std::numeric_limits<double>::quiet_NaN());
  return settle(astype(value, dtype), out);
}

Tensor bartlett_window(int64_t n, bool periodic, std::optional<DType> dtype,
                       std::optional<Device> device) {
  return window_of(n, periodic, dtype, device, [](const Tensor& angles) {
    const Tensor place = subtract(divide(angles, std::numbers::pi), 1);  // from -1 to 0
    return subtract(1, abs(place));
  });
}

Tensor blackman_window(int64_t n, bool periodic, std::optional<DType> dtype,
                       std::optional<Device> device) {
  constexpr double kTerms[] = {0.42, 0.5, 0.08};
  return cosine_window(n, periodic, kTerms, dtype, device);
}

Tensor hamming_window(int64_t n, bool periodic, double alpha, double beta,
                      std::optional<DType> dtype, std::optional<Device> device) {
  const double terms[] = {alpha, beta};
  return cosine_window(n, periodic, terms, dtype, device);
}

Tensor hann_window(int64_t n, bool periodic, std::optional<DType> dtype,
                   std::optional<Device> device) {
  constexpr double kTerms[] = {0.5, 0.5};
  return cosine_window(n, periodic, kTerms, dtype, device);
}

Tensor kaiser_window(int64_t n, bool periodic, double beta, std::optional<DType> dtype,
                     std::optional<Device> device) {
  return window_of(n, periodic, dtype, device, [beta](const Tensor& angles) {
    const Tensor place = subtract(divide(angles, std::numbers::pi), 1);  // from -1 to 0
    const Tensor root = sqrt(maximum(subtract(1, square(place)), 0));
    // Scaled values, so that a large beta does not overflow.
    const Tensor argument = multiply(root, beta);
    const Tensor end = full({}, beta, DType::kFloat64, angles.device());
    const Tensor ratio = divide(i0e(argument), i0e(end));
    const Tensor scale = exp(subtract(abs(argument), std::abs(beta)));
    return multiply(ratio, scale);
  });
}

// ---- the rows ----
// clang-format off
namespace {
constinit const Unary kAiryAiPrime{{UnaryOp::kAiryAiPrime, "AiryAiPrimeBackward", UnaryType::kFloatReal, kInput, d_airy_ai_prime}};
}  // namespace
constinit const Unary ndtr{{UnaryOp::kNdtr, "NdtrBackward", UnaryType::kFloatReal, kInput, d_ndtr}};
constinit const Unary ndtri{{UnaryOp::kNdtri, "NdtriBackward", UnaryType::kFloatReal, kOutput, d_ndtri}};
constinit const Unary log_ndtr{{UnaryOp::kLogNdtr, "LogNdtrBackward", UnaryType::kFloatReal, kInput, d_log_ndtr}};
constinit const Unary erfcx{{UnaryOp::kErfcx, "ErfcxBackward", UnaryType::kFloatReal, kInput, d_erfcx}};
constinit const Unary entr{{UnaryOp::kEntr, "EntrBackward", UnaryType::kFloatReal, kInput, d_entr}};
constinit const Unary i0{{UnaryOp::kI0, "I0Backward", UnaryType::kFloatReal, kInput, d_i0}};
constinit const Unary i0e{{UnaryOp::kI0e, "I0eBackward", UnaryType::kFloatReal, kInput, d_i0e}};
constinit const Unary i1{{UnaryOp::kI1, "I1Backward", UnaryType::kFloatReal, kInput, d_i1}};
constinit const Unary i1e{{UnaryOp::kI1e, "I1eBackward", UnaryType::kFloatReal, kInput, d_i1e}};
constinit const Unary bessel_j0{{UnaryOp::kBesselJ0, "BesselJ0Backward", UnaryType::kFloatReal, kInput, d_bessel_j0}};
constinit const Unary bessel_j1{{UnaryOp::kBesselJ1, "BesselJ1Backward", UnaryType::kFloatReal, kInput, d_bessel_j1}};
constinit const Unary bessel_y0{{UnaryOp::kBesselY0, "BesselY0Backward", UnaryType::kFloatReal, kInput, d_bessel_y0}};
constinit const Unary bessel_y1{{UnaryOp::kBesselY1, "BesselY1Backward", UnaryType::kFloatReal, kInput, d_bessel_y1}};
constinit const Unary modified_bessel_k0{{UnaryOp::kModifiedBesselK0, "ModifiedBesselK0Backward", UnaryType::kFloatReal, kInput, d_k0}};
constinit const Unary modified_bessel_k1{{UnaryOp::kModifiedBesselK1, "ModifiedBesselK1Backward", UnaryType::kFloatReal, kInput, d_k1}};
constinit const Unary scaled_modified_bessel_k0{{UnaryOp::kScaledModifiedBesselK0, "ScaledModifiedBesselK0Backward", UnaryType::kFloatReal, kInput, d_scaled_k0}};
constinit const Unary scaled_modified_bessel_k1{{UnaryOp::kScaledModifiedBesselK1, "ScaledModifiedBesselK1Backward", UnaryType::kFloatReal, kInput, d_scaled_k1}};
constinit const Unary spherical_bessel_j0{{UnaryOp::kSphericalBesselJ0, "SphericalBesselJ0Backward", UnaryType::kFloatReal, kInput, d_spherical_bessel_j0}};
constinit const Unary airy_ai{{UnaryOp::kAiryAi, "AiryAiBackward", UnaryType::kFloatReal, kInput, d_airy_ai}};
constinit const Binary zeta{{BinaryOp::kZeta, "ZetaBackward", BinaryType::kFloatReal, {kSaveNothing, no_derivative}, {kSaveWide, zeta_q}}};
constinit const Binary igamma{{BinaryOp::kIgamma, "IgammaBackward", BinaryType::kFloatReal, {kSaveNothing, no_derivative}, {kSaveWide, igamma_x}}};
constinit const Binary standard_gamma_grad{{BinaryOp::kStandardGammaGrad, "StandardGammaGradBackward", BinaryType::kFloatReal, {kSaveNothing, no_second_derivative}, {kSaveNothing, no_second_derivative}}};
constinit const Binary igammac{{BinaryOp::kIgammac, "IgammacBackward", BinaryType::kFloatReal, {kSaveNothing, no_derivative}, {kSaveWide, igammac_x}}};
constinit const Binary xlog1py{{BinaryOp::kXlog1py, "Xlog1pyBackward", BinaryType::kFloatReal, {kSaveWide, xlog1py_a}, {kSaveWide, xlog1py_b}}};
// clang-format on

}  // namespace tsr::ops
