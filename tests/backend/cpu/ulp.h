// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Errors in units in the last place, and their measurement at every instruction-set level.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "base/dtype.h"

namespace tsr::test {

// The error if NaN, infinity or zero is expected and missing, or the other way round.
inline constexpr double kWrong = 1e9;

// The type of references, with at least eleven bits more than T.
template <class T>
using WideOf = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// The distance of `got` from the true value, in units in the last place of a T of that size.
template <class T, class Wide = WideOf<T>>
double error_in_ulp(T got, Wide want) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(got) || std::isinf(want)) {
    return static_cast<Wide>(got) == static_cast<Wide>(static_cast<T>(want)) ? 0 : kWrong;
  }
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int last_place = std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits);
  return static_cast<double>(std::abs(static_cast<Wide>(got) - want) /
                             std::ldexp(Wide{1}, last_place));
}

// The instruction-set levels that this machine can run.
inline std::vector<const cpu::Level*> levels() {
  std::vector<const cpu::Level*> found;
  for (const char* each : {"sse42", "avx2", "avx512"}) {
    if (const cpu::Level* level = cpu::find_level(each)) found.push_back(level);
  }
  return found;
}

// f of each element of `in`, at one level.
template <class T>
std::vector<T> row_of(const cpu::Level& level, kernel::UnaryOp op, const std::vector<T>& in) {
  const kernel::Parameter params[3] = {};
  const void* operands[1] = {in.data()};
  std::vector<T> out(in.size());
  level.rows<cpu::PointwiseRows>()
      .unary(op, dtype_of<T>())
      .row(static_cast<int64_t>(in.size()), out.data(), operands, params);
  return out;
}

// f of each pair, at one level.
template <class T>
std::vector<T> row_of(const cpu::Level& level, kernel::BinaryOp op, const std::vector<T>& a,
                      const std::vector<T>& b) {
  const kernel::Parameter params[3] = {};
  const void* operands[2] = {a.data(), b.data()};
  std::vector<T> out(a.size());
  level.rows<cpu::PointwiseRows>()
      .binary(op, dtype_of<T>())
      .row(static_cast<int64_t>(a.size()), out.data(), operands, params);
  return out;
}

template <class T>
struct Function {
  kernel::UnaryOp op;
  const char* name;
  double limit;  // of the error
  WideOf<T> (*reference)(WideOf<T>);
  // Check x f(x) instead: f may be subnormal, and x magnifies it. -infinity times 0 is NaN.
  bool product = false;
};

template <class T>
struct PairFunction {
  kernel::BinaryOp op;
  const char* name;
  double limit;
  WideOf<T> (*reference)(WideOf<T>, WideOf<T>);
};

// The largest errors of a function so far, by level.
template <class T>
class Errors {
 public:
  explicit Errors(const Function<T>& function) : function_(function), worst_(levels_.size(), 0) {}

  void measure(const std::vector<T>& in) {
    std::vector<Wide> want(in.size());
    std::transform(in.begin(), in.end(), want.begin(),
                   [&](T x) { return function_.reference(static_cast<Wide>(x)); });
    for (size_t l = 0; l < levels_.size(); ++l) {
      const std::vector<T> out = row_of(*levels_[l], function_.op, in);
      for (size_t i = 0; i < in.size(); ++i) {
        const double error = error_of(in[i], out[i], want[i]);
        if (error <= worst_[l]) continue;
        worst_[l] = error;
        EXPECT_LE(error, function_.limit)
            << function_.name << "(" << testing::PrintToString(in[i]) << ") at " << levels_[l]->name
            << ": expected " << static_cast<T>(want[i]) << ", got " << out[i];
      }
    }
  }
  void report() const {
    for (size_t l = 0; l < levels_.size(); ++l) {
      testing::Test::RecordProperty(std::string(function_.name) + "_" + levels_[l]->name,
                                    std::to_string(worst_[l]));
      std::printf("  %-8s %-7s %.3f ulp\n", function_.name, levels_[l]->name, worst_[l]);
    }
  }

 private:
  using Wide = WideOf<T>;
  using Limits = std::numeric_limits<T>;

  double error_of(T in, T out, Wide want) const {
    const Wide size = std::abs(static_cast<Wide>(in));
    if (function_.product && std::abs(want) < size * Limits::min()) {
      return static_cast<double>(std::abs(static_cast<Wide>(out) - want) /
                                 (size * Limits::denorm_min()));
    }
    return error_in_ulp(out, want);
  }

  const Function<T>& function_;
  std::vector<const cpu::Level*> levels_ = levels();
  std::vector<double> worst_;
};

// Measures a function of two arguments at every level; updates `worst`, the largest error so far.
template <class T>
void measure_pairs(const PairFunction<T>& function, const std::vector<T>& a,
                   const std::vector<T>& b, double& worst) {
  using Wide = WideOf<T>;
  for (const cpu::Level* level : levels()) {
    const std::vector<T> out = row_of(*level, function.op, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const Wide want = function.reference(static_cast<Wide>(a[i]), static_cast<Wide>(b[i]));
      const double error = error_in_ulp(out[i], want);
      worst = std::max(worst, error);
      ASSERT_LE(error, function.limit)
          << function.name << " of " << testing::PrintToString(a[i]) << ", "
          << testing::PrintToString(b[i]) << " at " << level->name << ": expected "
          << static_cast<T>(want) << ", got " << out[i];
    }
  }
}

}  // namespace tsr::test
