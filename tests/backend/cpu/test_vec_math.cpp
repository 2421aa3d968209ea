// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error of the float32 functions in units in the last place, over the whole range of floats, at
// every instruction-set level this machine can run. TSR_ULP_STEP=1 tries all 2**32 floats.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

#include "ulp.h"

namespace tsr::test {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr int64_t kBlock = 4096;
uint32_t step_of_test() {
  const char* text = std::getenv("TSR_ULP_STEP");
  // About four million floats, at a step that has no factor in common with the range.
  return text == nullptr ? 1009 : static_cast<uint32_t>(std::max(1, std::atoi(text)));
}

struct Case {
  UnaryOp op;
  const char* name;
  double limit;
  double (*reference)(double);
  // x f(x), where f may be denormal, which x magnifies; and -infinity times 0 is NaN.
  bool product = false;
};

double normal_cdf(double x) {
  return std::erfc(-x * M_SQRT1_2) / 2;
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

const Case kCases[] = {
    {UnaryOp::kExp, "exp", 2, [](double x) { return std::exp(x); }},
    {UnaryOp::kLog, "log", 2, [](double x) { return std::log(x); }},
    {UnaryOp::kTanh, "tanh", 2, [](double x) { return std::tanh(x); }},
    {UnaryOp::kSigmoid, "sigmoid", 1.5, sigmoid},
    {UnaryOp::kErf, "erf", 2, [](double x) { return std::erf(x); }},
    {UnaryOp::kErfc, "erfc", 0.52, [](double x) { return std::erfc(x); }},
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
    {UnaryOp::kTan, "tan", 0.6, [](double x) { return std::tan(x); }},
    {UnaryOp::kSilu, "silu", 2.5, [](double x) { return x * sigmoid(x); }, true},
    {UnaryOp::kGelu, "gelu", 4.5, [](double x) { return x * normal_cdf(x); }, true},
    {UnaryOp::kSqrt, "sqrt", 0.51, [](double x) { return std::sqrt(x); }},
    {UnaryOp::kRsqrt, "rsqrt", 1.51, [](double x) { return 1 / std::sqrt(x); }},
};

TEST(VecMath, errors_stay_below_two_ulp_over_the_whole_range) {
  const uint32_t step = step_of_test();
  const kernel::Parameter params[3] = {};
  std::vector<float> in(kBlock);
  std::vector<float> out(kBlock);
  for (const Case& c : kCases) {
    std::vector<double> worst(3, 0);
    const auto all = levels();
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
      for (float& x : in) {
        x = std::bit_cast<float>(static_cast<uint32_t>(bits));
        bits += step;
      }
      std::vector<double> want(kBlock);
      std::transform(in.begin(), in.end(), want.begin(),
                     [&](float x) { return c.reference(static_cast<double>(x)); });
      for (size_t l = 0; l < all.size(); ++l) {
        const void* operands[1] = {in.data()};
        all[l]->unary(c.op, DType::kFloat32).row(kBlock, out.data(), operands, params);
        for (size_t i = 0; i < kBlock; ++i) {
          double error = error_in_ulp(out[i], want[i]);
          const double size = std::abs(static_cast<double>(in[i]));
          if (c.product && std::abs(want[i]) < size * 0x1p-126) {
            error = std::abs(static_cast<double>(out[i]) - want[i]) / (size * 0x1p-149);
          }
          if (error <= worst[l]) continue;
          worst[l] = error;
          ASSERT_LE(error, c.limit) << c.name << "(" << in[i] << ") at " << all[l]->name
                                    << ": expected " << want[i] << ", got " << out[i];
        }
      }
    }
    for (size_t l = 0; l < all.size(); ++l) {
      RecordProperty(std::string(c.name) + "_" + all[l]->name, std::to_string(worst[l]));
      std::printf("  %-8s %-7s %.3f ulp\n", c.name, all[l]->name, worst[l]);
    }
  }
}

TEST(VecMath, powers_hypot_and_atan2_of_pairs) {
  const kernel::Parameter params[3] = {};
  std::vector<float> a(kBlock);
  std::vector<float> b(kBlock);
  std::vector<float> out(kBlock);
  struct Pair {
    BinaryOp op;
    double limit;
    double (*reference)(double, double);
  };
  const Pair pairs[] = {
      {BinaryOp::kPow, 0.52, [](double x, double y) { return std::pow(x, y); }},
      {BinaryOp::kHypot, 0.51, [](double x, double y) { return std::hypot(x, y); }},
      {BinaryOp::kAtan2, 2, [](double x, double y) { return std::atan2(x, y); }},
  };
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
    for (const Pair& pair : pairs) {
      for (const cpu::Level* level : levels()) {
        const void* operands[2] = {a.data(), b.data()};
        level->binary(pair.op, DType::kFloat32).row(kBlock, out.data(), operands, params);
        for (size_t i = 0; i < kBlock; ++i) {
          const double want = pair.reference(static_cast<double>(a[i]), static_cast<double>(b[i]));
          if (std::abs(want) > std::numeric_limits<float>::max()) {
            ASSERT_TRUE(std::isinf(out[i]) || std::isnan(want));
            continue;
          }
          ASSERT_LE(error_in_ulp(out[i], want), pair.limit)
              << "op " << static_cast<int>(pair.op) << " of " << a[i] << ", " << b[i] << " at "
              << level->name << ": expected " << want << ", got " << out[i];
        }
      }
    }
  }
}

TEST(VecMath, signed_zeros_keep_their_sign) {
  const kernel::Parameter params[3] = {};
  const float in[2] = {0.0F, -0.0F};
  const void* operands[1] = {in};
  for (const cpu::Level* level : levels()) {
    for (const UnaryOp op :
         {UnaryOp::kExpm1, UnaryOp::kLog1p, UnaryOp::kSin, UnaryOp::kTan, UnaryOp::kAsin,
          UnaryOp::kAtan, UnaryOp::kSinh, UnaryOp::kTanh, UnaryOp::kErf, UnaryOp::kSqrt,
          UnaryOp::kRound, UnaryOp::kTrunc, UnaryOp::kFloor, UnaryOp::kCeil}) {
      float out[2] = {1, 1};
      level->unary(op, DType::kFloat32).row(2, out, operands, params);
      EXPECT_TRUE(out[0] == 0 && !std::signbit(out[0]))
          << static_cast<int>(op) << " " << level->name;
      EXPECT_TRUE(out[1] == 0 && std::signbit(out[1]))
          << static_cast<int>(op) << " " << level->name;
    }
  }
}

}  // namespace
}  // namespace tsr::test
