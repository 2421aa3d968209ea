// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fmod and remainder of floats, and whole quotients of 64-bit integers, are exact at every
// instruction-set level that this machine can run.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "ulp.h"

namespace tsr::test::test_remainders {
namespace {

using kernel::BinaryOp;

template <class T>
class Remainders : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Remainders, Floats);

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
T floor_remainder(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(T{0}, b);
  return std::signbit(rest) != std::signbit(b) ? rest + b : rest;
}

// Operands of all exponents, of nearly equal ones, next to multiples, and the special values.
template <class T>
std::pair<std::vector<T>, std::vector<T>> dividends_and_divisors() {
  const T special[] = {T{0},
                       T{-0.0},
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(),
                       T{1},
                       T{-3},
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::max(),
                       T{0.1}};
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> exponents(std::numeric_limits<T>::min_exponent,
                                                   std::numeric_limits<T>::max_exponent - 1);
  std::uniform_real_distribution<double> parts(-2, 2);
  std::pair<std::vector<T>, std::vector<T>> found;
  const auto add = [&](T a, T b) {
    found.first.push_back(a);
    found.second.push_back(b);
  };
  for (int i = 0; i < 100000; ++i) {
    const auto b = static_cast<T>(std::ldexp(parts(engine), static_cast<int>(exponents(engine))));
    add(static_cast<T>(std::ldexp(parts(engine), static_cast<int>(exponents(engine)))), b);
    add(static_cast<T>(parts(engine) * 100), static_cast<T>(parts(engine)));
    const T multiple = b * static_cast<T>(static_cast<int>(engine() % 2000) - 1000);
    add(std::nextafter(multiple, i % 2 == 0 ? T{0} : multiple * 2), b);
  }
  for (const T a : special) {
    for (const T b : special) add(a, b);
  }
  return found;
}

TYPED_TEST(Remainders, are_exact) {
  using T = TypeParam;
  const auto [as, bs] = dividends_and_divisors<T>();
  for (const cpu::Level* level : levels()) {
    for (const BinaryOp op : {BinaryOp::kFmod, BinaryOp::kRemainder}) {
      const std::vector<T> out = row_of(*level, op, as, bs);
      int wrong = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const T want =
            op == BinaryOp::kFmod ? std::fmod(as[i], bs[i]) : floor_remainder(as[i], bs[i]);
        const bool same = std::isnan(want)
                              ? std::isnan(out[i])
                              : std::bit_cast<Bits<T>>(out[i]) == std::bit_cast<Bits<T>>(want);
        if (!same && ++wrong < 5)
          ADD_FAILURE() << level->name << ": " << as[i] << " and " << bs[i] << " give " << out[i]
                        << " instead of " << want;
      }
    }
  }
}

// Numbers of all lengths, multiples and their neighbours, and the ends of the range in which a
// quotient is computed in float64.
TEST(Remainders, of_64_bit_integers_are_exact) {
  constexpr int64_t kEnd = int64_t{1} << 51;
  const int64_t special[] = {1,        -1,       7,         -7,        kEnd,     -kEnd,
                             kEnd - 1, 1 - kEnd, -kEnd - 1, INT64_MAX, INT64_MIN};
  std::mt19937_64 engine(7);
  std::vector<int64_t> as;
  std::vector<int64_t> bs;
  const auto draw = [&](int longest) {
    const auto number = static_cast<int64_t>(engine() >> (64 - longest + engine() % 40));
    return engine() % 2 == 0 ? number : -number;
  };
  for (int i = 0; i < 30000; ++i) {
    const int64_t b = i % 3 == 0 ? special[engine() % std::size(special)] : draw(50);
    bs.push_back(b == 0 ? 3 : b);
    const int64_t times = draw(50) % (kEnd / std::max<int64_t>(1, std::abs(bs.back() % kEnd)));
    const int64_t near = times * (bs.back() % kEnd) + static_cast<int64_t>(engine() % 3) - 1;
    as.push_back(i % 5 == 0   ? special[engine() % std::size(special)]
                 : i % 2 == 0 ? near
                              : draw(62));
  }
  for (const cpu::Level* level : levels()) {
    const std::vector<int64_t> quotients = row_of(*level, BinaryOp::kFloorDivide, as, bs);
    const std::vector<int64_t> rests = row_of(*level, BinaryOp::kRemainder, as, bs);
    for (size_t i = 0; i < as.size(); ++i) {
      const __int128 a = as[i];
      const __int128 b = bs[i];
      __int128 want = a / b;
      if (a % b != 0 && (a < 0) != (b < 0)) --want;
      const auto quotient = static_cast<int64_t>(want);
      ASSERT_EQ(quotients[i], quotient) << level->name << ": " << as[i] << " // " << bs[i];
      ASSERT_EQ(rests[i], static_cast<int64_t>(a - want * b))
          << level->name << ": " << as[i] << " % " << bs[i];
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_remainders
