// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fmod and remainder of floats are exact, at every instruction-set level that this machine can run.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "ulp.h"

namespace tsr::test {
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

}  // namespace
}  // namespace tsr::test
