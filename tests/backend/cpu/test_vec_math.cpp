// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error of the float32 functions in units in the last place, over all floats, at every
// instruction-set level that this machine can run. TSR_ULP_STEP=1 tests all 2**32 floats. Also
// signed zeros of float32 and float64, and logarithms of complex64.
#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstdlib>
#include <cstring>

#include "support/effort.h"
#include "ulp.h"

namespace tsr::test::test_vec_math {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr size_t kBlock = 4096;

uint32_t step_of_test() {
  const char* text = std::getenv("TSR_ULP_STEP");
  // About a million floats (with a sanitizer a fifth), at a step that is coprime to their number.
  return text == nullptr ? effort(4001U, 20011U)
                         : static_cast<uint32_t>(std::max(1, std::atoi(text)));
}

double normal_cdf(double x) {
  return std::erfc(-x * M_SQRT1_2) / 2;
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// The reduction is exact in double.
double sinc(double x) {
  if (x == 0) return 1;
  const double n = std::rint(x);
  const double sine = std::sin((x - n) * M_PI);
  return (std::fmod(n, 2.0) == 0 ? sine : -sine) / (x * M_PI);
}

// The zero of erf(y) - x, by Newton's method.
double erfinv(double x) {
  if (std::abs(x) >= 1) return std::abs(x) == 1 ? x * INFINITY : NAN;
  double y = x * M_2_SQRTPI / 2;
  for (int step = 0; step < 40; ++step) y -= (std::erf(y) - x) / (M_2_SQRTPI * std::exp(-y * y));
  return y;
}

const Function<float> kFunctions[] = {
    {UnaryOp::kExp, "exp", 2, [](double x) { return std::exp(x); }},
    {UnaryOp::kLog, "log", 2, [](double x) { return std::log(x); }},
    {UnaryOp::kTanh, "tanh", 2, [](double x) { return std::tanh(x); }},
    {UnaryOp::kSigmoid, "sigmoid", 1.5, sigmoid},
    {UnaryOp::kErf, "erf", 2, [](double x) { return std::erf(x); }},
    {UnaryOp::kErfinv, "erfinv", 2, erfinv},
    {UnaryOp::kErfc, "erfc", 0.65, [](double x) { return std::erfc(x); }},
    {UnaryOp::kSin, "sin", 2, [](double x) { return std::sin(x); }},
    {UnaryOp::kCos, "cos", 2, [](double x) { return std::cos(x); }},
    {UnaryOp::kExpm1, "expm1", 2, [](double x) { return std::expm1(x); }},
    {UnaryOp::kLog1p, "log1p", 2, [](double x) { return std::log1p(x); }},
    {UnaryOp::kLog2, "log2", 2, [](double x) { return std::log2(x); }},
    {UnaryOp::kLog10, "log10", 2, [](double x) { return std::log10(x); }},
    {UnaryOp::kSinh, "sinh", 2, [](double x) { return std::sinh(x); }},
    {UnaryOp::kCosh, "cosh", 2, [](double x) { return std::cosh(x); }},
    {UnaryOp::kAcos, "acos", 2, [](double x) { return std::acos(x); }},
    {UnaryOp::kAsin, "asin", 2, [](double x) { return std::asin(x); }},
    {UnaryOp::kAtan, "atan", 2, [](double x) { return std::atan(x); }},
    {UnaryOp::kTan, "tan", 1.1, [](double x) { return std::tan(x); }},
    {UnaryOp::kAcosh, "acosh", 0.51, [](double x) { return std::acosh(x); }},
    {UnaryOp::kAsinh, "asinh", 0.51, [](double x) { return std::asinh(x); }},
    {UnaryOp::kAtanh, "atanh", 2, [](double x) { return std::atanh(x); }},
    {UnaryOp::kExp2, "exp2", 1.5, [](double x) { return std::exp2(x); }},
    {UnaryOp::kSinc, "sinc", 0.51, sinc},
    {UnaryOp::kLgamma, "lgamma", 0.51, [](double x) { return std::lgamma(x); }},
    {UnaryOp::kSilu, "silu", 2.5, [](double x) { return x * sigmoid(x); }, true},
    {UnaryOp::kGelu, "gelu", 4.5, [](double x) { return x * normal_cdf(x); }, true},
    {UnaryOp::kSqrt, "sqrt", 0.51, [](double x) { return std::sqrt(x); }},
    {UnaryOp::kRsqrt, "rsqrt", 1.51, [](double x) { return 1 / std::sqrt(x); }},
};

const PairFunction<float> kPairs[] = {
    {BinaryOp::kPow, "pow", 0.52, [](double x, double y) { return std::pow(x, y); }},
    {BinaryOp::kHypot, "hypot", 0.51, [](double x, double y) { return std::hypot(x, y); }},
    {BinaryOp::kAtan2, "atan2", 2, [](double x, double y) { return std::atan2(x, y); }},
};

TEST(VecMath, errors_stay_below_two_ulp_over_the_whole_range) {
  const uint32_t step = step_of_test();
  std::vector<float> in(kBlock);
  for (const Function<float>& function : kFunctions) {
    Errors errors(function);
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
      for (float& x : in) {
        x = std::bit_cast<float>(static_cast<uint32_t>(bits));
        bits += step;
      }
      errors.measure(in);
    }
    errors.report();
  }
}

TEST(VecMath, powers_hypot_and_atan2_of_pairs) {
  std::vector<float> a(kBlock);
  std::vector<float> b(kBlock);
  double worst[std::size(kPairs)] = {};
  uint32_t bits = 12345;
  const auto draw = [&] {
    bits = bits * 1664525U + 1013904223U;
    return std::bit_cast<float>(bits);
  };
  for (int round = 0; round < 300; ++round) {
    for (size_t i = 0; i < kBlock; ++i) {
      a[i] = draw();
      b[i] = round % 2 == 0 ? draw() : std::ldexp(draw(), -(std::ilogb(a[i] + 1) / 2));
    }
    for (size_t p = 0; p < std::size(kPairs); ++p) {
      measure_pairs(kPairs[p], a, b, worst[p]);
      if (HasFatalFailure()) return;
    }
  }
}

template <class T>
class SignedZeros : public testing::Test {};
template <class T>
class BoundedFunctions : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(SignedZeros, Floats);
TYPED_TEST_SUITE(BoundedFunctions, Floats);

TYPED_TEST(SignedZeros, keep_their_sign) {
  for (const cpu::Level* level : levels()) {
    for (const UnaryOp op :
         {UnaryOp::kExpm1, UnaryOp::kLog1p, UnaryOp::kSin, UnaryOp::kTan, UnaryOp::kAsin,
          UnaryOp::kAtan, UnaryOp::kSinh, UnaryOp::kTanh, UnaryOp::kErf, UnaryOp::kSqrt,
          UnaryOp::kAsinh, UnaryOp::kAtanh, UnaryOp::kErfinv, UnaryOp::kRound, UnaryOp::kTrunc,
          UnaryOp::kFloor, UnaryOp::kCeil}) {
      const std::vector<TypeParam> out = row_of<TypeParam>(*level, op, {0, -TypeParam{0}});
      EXPECT_TRUE(out[0] == 0 && !std::signbit(out[0]))
          << static_cast<int>(op) << " " << level->name;
      EXPECT_TRUE(out[1] == 0 && std::signbit(out[1]))
          << static_cast<int>(op) << " " << level->name;
    }
  }
}

// Numbers that take another way than the rest of their register.
const float kRare[] = {0.0F, -0.0F, -1.0F,  1e-40F,   9.15F,     9.5F,
                       2e4F, 2e6F,  -3e30F, INFINITY, -INFINITY, NAN};

TEST(VecMath, a_result_does_not_depend_on_the_numbers_beside_it) {
  constexpr size_t kCount = 64;
  for (const cpu::Level* level : levels()) {
    for (const Function<float>& function : kFunctions) {
      std::vector<float> in(kCount);
      for (size_t i = 0; i < kCount; ++i) in[i] = 0.01F + 0.05F * static_cast<float>(i);
      const std::vector<float> alone = row_of(*level, function.op, in);
      for (const float rare : kRare) {
        std::vector<float> mixed = in;
        for (size_t i = 0; i < kCount; i += 3) mixed[i] = rare;
        const std::vector<float> out = row_of(*level, function.op, mixed);
        const std::vector<float> all =
            row_of(*level, function.op, std::vector<float>(kCount, rare));
        for (size_t i = 0; i < kCount; ++i) {
          const float want = i % 3 == 0 ? all[i] : alone[i];
          EXPECT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want))
              << function.name << " beside " << rare << " at " << level->name;
        }
      }
    }
  }
}

TYPED_TEST(SignedZeros, give_one_where_the_function_is_one_at_zero) {
  for (const cpu::Level* level : levels()) {
    for (const UnaryOp op : {UnaryOp::kErfc, UnaryOp::kCos, UnaryOp::kExp, UnaryOp::kCosh}) {
      const std::vector<TypeParam> out = row_of<TypeParam>(*level, op, {0, -TypeParam{0}});
      EXPECT_EQ(out[0], 1) << static_cast<int>(op) << " " << level->name;
      EXPECT_EQ(out[1], 1) << static_cast<int>(op) << " " << level->name;
    }
  }
}

// In long double: of 2x - 1, whose zero is that of the function, or of x.
double logit(double x) {
  if (!(x >= 0 && x <= 1)) return NAN;
  const auto wide = static_cast<long double>(x);
  return static_cast<double>(x > 0.25 && x < 0.75 ? 2 * std::atanh(2 * wide - 1)
                                                  : std::log(wide) - std::log1p(-wide));
}

TEST(VecMath, logit_keeps_its_digits_around_its_zero_and_at_both_ends) {
  std::vector<float> in;
  for (uint32_t bits = 0; bits <= std::bit_cast<uint32_t>(1.0F); bits += step_of_test())
    in.push_back(std::bit_cast<float>(bits));
  for (int i = -100000; i <= 100000; ++i) in.push_back(0.5F + static_cast<float>(i) * 0x1p-24F);
  for (const float x : {0.0F, -0.0F, 1.0F, -1.0F, 2.0F, 1e-45F, INFINITY, NAN}) in.push_back(x);
  kernel::Parameter params[3] = {};
  const float limits[2] = {-INFINITY, INFINITY};
  for (int k = 0; k < 2; ++k) std::memcpy(&params[k], &limits[k], sizeof(float));
  const void* operands[1] = {in.data()};
  for (const cpu::Level* level : levels()) {
    std::vector<float> out(in.size());
    level->rows<cpu::PointwiseRows>()
        .unary(UnaryOp::kLogit, DType::kFloat32)
        .row(static_cast<int64_t>(in.size()), out.data(), operands, params);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_LT(error_in_ulp(out[i], logit(static_cast<double>(in[i]))), 2)
          << in[i] << " at " << level->name;
  }
}

TEST(VecMath, logarithms_of_complex_numbers) {
  std::vector<std::complex<float>> in;
  for (int i = 0; i < 4000; ++i) {
    const float angle = 0.01F * static_cast<float>(i);
    const float size = i % 3 == 0 ? 1.0F : std::ldexp(1.0F, i % 250 - 125);
    in.emplace_back(size * std::cos(angle), size * std::sin(angle));
  }
  const float rare[] = {0.0F, -0.0F, 1.0F, -1.0F, 1e-45F, 3e38F, INFINITY, -INFINITY, NAN};
  for (const float re : rare) {
    for (const float im : rare) in.emplace_back(re, im);
  }
  const kernel::Parameter params[3] = {};
  const void* operands[1] = {in.data()};
  for (const cpu::Level* level : levels()) {
    std::vector<std::complex<float>> out(in.size());
    level->rows<cpu::PointwiseRows>()
        .unary(UnaryOp::kLog, DType::kComplex64)
        .row(static_cast<int64_t>(in.size()), out.data(), operands, params);
    for (size_t i = 0; i < in.size(); ++i) {
      const std::complex<double> want = std::log(std::complex<double>(in[i]));
      ASSERT_LT(error_in_ulp(out[i].real(), want.real()), 1) << in[i] << " at " << level->name;
      ASSERT_LT(error_in_ulp(out[i].imag(), want.imag()), 2) << in[i] << " at " << level->name;
    }
  }
}

// Every float of two binades, which are those of all others.
TEST(VecMath, square_roots_are_rounded_correctly) {
  std::vector<float> in(kBlock);
  const uint32_t end = std::bit_cast<uint32_t>(4.0F);
  for (uint32_t bits = std::bit_cast<uint32_t>(1.0F); bits < end;) {
    for (float& x : in) x = std::bit_cast<float>(bits++);
    for (const cpu::Level* level : levels()) {
      const std::vector<float> out = row_of(*level, UnaryOp::kSqrt, in);
      for (size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(out[i], std::sqrt(in[i])) << in[i] << " at " << level->name;
    }
  }
}

TYPED_TEST(BoundedFunctions, stay_within_one) {
  for (const cpu::Level* level : levels()) {
    std::vector<TypeParam> in;
    for (TypeParam x = 0; x < 12; x += TypeParam(1) / 4096) in.push_back(x);
    for (const UnaryOp op : {UnaryOp::kTanh, UnaryOp::kErf, UnaryOp::kSin, UnaryOp::kCos}) {
      for (const TypeParam y : row_of<TypeParam>(*level, op, in))
        EXPECT_LE(std::abs(y), 1) << static_cast<int>(op) << " " << level->name;
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_vec_math
