// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error of the float64 functions in units in the last place at every instruction-set level that
// this machine can run. The reference is long double, over all doubles and, more densely, in the
// range that matters for the function. TSR_ULP_COUNT sets the number of arguments for each function
// and range.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "ulp.h"

namespace tsr::test::test_vec_math_f64 {
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

// erfc(-x / sqrt 2) / 2. In the tail, the argument's rounding error is magnified by the square of
// the argument; a first-order correction with the derivative removes it.
Wide normal_cdf(Wide x) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  constexpr Wide kRootHalf = 0.70710678118654752440084436210484903928L;
  constexpr Wide kRootHalfRest = 9.77903732195434e-22L;  // sqrt(1/2) - kRootHalf
  const Wide u = -x * kRootHalf;
  const Wide lost = std::fma(-x, kRootHalf, -u) - x * kRootHalfRest;
  const Wide derivative = -2 * std::exp(-u * u) * 0.56418958354775628694807945156077258584L;
  return (std::erfc(u) + derivative * lost) / 2;
}

// The zero of erf(y) - x by Newton's method, for large x of erfc(y) - (1 - x), from the side where
// it does not overshoot.
Wide erfinv(Wide x) {
  const Wide size = std::abs(x);
  if (!(size < 1)) return size == 1 ? x * std::numeric_limits<Wide>::infinity() : std::nanl("");
  const bool far = size > 0.5L;
  Wide y = far ? 0.4L : size;
  for (int step = 0; step < 100; ++step) {
    const Wide excess = far ? 1 - size - std::erfc(y) : std::erf(y) - size;
    const Wide change = excess * std::exp(y * y) / 1.12837916709551257389615890312154517169L;
    y -= change;
    if (std::abs(change) <= y * 0x1p-63L) break;
  }
  return std::copysign(y, x);
}

struct Case {
  double low, high;  // of the densely tested range
  Function<double> function;
};

const Case kCases[] = {
    {-750, 712, {UnaryOp::kExp, "exp", 0.8, [](Wide x) { return std::exp(x); }}},
    {-3, 3, {UnaryOp::kExpm1, "expm1", 1.6, [](Wide x) { return std::expm1(x); }}},
    {0, 3, {UnaryOp::kLog, "log", 1, [](Wide x) { return std::log(x); }}},
    {0, 3, {UnaryOp::kLog2, "log2", 1, [](Wide x) { return std::log2(x); }}},
    {0, 3, {UnaryOp::kLog10, "log10", 1, [](Wide x) { return std::log10(x); }}},
    {-1, 2, {UnaryOp::kLog1p, "log1p", 1.1, [](Wide x) { return std::log1p(x); }}},
    {-20, 20, {UnaryOp::kSin, "sin", 1.6, [](Wide x) { return std::sin(x); }}},
    {-20, 20, {UnaryOp::kCos, "cos", 1.6, [](Wide x) { return std::cos(x); }}},
    {-20, 20, {UnaryOp::kTan, "tan", 1.5, [](Wide x) { return std::tan(x); }}},
    {-1, 1, {UnaryOp::kAsin, "asin", 1.5, [](Wide x) { return std::asin(x); }}},
    {-1, 1, {UnaryOp::kAcos, "acos", 1.5, [](Wide x) { return std::acos(x); }}},
    {-4, 4, {UnaryOp::kAtan, "atan", 1.7, [](Wide x) { return std::atan(x); }}},
    {-4, 4, {UnaryOp::kSinh, "sinh", 2, [](Wide x) { return std::sinh(x); }}},
    {-4, 4, {UnaryOp::kCosh, "cosh", 2, [](Wide x) { return std::cosh(x); }}},
    {-3, 3, {UnaryOp::kTanh, "tanh", 2, [](Wide x) { return std::tanh(x); }}},
    {1, 9, {UnaryOp::kAcosh, "acosh", 2.5, [](Wide x) { return std::acosh(x); }}},
    {-4, 4, {UnaryOp::kAsinh, "asinh", 2, [](Wide x) { return std::asinh(x); }}},
    {-1, 1, {UnaryOp::kAtanh, "atanh", 2, [](Wide x) { return std::atanh(x); }}},
    {-40, 40, {UnaryOp::kExp2, "exp2", 1, [](Wide x) { return std::exp2(x); }}},
    {-40, 40, {UnaryOp::kSigmoid, "sigmoid", 2, sigmoid}},
    {-6, 6, {UnaryOp::kErf, "erf", 2, [](Wide x) { return std::erf(x); }}},
    {-6, 27, {UnaryOp::kErfc, "erfc", 4, [](Wide x) { return std::erfc(x); }}},
    {-1, 1, {UnaryOp::kErfinv, "erfinv", 5, erfinv}},
    {0, 20, {UnaryOp::kLgamma, "lgamma", 5, [](Wide x) { return std::lgamma(x); }}},
    {-40, 40, {UnaryOp::kSilu, "silu", 2.5, [](Wide x) { return x * sigmoid(x); }, true}},
    {-38, 9, {UnaryOp::kGelu, "gelu", 5, [](Wide x) { return x * normal_cdf(x); }, true}},
};

const double kSpecial[] = {0.0,      -0.0,   kInf,   -kInf,  kNaN, kSubnormal, -kSubnormal, kLeast,
                           -kLeast,  kMost,  -kMost, 1.0,    -1.0, 0.5,        -0.5,        0x1p-30,
                           -0x1p-30, 0x1p54, 1e300,  -1e300, 2.0,  -2.0};

TEST(VecMathFloat64, errors_stay_below_two_ulp_over_the_whole_range) {
  const size_t blocks = blocks_of_test();
  // A step through all doubles that is coprime to their number.
  const uint64_t step = (~uint64_t{0} / (blocks * kBlock)) | 1;
  std::vector<double> in(kBlock);
  for (const Case& c : kCases) {
    Errors errors(c.function);
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

// Around 1, where logarithms are small and the tables' intervals meet.
TEST(VecMathFloat64, logarithms_keep_their_digits_around_one_and_where_intervals_meet) {
  std::vector<double> in;
  for (int k = -16; k <= 16; ++k) {
    const double edge = 1 + k * (k < 0 ? 0x1p-5 : 0x1p-4);
    for (int i = -3000; i <= 3000; ++i)
      in.push_back(edge + i * std::ldexp(1.0, -53 + std::abs(i) % 45));
  }
  for (const Case& c : kCases) {
    const UnaryOp op = c.function.op;
    if (op != UnaryOp::kLog && op != UnaryOp::kLog2 && op != UnaryOp::kLog10) continue;
    Errors errors(c.function);
    errors.measure(in);
    errors.report();
  }
}

// Of 2x - 1, whose zero is that of the function, or of x.
Wide logit(Wide x) {
  if (!(x >= 0 && x <= 1)) return NAN;
  return x > 0.25L && x < 0.75L ? 2 * std::atanh(2 * x - 1) : std::log(x) - std::log1p(-x);
}

TEST(VecMathFloat64, logit_keeps_its_digits_around_its_zero_and_at_both_ends) {
  std::vector<double> in = {0.0, -0.0, 1.0, -1.0, 2.0, kSubnormal, kLeast, kInf, kNaN, 1 - 0x1p-53};
  std::mt19937_64 generator(13);
  std::uniform_real_distribution<double> dense(0, 1);
  for (size_t i = 0; i < blocks_of_test() * kBlock; ++i) {
    const double x = dense(generator);
    in.push_back(x);
    in.push_back(std::ldexp(x, -static_cast<int>(i % 1074)));
    in.push_back(1 - std::ldexp(x, -static_cast<int>(i % 53)));
    in.push_back(0.5 + std::ldexp(x - 0.5, -static_cast<int>(i % 53)));
  }
  kernel::Parameter params[3] = {};
  const double limits[2] = {-kInf, kInf};
  for (int k = 0; k < 2; ++k) std::memcpy(&params[k], &limits[k], sizeof(double));
  const void* operands[1] = {in.data()};
  for (const cpu::Level* level : levels()) {
    std::vector<double> out(in.size());
    level->rows<cpu::PointwiseRows>()
        .unary(UnaryOp::kLogit, DType::kFloat64)
        .row(static_cast<int64_t>(in.size()), out.data(), operands, params);
    double worst = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double error = error_in_ulp(out[i], logit(static_cast<Wide>(in[i])));
      worst = std::max(worst, error);
      ASSERT_LT(error, 2.1) << testing::PrintToString(in[i]) << " at " << level->name;
    }
    std::printf("  logit    %-7s %.3f ulp\n", level->name, worst);
  }
}

// The arguments closest to multiples of pi/2, whose reduction leaves few bits.
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
    const UnaryOp op = c.function.op;
    if (op != UnaryOp::kSin && op != UnaryOp::kCos && op != UnaryOp::kTan) continue;
    Errors errors(c.function);
    errors.measure(in);
    errors.report();
  }
}

TEST(VecMathFloat64, whole_powers_come_out_exact) {
  for (const cpu::Level* level : levels()) {
    for (int k = -1022; k <= 1023; ++k) {
      const std::vector<double> x{std::ldexp(1.0, k)};
      ASSERT_EQ(row_of(*level, UnaryOp::kLog2, x)[0], k) << level->name;
    }
    for (int base = -20; base <= 20; ++base) {
      double want = 1;
      for (int exponent = 0; exponent <= 12; ++exponent, want *= base) {
        const std::vector<double> x{static_cast<double>(base)};
        const std::vector<double> y{static_cast<double>(exponent)};
        ASSERT_EQ(row_of(*level, BinaryOp::kPow, x, y)[0], want)
            << base << " ** " << exponent << " at " << level->name;
      }
    }
  }
}

// Numbers whose roots lie next to the middle between two doubles, where the last step of a quick
// root may fail. With the root k + 1/2 + little for k of 53 bits, k**2 + k is a small c beyond a
// multiple of 2**52 (of 2**53 in every second binade): (2k + 1)**2 = 1 + 4c modulo 2**54 (2**55).
TEST(VecMathFloat64, square_roots_are_rounded_correctly) {
  std::vector<double> in;
  for (const int bits : {52, 53}) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    for (int64_t c = -8192; c <= 8192; c += 2) {
      uint64_t root = 1;  // of 1 + 4c, from its lowest bit on
      for (int j = 3; j < bits + 2; ++j) {
        const uint64_t lost = root * root - static_cast<uint64_t>(1 + 4 * c);
        if ((lost >> j & 1) != 0) root += uint64_t{1} << (j - 1);
      }
      for (const uint64_t odd : {root, -root}) {
        const uint64_t k = ((odd / 2) & mask) | ((uint64_t{1} << 52) & ~mask);
        const auto square = static_cast<unsigned __int128>(k) * (k + 1);
        const auto number = static_cast<uint64_t>((square - static_cast<uint64_t>(c)) >> bits);
        if (k >> 52 != 1 || number >> 53 != 0) continue;
        in.push_back(std::ldexp(static_cast<double>(number), bits - 52));
        in.push_back(std::ldexp(static_cast<double>(number), bits - 52 - 952));
      }
    }
  }
  ASSERT_GT(in.size(), 10000);
  std::mt19937_64 generator(3);
  while (in.size() % kBlock != 0) in.push_back(std::abs(std::bit_cast<double>(generator())));
  for (const cpu::Level* level : levels()) {
    const std::vector<double> out = row_of(*level, UnaryOp::kSqrt, in);
    for (size_t i = 0; i < in.size(); ++i) {
      if (std::isnan(in[i])) continue;
      ASSERT_EQ(out[i], std::sqrt(in[i])) << testing::PrintToString(in[i]) << " at " << level->name;
    }
  }
}

const PairFunction<double> kPairs[] = {
    {BinaryOp::kPow, "pow", 1, [](Wide x, Wide y) { return std::pow(x, y); }},
    {BinaryOp::kHypot, "hypot", 1.5, [](Wide x, Wide y) { return std::hypot(x, y); }},
    {BinaryOp::kAtan2, "atan2", 2, [](Wide y, Wide x) { return std::atan2(y, x); }},
};

TEST(VecMathFloat64, powers_hypot_and_atan2_of_pairs) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> base(0.01, 8);
  std::uniform_real_distribution<double> power(-750, 750);
  std::vector<double> a(kBlock);
  std::vector<double> b(kBlock);
  for (const PairFunction<double>& pair : kPairs) {
    double worst = 0;
    for (size_t round = 0; round < 2 * blocks_of_test(); ++round) {
      for (size_t i = 0; i < kBlock; ++i) {
        a[i] = std::bit_cast<double>(generator());
        b[i] = std::bit_cast<double>(generator());
        if (round % 2 == 0) continue;
        if (pair.op == BinaryOp::kPow) {  // the results have all magnitudes
          a[i] = base(generator);
          b[i] = power(generator) / (std::abs(std::log(a[i])) + 1e-3);
        } else {  // results of similar size
          b[i] = std::ldexp(a[i], static_cast<int>(generator() % 40) - 20) * 1.1;
        }
      }
      measure_pairs(pair, a, b, worst);
      if (testing::Test::HasFatalFailure()) return;
    }
    std::printf("  %-8s %.3f ulp\n", pair.name, worst);
    a.assign(std::begin(kSpecial), std::end(kSpecial));
    for (const double y : kSpecial) {
      b.assign(a.size(), y);
      measure_pairs(pair, a, b, worst);
    }
    a.resize(kBlock);
    b.resize(kBlock);
  }
}

}  // namespace
}  // namespace tsr::test::test_vec_math_f64
