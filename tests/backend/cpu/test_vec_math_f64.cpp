// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error of the float64 functions in units in the last place at every instruction-set level this
// machine can run: against long double, over the whole range of doubles and, more densely, where
// the function does its work. TSR_ULP_COUNT sets the arguments per function and range.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "ulp.h"

namespace tsr::test {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;
using Wide = long double;

constexpr size_t kBlock = 4096;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSubnormal = std::numeric_limits<double>::denorm_min();
constexpr double kLeast = std::numeric_limits<double>::min();
constexpr double kMost = std::numeric_limits<double>::max();

size_t blocks_of_test() {
  const char* text = std::getenv("TSR_ULP_COUNT");
  const size_t count = text == nullptr ? 100000 : std::strtoull(text, nullptr, 10);
  return count / kBlock + 1;
}

// ---- References ----

Wide sigmoid(Wide x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// erfc(-x / sqrt 2) / 2. The argument's rounding error, which the tail magnifies by its square, is
// put back with the derivative.
Wide normal_cdf(Wide x) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  constexpr Wide kRootHalf = 0.70710678118654752440084436210484903928L;
  constexpr Wide kRootHalfRest = 9.77903732195434e-22L;  // sqrt(1/2) - kRootHalf
  const Wide u = -x * kRootHalf;
  const Wide lost = std::fma(-x, kRootHalf, -u) - x * kRootHalfRest;
  const Wide derivative = -2 * std::exp(-u * u) * 0.56418958354775628694807945156077258584L;
  return (std::erfc(u) + derivative * lost) / 2;
}

struct Case {
  UnaryOp op;
  const char* name;
  double low, high;  // of the dense range
  double limit;
  Wide (*reference)(Wide);
  // x f(x), where f may be subnormal, which x magnifies; and -infinity times 0 is NaN.
  bool product = false;
};

const Case kCases[] = {
    {UnaryOp::kExp, "exp", -750, 712, 0.8, [](Wide x) { return std::exp(x); }},
    {UnaryOp::kExpm1, "expm1", -3, 3, 1.6, [](Wide x) { return std::expm1(x); }},
    {UnaryOp::kLog, "log", 0, 3, 1, [](Wide x) { return std::log(x); }},
    {UnaryOp::kLog2, "log2", 0, 3, 1, [](Wide x) { return std::log2(x); }},
    {UnaryOp::kLog10, "log10", 0, 3, 1, [](Wide x) { return std::log10(x); }},
    {UnaryOp::kLog1p, "log1p", -1, 2, 1.1, [](Wide x) { return std::log1p(x); }},
    {UnaryOp::kSin, "sin", -20, 20, 1.6, [](Wide x) { return std::sin(x); }},
    {UnaryOp::kCos, "cos", -20, 20, 1.6, [](Wide x) { return std::cos(x); }},
    {UnaryOp::kTan, "tan", -20, 20, 1.2, [](Wide x) { return std::tan(x); }},
    {UnaryOp::kAsin, "asin", -1, 1, 1.5, [](Wide x) { return std::asin(x); }},
    {UnaryOp::kAcos, "acos", -1, 1, 1.5, [](Wide x) { return std::acos(x); }},
    {UnaryOp::kAtan, "atan", -4, 4, 1.7, [](Wide x) { return std::atan(x); }},
    {UnaryOp::kSinh, "sinh", -4, 4, 2, [](Wide x) { return std::sinh(x); }},
    {UnaryOp::kCosh, "cosh", -4, 4, 2, [](Wide x) { return std::cosh(x); }},
    {UnaryOp::kTanh, "tanh", -3, 3, 2, [](Wide x) { return std::tanh(x); }},
    {UnaryOp::kSigmoid, "sigmoid", -40, 40, 2, sigmoid},
    {UnaryOp::kErf, "erf", -6, 6, 2, [](Wide x) { return std::erf(x); }},
    {UnaryOp::kErfc, "erfc", -6, 27, 4, [](Wide x) { return std::erfc(x); }},
    {UnaryOp::kSilu, "silu", -40, 40, 2.5, [](Wide x) { return x * sigmoid(x); }, true},
    {UnaryOp::kGelu, "gelu", -38, 9, 5, [](Wide x) { return x * normal_cdf(x); }, true},
};

const double kSpecial[] = {0.0,      -0.0,   kInf,   -kInf,  kNaN, kSubnormal, -kSubnormal, kLeast,
                           -kLeast,  kMost,  -kMost, 1.0,    -1.0, 0.5,        -0.5,        0x1p-30,
                           -0x1p-30, 0x1p54, 1e300,  -1e300, 2.0,  -2.0};

// ---- The measurement ----

class Errors {
 public:
  explicit Errors(const Case& c) : case_(c), levels_(levels()), worst_(levels_.size(), 0) {}

  void measure(const std::vector<double>& in) {
    std::vector<Wide> want(in.size());
    std::transform(in.begin(), in.end(), want.begin(),
                   [&](double x) { return case_.reference(static_cast<Wide>(x)); });
    std::vector<double> out(in.size());
    const void* operands[1] = {in.data()};
    const kernel::Parameter params[3] = {};
    for (size_t l = 0; l < levels_.size(); ++l) {
      levels_[l]
          ->unary(case_.op, DType::kFloat64)
          .row(static_cast<int64_t>(in.size()), out.data(), operands, params);
      for (size_t i = 0; i < in.size(); ++i) {
        double error = error_in_ulp(out[i], want[i]);
        if (case_.product && std::abs(want[i]) < std::abs(in[i]) * kLeast) {
          error = static_cast<double>(std::abs(static_cast<Wide>(out[i]) - want[i]) /
                                      (static_cast<Wide>(kSubnormal) * std::abs(in[i])));
        }
        if (error <= worst_[l]) continue;
        worst_[l] = error;
        EXPECT_LE(error, case_.limit)
            << case_.name << "(" << testing::PrintToString(in[i]) << ") at " << levels_[l]->name
            << ": expected " << static_cast<double>(want[i]) << ", got " << out[i];
      }
    }
  }
  void report() const {
    for (size_t l = 0; l < levels_.size(); ++l) {
      std::printf("  %-8s %-7s %.3f ulp\n", case_.name, levels_[l]->name, worst_[l]);
    }
  }

 private:
  const Case& case_;
  std::vector<const cpu::Level*> levels_;
  std::vector<double> worst_;
};

TEST(VecMathFloat64, errors_stay_below_two_ulp_over_the_whole_range) {
  const size_t blocks = blocks_of_test();
  // A step through all doubles that has no factor in common with their number.
  const uint64_t step = (~uint64_t{0} / (blocks * kBlock)) | 1;
  std::vector<double> in(kBlock);
  for (const Case& c : kCases) {
    Errors errors(c);
    errors.measure({std::begin(kSpecial), std::end(kSpecial)});
    uint64_t bits = 0;
    std::mt19937_64 generator(7);
    std::uniform_real_distribution<double> dense(c.low, c.high);
    for (size_t block = 0; block < blocks; ++block) {
      for (double& x : in) x = std::bit_cast<double>(bits += step);
      errors.measure(in);
      for (double& x : in) x = dense(generator);
      errors.measure(in);
    }
    errors.report();
  }
}

// The arguments that lie nearest to multiples of pi/2, and those whose reduction has few bits.
TEST(VecMathFloat64, angles_next_to_multiples_of_half_pi_keep_their_bits) {
  std::vector<double> in = {6381956970095103.0 * 0x1p797, 0x1p1000, 1e22, 1e6, -1e6, 1e6 + 1};
  std::mt19937_64 generator(11);
  for (int i = 0; i < 60000; ++i) {
    const auto multiple = static_cast<Wide>(generator() >> (44 + i % 20));
    const auto near = static_cast<double>(multiple * 1.57079632679489661923132169163975144L);
    for (const double x : {near, std::nextafter(near, kInf), std::nextafter(near, -kInf)}) {
      in.push_back(x);
      in.push_back(-x);
    }
  }
  for (const Case& c : kCases) {
    if (c.op != UnaryOp::kSin && c.op != UnaryOp::kCos && c.op != UnaryOp::kTan) continue;
    Errors errors(c);
    errors.measure(in);
    errors.report();
  }
}

TEST(VecMathFloat64, whole_powers_come_out_exact) {
  const kernel::Parameter params[3] = {};
  for (const cpu::Level* level : levels()) {
    for (int k = -1022; k <= 1023; ++k) {
      const double x = std::ldexp(1.0, k);
      double out = 0;
      const void* operands[1] = {&x};
      level->unary(UnaryOp::kLog2, DType::kFloat64).row(1, &out, operands, params);
      ASSERT_EQ(out, k) << level->name;
    }
    for (int base = -20; base <= 20; ++base) {
      double want = 1;
      for (int exponent = 0; exponent <= 12; ++exponent, want *= base) {
        const double x = base;
        const double y = exponent;
        double out = 0;
        const void* operands[2] = {&x, &y};
        level->binary(BinaryOp::kPow, DType::kFloat64).row(1, &out, operands, params);
        ASSERT_EQ(out, want) << base << " ** " << exponent << " at " << level->name;
      }
    }
  }
}

struct Pair {
  BinaryOp op;
  const char* name;
  double limit;
  Wide (*reference)(Wide, Wide);
};
const Pair kPairs[] = {
    {BinaryOp::kPow, "pow", 1, [](Wide x, Wide y) { return std::pow(x, y); }},
    {BinaryOp::kHypot, "hypot", 1.5, [](Wide x, Wide y) { return std::hypot(x, y); }},
    {BinaryOp::kAtan2, "atan2", 2, [](Wide y, Wide x) { return std::atan2(y, x); }},
};

void measure_pairs(const std::vector<double>& a, const std::vector<double>& b, const Pair& pair,
                   double& worst) {
  const kernel::Parameter params[3] = {};
  std::vector<double> out(a.size());
  const void* operands[2] = {a.data(), b.data()};
  for (const cpu::Level* level : levels()) {
    level->binary(pair.op, DType::kFloat64)
        .row(static_cast<int64_t>(a.size()), out.data(), operands, params);
    for (size_t i = 0; i < a.size(); ++i) {
      const Wide want = pair.reference(static_cast<Wide>(a[i]), static_cast<Wide>(b[i]));
      const double error = error_in_ulp(out[i], want);
      worst = std::max(worst, error);
      ASSERT_LE(error, pair.limit)
          << pair.name << " of " << testing::PrintToString(a[i]) << ", "
          << testing::PrintToString(b[i]) << " at " << level->name << ": expected "
          << static_cast<double>(want) << ", got " << out[i];
    }
  }
}

TEST(VecMathFloat64, powers_hypot_and_atan2_of_pairs) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> base(0.01, 8);
  std::uniform_real_distribution<double> power(-750, 750);
  std::vector<double> a(kBlock);
  std::vector<double> b(kBlock);
  for (const Pair& pair : kPairs) {
    double worst = 0;
    for (size_t round = 0; round < 2 * blocks_of_test(); ++round) {
      for (size_t i = 0; i < kBlock; ++i) {
        a[i] = std::bit_cast<double>(generator());
        b[i] = std::bit_cast<double>(generator());
        if (round % 2 == 0) continue;
        if (pair.op == BinaryOp::kPow) {  // results all over the range
          a[i] = base(generator);
          b[i] = power(generator) / (std::abs(std::log(a[i])) + 1e-3);
        } else {  // of like size
          b[i] = std::ldexp(a[i], static_cast<int>(generator() % 40) - 20) * 1.1;
        }
      }
      measure_pairs(a, b, pair, worst);
      if (testing::Test::HasFatalFailure()) return;
    }
    std::printf("  %-8s %.3f ulp\n", pair.name, worst);
    a.assign(std::begin(kSpecial), std::end(kSpecial));
    for (const double y : kSpecial) {
      b.assign(a.size(), y);
      measure_pairs(a, b, pair, worst);
    }
    a.resize(kBlock);
    b.resize(kBlock);
  }
}

TEST(VecMathFloat64, signed_zeros_keep_their_sign) {
  const kernel::Parameter params[3] = {};
  const double in[2] = {0.0, -0.0};
  const void* operands[1] = {in};
  for (const cpu::Level* level : levels()) {
    for (const UnaryOp op :
         {UnaryOp::kExpm1, UnaryOp::kLog1p, UnaryOp::kSin, UnaryOp::kTan, UnaryOp::kAsin,
          UnaryOp::kAtan, UnaryOp::kSinh, UnaryOp::kTanh, UnaryOp::kErf, UnaryOp::kSqrt,
          UnaryOp::kRound, UnaryOp::kTrunc, UnaryOp::kFloor, UnaryOp::kCeil}) {
      double out[2] = {1, 1};
      level->unary(op, DType::kFloat64).row(2, out, operands, params);
      EXPECT_TRUE(out[0] == 0 && !std::signbit(out[0]))
          << static_cast<int>(op) << " " << level->name;
      EXPECT_TRUE(out[1] == 0 && std::signbit(out[1]))
          << static_cast<int>(op) << " " << level->name;
    }
  }
}

}  // namespace
}  // namespace tsr::test
