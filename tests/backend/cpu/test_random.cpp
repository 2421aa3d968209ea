// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random numbers at every instruction-set level against a scalar reference: the value of an element
// depends only on seed and position.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "arrays.h"
#include "backend/common/philox.h"
#include "backend/cpu/level.h"
#include "backend/cpu/random/random_rows.h"
#include "base/half.h"

namespace tsr::test::test_random {
namespace {

using kernel::RandomOp;
using kernel::RandomPlan;

constexpr uint64_t kSeed = 0x123456789abcdef0;
// The low word of the counter overflows into its high word within the first elements.
constexpr uint64_t kOffset = 0xfffffff9;
constexpr int64_t kLongest = 71;
constexpr DType kFloats[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

std::vector<const cpu::Level*> levels() {
  std::vector<const cpu::Level*> found;
  for (const char* each : {"sse42", "avx2", "avx512"}) {
    if (const cpu::Level* level = cpu::find_level(each)) found.push_back(level);
  }
  return found;
}

struct Words {
  uint64_t low, high;
};
Words words_of(int64_t i) {
  const auto block = philox(kSeed, kOffset + static_cast<uint64_t>(i));
  const auto join = [&](int word) {
    return (block.words[word] & 0xffffffff) | block.words[word + 1] << 32;
  };
  return {join(0), join(2)};
}
double first_bits(uint64_t number, int bits) {
  return std::ldexp(static_cast<double>(number >> (64 - bits)), -bits);
}
int bits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    default:
      return dtype == DType::kFloat32 ? 24 : 53;
  }
}
double unit(DType dtype, double value) {
  const int digits = dtype == DType::kFloat16 ? 11 : bits_of(dtype);
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, exponent - digits);
}
// The value after rounding to the dtype.
double rounded(DType dtype, double value) {
  Array element(dtype, {1});
  element.set(0, value);
  return element.get(0).real();
}

RandomPlan plan_of(RandomOp op, const Array& out, double p0, double p1) {
  RandomPlan plan{};
  plan.op = op;
  plan.numel = out.numel();
  plan.seed = kSeed;
  plan.offset = kOffset;
  plan.dtype = out.dtype();
  plan.output = out.data();
  plan.p0 = p0;
  plan.p1 = p1;
  return plan;
}

// Draws arrays of all lengths around the width of a register, checks each element, and checks that
// nothing is written beyond the last one.
template <class Check>
void check_lengths(const cpu::Level& level, RandomOp op, DType dtype, double p0, double p1,
                   Check check) {
  SCOPED_TRACE(testing::Message() << level.name << " " << name(dtype));
  const cpu::RandomRow row = level.rows<cpu::RandomRows>().find(op, dtype);
  ASSERT_NE(row, nullptr);
  for (int64_t count = 0; count <= kLongest; ++count) {
    Array out(dtype, {kLongest + 1});
    const RandomPlan plan = plan_of(op, out, p0, p1);
    out.set(count, 77);
    row(plan, 0, count);
    for (int64_t i = 0; i < count; ++i) check(i, out.get(i).real());
    ASSERT_EQ(out.get(count).real(), 77) << count;
  }
}

TEST(Philox, gives_the_published_numbers) {
  const auto block = philox(uint64_t{0}, uint64_t{0});
  const uint64_t want[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(block.words[i] & 0xffffffff, want[i]);
}

TEST(Random, uniform_numbers_are_the_same_at_every_level) {
  for (const cpu::Level* level : levels()) {
    for (const DType dtype : kFloats) {
      check_lengths(*level, RandomOp::kUniform, dtype, 0, 1, [&](int64_t i, double got) {
        ASSERT_EQ(got, first_bits(words_of(i).low, bits_of(dtype))) << i;
      });
      check_lengths(*level, RandomOp::kUniform, dtype, -3.25, 5.5, [&](int64_t i, double got) {
        const double u = first_bits(words_of(i).low, bits_of(dtype));
        ASSERT_EQ(got, rounded(dtype, -3.25 + 8.75 * u)) << i;
      });
    }
  }
}

TEST(Random, uniform_numbers_stay_below_the_upper_end) {
  for (const cpu::Level* level : levels()) {
    for (const DType dtype : kFloats) {
      // Far from zero, where one rounding step is larger than the whole range.
      const double low = 1.0;
      const double high = std::nextafter(1.0, 2.0);
      check_lengths(*level, RandomOp::kUniform, dtype, low, high,
                    [&](int64_t i, double got) { ASSERT_EQ(got, low) << i; });
    }
  }
}

TEST(Random, normal_numbers_agree_between_levels_to_four_units) {
  for (const cpu::Level* level : levels()) {
    for (const DType dtype : kFloats) {
      check_lengths(*level, RandomOp::kNormal, dtype, 0, 1, [&](int64_t i, double got) {
        const Words words = words_of(i);
        const int bits = dtype == DType::kFloat64 ? 53 : 24;
        // The radius of 16-bit and float32 numbers comes from the first word, the angle from the
        // third.
        const double u = first_bits(dtype == DType::kFloat64 ? words.low : words.low << 32, bits);
        const double v = first_bits(dtype == DType::kFloat64 ? words.high : words.high << 32, bits);
        const double want = std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
        ASSERT_LE(std::abs(got - want), 4 * unit(dtype, want)) << i << " " << want;
      });
    }
  }
}

TEST(Random, normal_numbers_have_mean_deviation_and_tails) {
  constexpr int64_t kMany = 200000;
  for (const cpu::Level* level : levels()) {
    Array out(DType::kFloat32, {kMany});
    level->rows<cpu::RandomRows>().find(RandomOp::kNormal, DType::kFloat32)(
        plan_of(RandomOp::kNormal, out, 3, 2), 0, kMany);
    double sum = 0, squares = 0;
    int64_t beyond = 0;
    for (int64_t i = 0; i < kMany; ++i) {
      const double z = (out.get(i).real() - 3) / 2;
      sum += z;
      squares += z * z;
      beyond += std::abs(z) > 3 ? 1 : 0;
    }
    EXPECT_NEAR(sum / kMany, 0, 0.01);
    EXPECT_NEAR(squares / kMany, 1, 0.015);
    EXPECT_NEAR(static_cast<double>(beyond) / kMany, 0.0027, 0.0005);
  }
}

TEST(Random, bernoulli_takes_one_probability_or_one_each) {
  for (const cpu::Level* level : levels()) {
    for (const DType dtype : kFloats) {
      check_lengths(*level, RandomOp::kBernoulli, dtype, 0.3, 1.25, [&](int64_t i, double got) {
        ASSERT_EQ(got, first_bits(words_of(i).low, 53) < 0.3 ? 1.25 : 0) << i;
      });
      Array probabilities(dtype, {kLongest});
      probabilities.randomize(0, 1, 5);
      Array out(dtype, {kLongest});
      RandomPlan plan = plan_of(RandomOp::kBernoulli, out, 0, 1);
      plan.probabilities = probabilities.data();
      level->rows<cpu::RandomRows>().find(plan.op, dtype)(plan, 0, kLongest);
      for (int64_t i = 0; i < kLongest; ++i) {
        const double u = first_bits(words_of(i).low, 53);
        ASSERT_EQ(out.get(i).real(), u < probabilities.get(i).real() ? 1 : 0) << i;
      }
    }
  }
}

TEST(Random, integers_cover_their_range_in_every_dtype) {
  for (const cpu::Level* level : levels()) {
    for (const DType dtype :
         {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32, DType::kUInt32,
          DType::kInt64, DType::kUInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32,
          DType::kFloat64}) {
      Array out(dtype, {kLongest});
      RandomPlan plan = plan_of(RandomOp::kInteger, out, 0, 0);
      plan.low = 3;
      plan.span = 100;
      level->rows<cpu::RandomRows>().find(plan.op, dtype)(plan, 0, kLongest);
      for (int64_t i = 0; i < kLongest; ++i) {
        const auto scaled = static_cast<unsigned __int128>(words_of(i).low) * plan.span;
        ASSERT_EQ(out.get(i).real(), 3 + static_cast<double>(scaled >> 64)) << name(dtype) << i;
      }
    }
  }
}

TEST(Random, integers_of_spans_below_and_above_a_word) {
  for (const cpu::Level* level : levels()) {
    for (const uint64_t span : {uint64_t{1}, (uint64_t{1} << 32) - 1, uint64_t{1} << 32,
                                (uint64_t{1} << 40) + 1, ~uint64_t{0}}) {
      Array out(DType::kInt64, {kLongest});
      RandomPlan plan = plan_of(RandomOp::kInteger, out, 0, 0);
      plan.low = -5;
      plan.span = span;
      level->rows<cpu::RandomRows>().find(plan.op, plan.dtype)(plan, 0, kLongest);
      const auto* numbers = static_cast<const int64_t*>(out.data());
      for (int64_t i = 0; i < kLongest; ++i) {
        const auto scaled = static_cast<unsigned __int128>(words_of(i).low) * span;
        ASSERT_EQ(static_cast<uint64_t>(numbers[i]) + 5, static_cast<uint64_t>(scaled >> 64))
            << span << " " << i;
      }
    }
  }
}

double open_unit(uint64_t number) {
  return (static_cast<double>(number >> 12) + 0.5) * 0x1p-52;
}

TEST(Random, transformed_numbers_agree_between_levels_to_four_units) {
  const double p0 = 0.75;
  const double p1 = 1.5;
  const auto check = [&](RandomOp op, auto wanted) {
    for (const cpu::Level* level : levels()) {
      for (const DType dtype : kFloats) {
        check_lengths(*level, op, dtype, p0, p1, [&](int64_t i, double got) {
          const Words words = words_of(i);
          const double want = wanted(open_unit(words.low), open_unit(words.high));
          ASSERT_LE(std::abs(got - want), 4 * unit(dtype, want)) << i << " " << want;
        });
      }
    }
  };
  check(RandomOp::kExponential, [&](double u, double) { return -std::log(u) / p0; });
  check(RandomOp::kCauchy,
        [&](double u, double) { return p0 + p1 * std::tan(std::numbers::pi * (u - 0.5)); });
  check(RandomOp::kLogNormal, [&](double u, double v) {
    const double z = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
    return std::exp(p0 + p1 * z);
  });
}

TEST(Random, geometric_numbers_are_the_same_at_every_level) {
  const double log_failure = std::log1p(-0.3);
  for (const cpu::Level* level : levels()) {
    for (const DType dtype : kFloats) {
      check_lengths(*level, RandomOp::kGeometric, dtype, log_failure, 0,
                    [&](int64_t i, double got) {
                      const double u = open_unit(words_of(i).low);
                      ASSERT_EQ(got, std::floor(std::log(u) / log_failure) + 1) << i;
                    });
    }
  }
}

TEST(Random, a_part_of_the_range_is_a_part_of_the_whole) {
  Array whole(DType::kFloat32, {300});
  ASSERT_EQ(kernels().random(plan_of(RandomOp::kNormal, whole, 0, 1)), kernel::kOk);
  for (const int64_t begin : {0, 1, 7, 16, 33, 150}) {
    Array part(DType::kFloat32, {300});
    const RandomPlan plan = plan_of(RandomOp::kNormal, part, 0, 1);
    cpu::rows_of<cpu::RandomRows>().find(plan.op, plan.dtype)(plan, begin, 290);
    EXPECT_EQ(std::memcmp(part.at(begin), whole.at(begin),
                          static_cast<size_t>(290 - begin) * sizeof(float)),
              0);
  }
}

TEST(Random, refuses_what_has_no_random_numbers) {
  Array out(DType::kComplex64, {3});
  EXPECT_NE(kernels().random(plan_of(RandomOp::kUniform, out, 0, 1)), kernel::kOk);
  Array integers(DType::kInt32, {3});
  EXPECT_NE(kernels().random(plan_of(RandomOp::kNormal, integers, 0, 1)), kernel::kOk);
}

}  // namespace
}  // namespace tsr::test::test_random
