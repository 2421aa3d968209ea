// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Errors in units in the last place, and the instruction-set levels to measure them at.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/rows.h"

namespace tsr::test {

// The error of a value that should have been NaN, infinite or zero, or must not be.
inline constexpr double kWrong = 1e9;

// The distance of `got` from the true value in units of the last place of a T of that size. Wide
// has at least eleven bits more than T.
template <class T, class Wide>
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

// Those this machine can run.
inline std::vector<const cpu::Level*> levels() {
  std::vector<const cpu::Level*> found;
  for (const char* each : {"sse42", "avx2", "avx512"}) {
    if (const cpu::Level* level = cpu::find_level(each)) found.push_back(level);
  }
  return found;
}

}  // namespace tsr::test
