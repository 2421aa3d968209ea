// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Modified Bessel functions of the first kind, orders 0 and 1, of one double at a time (see
// special_math.h). All terms of the power series have one sign, so it loses nothing; from 20 on the
// asymptotic series serves (Abramowitz and Stegun, Handbook of Mathematical Functions, 9.6.10 and
// 9.7.1).
#pragma once

#include "backend/common/special_math.h"

namespace tsr::math {

// e**-a I(a) for a >= 0 and kOrder 0 or 1.
template <int kOrder>
[[gnu::always_inline]] TSR_HD inline double bessel_scaled(double a) {
  constexpr double kEpsilon = 1.1102230246251565e-17;
  if (a == kSpecialInfinity) return 0;
  double term = 1;
  double sum = 1;
  if (a < 20) {
    const double z = 0.25 * a * a;
    for (int k = 1; term > kEpsilon * sum; ++k) {
      term *= z / (static_cast<double>(k) * (k + kOrder));
      sum += term;
    }
    return (kOrder == 0 ? sum : 0.5 * a * sum) * ::exp(-a);
  }
  constexpr double kMu = 4.0 * kOrder * kOrder;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2.0 * k - 1;
    term *= (odd * odd - kMu) / (8 * a * k);
    sum += term;
    if (::fabs(term) < kEpsilon) break;
  }
  return sum / ::sqrt(2 * kSpecialPi * a);
}

// kScaled: times e**-|x|. The exponential is taken in two halves, because it overflows earlier.
template <int kOrder, bool kScaled>
[[gnu::always_inline]] TSR_HD inline double bessel_i(double x) {
  if (x != x) return x;
  const double a = ::fabs(x);
  double value = bessel_scaled<kOrder>(a);
  if constexpr (!kScaled) {
    const double half = ::exp(0.5 * a);
    value = a == kSpecialInfinity ? a : value * half * half;
  }
  return kOrder == 1 && x < 0 ? -value : value;
}

}  // namespace tsr::math
