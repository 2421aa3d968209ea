// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The incomplete gamma functions of one pair of doubles at a time (see special_math.h): the power
// series left of a + 1, Legendre's continued fraction right of it (Abramowitz and Stegun, Handbook
// of Mathematical Functions, 6.5.29 and 6.5.31), and Temme's expansion for x near a large a. The
// factor before series and fraction is computed as Loader does, Fast and accurate computation of
// binomial probabilities, 2000: its logarithm would lose as many digits as a has.
#pragma once

#include "backend/common/special_math.h"

namespace tsr::math {

[[gnu::always_inline]] TSR_HD inline double log_gamma(double x) {
#if defined(__CUDA_ARCH__)
  return ::lgamma(x);
#else
  int sign = 0;  // lgamma would write it into a global
  return ::lgamma_r(x, &sign);
#endif
}

// log Γ(1 + a), for small a by its Taylor series, whose coefficients are zeta(k) / k (6.1.33).
[[maybe_unused]] TSR_HD_CALL static double log_gamma_1p(double a) {
  constexpr double kEuler = 0.57721566490153286;
  constexpr double kZetas[] = {
      0.8224670334241132,   0.40068563438653143, 0.27058080842778454, 0.20738555102867398,
      0.1695571769974082,   0.1440498967688461,  0.12550966952474304, 0.11133426586956469,
      0.1000994575127818,   0.09095401714582904, 0.083353840546109,   0.0769325164113522,
      0.07143294629536133,  0.06666870588242046, 0.06250095514121304, 0.058823978658684585,
      0.055555767627403614, 0.05263167937961666, 0.05000004769810169, 0.047619070330142226,
      0.04545455629320467,  0.04347826605304026, 0.04166666915034121};
  if (::fabs(a) >= 0.2) return log_gamma(1 + a);
  return a * (a * power_series(-a, kZetas) - kEuler);
}

// a log(a / x) + x - a without cancellation near a = x.
[[maybe_unused]] TSR_HD_CALL static double deviance(double a, double x) {
  if (::fabs(a - x) >= 0.1 * (a + x)) return a * ::log(a / x) + x - a;
  const double v = (a - x) / (a + x);
  double sum = (a - x) * v;
  double power = 2 * a * v;
  for (int j = 1; j < 100; ++j) {
    power *= v * v;
    const double next = sum + power / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

// x**a e**-x / Γ(a + 1)
[[maybe_unused]] TSR_HD_CALL static double gamma_factor(double a, double x) {
  if (a < 10) return ::exp(a * ::log(x) - x - log_gamma_1p(a));
  constexpr double kStirling[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const double z = 1 / (a * a);
  return ::exp(-power_series(z, kStirling) / a - deviance(a, x)) / ::sqrt(2 * kSpecialPi * a);
}

// P(a, x) over its factor, for x < a + 1.
[[maybe_unused]] TSR_HD_CALL static double lower_gamma_series(double a, double x) {
  double term = 1;
  double sum = 1;
  for (int64_t n = 1; n < 2000000; ++n) {
    term *= x / (a + static_cast<double>(n));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return sum;
}

// Q(a, x) over its factor, for x >= a + 1: numerators and denominators of the fraction by their
// recurrences, in which no step waits for a division. Both are scaled before they overflow.
[[maybe_unused]] TSR_HD_CALL static double upper_gamma_fraction(double a, double x) {
  constexpr double kLarge = 0x1p400;
  double b = x + 1 - a;
  double top = 1;
  double top_before = 0;
  double bottom = b;
  double bottom_before = 1;
  double value = 1 / b;
  for (int64_t n = 1; n < 2000000; ++n) {
    const double k = static_cast<double>(n);
    const double numerator = k * (a - k);
    b += 2;
    const double next_top = b * top + numerator * top_before;
    const double next_bottom = b * bottom + numerator * bottom_before;
    const bool large = next_bottom > kLarge;
    const double scale = large ? 1 / kLarge : 1.0;
    top_before = top * scale;
    bottom_before = bottom * scale;
    top = next_top * scale;
    bottom = next_bottom * scale;
    const double before = value;
    value = top / bottom;
    if (::fabs(value - before) <= 2e-16 * value) break;
  }
  return a * value;
}

// Q(a, x) for small a and x, where 1 - P cancels: -expm1(log(x**a / Γ(1 + a))) less the terms of
// the series from the second on.
[[maybe_unused]] TSR_HD_CALL static double upper_gamma_near_zero(double a, double x) {
  double term = 1;
  double sum = 0;
  for (int n = 1; n < 100; ++n) {
    term *= -x / n;
    const double next = term / (a + n);
    sum += next;
    if (::fabs(next) < 1e-17 * ::fabs(sum)) break;
  }
  const double rise = ::expm1(a * ::log(x) - log_gamma_1p(a));
  return -rise - (1 + rise) * a * sum;
}

// The coefficients of Temme's expansion, of the powers of 1 / a (rows) and of eta (Temme,
// "Uniform asymptotic expansions of the incomplete gamma functions and the incomplete beta
// function", 1975; DLMF 5.11.5 and 8.12.12).
struct TemmeTable {
  static constexpr int kRows = 10;
  static constexpr int kTerms = 15;
  double d[kRows][kTerms];
};
constexpr TemmeTable make_temme_table() {
  constexpr int kAll = TemmeTable::kTerms + 2 * TemmeTable::kRows;
  double alpha[kAll + 2] = {0, 1};  // of the inverse of eta
  for (int n = 2; n < kAll + 2; ++n) {
    double sum = alpha[n - 1];
    for (int j = 2; j < n; ++j) sum -= j * alpha[j] * alpha[n + 1 - j];
    alpha[n] = sum / (n + 1);
  }
  TemmeTable table{};
  double row[kAll + 2] = {};
  double odd_product = 1;
  for (int k = 0; k < TemmeTable::kRows; ++k) {
    if (k > 0) odd_product *= -(2 * k + 1);
    const double stirling = odd_product * alpha[2 * k + 1];  // of the series of Γ
    for (int n = 0; n < kAll; ++n) {
      const double first = (n + 2) * alpha[n + 2] - (n == 0 ? 1 : 0);
      row[n] = stirling * first + (k == 0 ? 0 : (n + 2) * row[n + 2]);
    }
    for (int n = 0; n < TemmeTable::kTerms; ++n) table.d[k][n] = row[n];
  }
  return table;
}

// Where the expansion serves: a >= kTemmeLeast and |x - a| <= kTemmeWidth a.
inline constexpr double kTemmeLeast = 20;
inline constexpr double kTemmeWidth = 0.3;

// P or Q there: the tail of the normal distribution beyond a distance with the sign of x - a (Q) or
// of a - x (P), and Temme's series, which is added for Q and subtracted for P.
template <bool kUpper>
[[maybe_unused]] TSR_HD_CALL static double gamma_about(double a, double x) {
  constexpr TemmeTable kTable = make_temme_table();
  const double square = deviance(a, x);  // a eta**2 / 2
  const double eta = ::copysign(::sqrt(2 * square / a), x - a);
  double sum = 0;
  for (int k = TemmeTable::kRows - 1; k >= 0; --k) {
    sum = sum / a + power_series(eta, kTable.d[k]);
  }
  const double series = ::exp(-square) / ::sqrt(2 * kSpecialPi * a) * sum;
  const double distance = ::copysign(::sqrt(square), x - a);
  return kUpper ? 0.5 * ::erfc(distance) + series : 0.5 * ::erfc(-distance) - series;
}

// The regularised functions P (kUpper false) and Q of a >= 0 and x >= 0; NaN elsewhere. What is
// subtracted from 1 is computed only where that changes 1, by the bounds a / (x + 1 - a) of the
// fraction and (a + 1) / (a + 1 - x) of the series.
template <bool kUpper>
[[gnu::always_inline]] TSR_HD inline double incomplete_gamma(double a, double x) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0)) return kSpecialNaN;
  if (a == kSpecialInfinity) {
    return x == kSpecialInfinity ? kSpecialNaN : kUpper ? 1.0 : 0.0;
  }
  if (a == 0 || x == kSpecialInfinity) return kUpper ? 0.0 : 1.0;
  if (x == 0) return kUpper ? 1.0 : 0.0;
  if (a >= kTemmeLeast && ::fabs(x - a) <= kTemmeWidth * a) return gamma_about<kUpper>(a, x);
  const bool right = x >= a + 1;
  if (kUpper && !right && x < 1.1 && a < 0.5) return upper_gamma_near_zero(a, x);
  const double factor = gamma_factor(a, x);
  const bool direct = right == kUpper;
  const double bound = right ? a / (x + 1 - a) : (a + 1) / (a + 1 - x);
  if (direct ? factor == 0 : factor * bound < 1e-17) return direct ? 0.0 : 1.0;
  const double part = factor * (right ? upper_gamma_fraction(a, x) : lower_gamma_series(a, x));
  return direct ? part : 1 - part;
}

// ---- The derivative of a gamma number with respect to its shape ----

// Where the distribution function P(a, x) stays the same (Figurnov, Mohamed and Mnih, "Implicit
// reparameterization gradients", 2018): dx/da = -(dP/da) / (dP/dx). The factor x^a e^-x / Γ(a) of
// both cancels.

// For x < a + 1, from the derivative of the power series of P.
[[maybe_unused]] TSR_HD_CALL static double gamma_slope_series(double a, double x) {
  double term = 1;
  double sum = 1;
  double harmonic = 0;  // the sum of 1 / (a + k) up to this term
  double slope = 0;
  for (int64_t n = 1; n < 2000000; ++n) {
    const double k = a + static_cast<double>(n);
    term *= x / k;
    harmonic += 1 / k;
    sum += term;
    slope += term * harmonic;
    if (term * (1 + harmonic) < 1e-17 * sum) break;
  }
  return -x / a * ((::log(x) - digamma_of(a + 1)) * sum - slope);
}

// For x >= a + 1, from the continued fraction of Q. Lentz's steps carry their derivatives.
[[maybe_unused]] TSR_HD_CALL static double gamma_slope_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double dc = 0;
  double d = 1 / b;
  double dd = d * d;
  double value = d;
  double slope = dd;
  for (int64_t n = 1; n < 2000000; ++n) {
    const double k = static_cast<double>(n);
    const double numerator = -k * (k - a);
    b += 2;
    double lower = numerator * d + b;
    if (::fabs(lower) < kTiny) lower = kTiny;
    const double lower_slope = k * d + numerator * dd - 1;
    double upper = b + numerator / c;
    if (::fabs(upper) < kTiny) upper = kTiny;
    const double upper_slope = k / c - numerator * dc / (c * c) - 1;
    d = 1 / lower;
    dd = -lower_slope * d * d;
    c = upper;
    dc = upper_slope;
    const double factor = c * d;
    const double factor_slope = dc * d + c * dd;
    slope = slope * factor + value * factor_slope;
    value *= factor;
    if (::fabs(factor - 1) < 2e-16 && ::fabs(factor_slope * value) < 1e-16 * ::fabs(slope)) break;
  }
  return x * ((::log(x) - digamma_of(a)) * value + slope);
}

// For large a the expansion of Cornish and Fisher, x = a + √a u + (u² - 1) / 3 + (u³ - 7u) /
// (36 √a), with u from its inverse; the relative error is below 1e-7.
TSR_HD inline double gamma_slope_wide(double a, double x) {
  const double root = ::sqrt(a);
  const double w = (x - a) / root;
  const double u = w - (w * w - 1) / (3 * root) + w * (7 * w * w - 1) / (36 * a);
  return 1 + u / (2 * root) - u * (u * u - 7) / (72 * a * root);
}

// Of a number x >= 0 of shape a > 0.
TSR_HD inline double gamma_slope(double a, double x) {
  if (!(a > 0) || !(x >= 0) || a == kSpecialInfinity || x == kSpecialInfinity) return kSpecialNaN;
  if (x == 0) return 0;
  if (a >= 1e4) return gamma_slope_wide(a, x);
  return x < a + 1 ? gamma_slope_series(a, x) : gamma_slope_fraction(a, x);
}

}  // namespace tsr::math
