// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions of one double at a time, for every backend: their series and recurrences take
// paths of their own for every argument. Each source has its own copy (static), because sources of
// several instruction sets share no function.
#pragma once

#include <math.h>

#include <cstdint>
#include <type_traits>

#include "base/host_device.h"

namespace tsr::math {

inline constexpr double kSpecialPi = 3.141592653589793;
inline constexpr double kSpecialNaN = __builtin_nan("");
inline constexpr double kSpecialInfinity = __builtin_inf();

// c[0] + c[1] x + ... + c[N - 1] x**(N - 1); V is double or a vector of it.
template <class V, int N>
[[gnu::always_inline]] TSR_HD inline V power_series(V x, const double (&c)[N]) {
  V sum(c[N - 1]);
  for (int k = N - 2; k >= 0; --k) sum = sum * x + V(c[k]);
  return sum;
}

// ---- Digamma ----

// About its zero at 1.46...: the Taylor series, whose coefficients are values of the Hurwitz zeta
// function there (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.4.9).
[[maybe_unused]] TSR_HD_CALL static double digamma_at_zero(double x) {
  constexpr double kCoefficients[] = {
      0.9676722454476212,    -0.4427631689835921,    0.258499760955651,    -0.16394270544240652,
      0.10782405069126237,   -0.07219956125645471,   0.04880428816414311,  -0.03316112647484736,
      0.022597648232218104,  -0.01542476590494896,   0.010538791616612175, -0.007204534386356869,
      0.004926781395729853,  -0.003369801655439328,  0.002305126326734928, -0.0015769367714301972,
      0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602, -0.0003454680251063077};
  const double distance = (x - 1.4616321449683622) - 9.549995429965697e-17;
  return distance * power_series(distance, kCoefficients);
}

// Upwards by psi(x + 1) = psi(x) + 1 / x to where the asymptotic series serves, and left of 0 by
// psi(1 - x) = psi(x) + pi / tan(pi x) (Abramowitz and Stegun, 6.3.5, 6.3.7, 6.3.18).
[[maybe_unused]] TSR_HD_CALL static double digamma_of(double x) {
  constexpr double kAsymptotic[] = {
      0.08333333333333333,  -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
      0.007575757575757576, -0.021092796092796094, 0.08333333333333333,  -0.4432598039215686};
  if (x == 0) return ::copysign(kSpecialInfinity, -x);
  double reflected = 0;
  if (x < 0) {
    const double rest = x - ::round(x);
    if (rest == 0 || x == -kSpecialInfinity) return kSpecialNaN;
    reflected = -kSpecialPi / ::tan(kSpecialPi * rest);
    x = 1 - x;
  }
  if (::fabs(x - 1.4616321449683622) < 0.2) return digamma_at_zero(x) + reflected;
  double shift = 0;
  for (; x < 10; x += 1) shift += 1 / x;
  if (x == kSpecialInfinity) return x;
  const double z = 1 / (x * x);
  return (::log(x) - 0.5 / x - z * power_series(z, kAsymptotic)) - shift + reflected;
}

// ---- Zeta and polygamma ----

// The Hurwitz zeta function for s > 1 and q > 0: the first terms, then the Euler-Maclaurin formula
// with the Bernoulli numbers over factorials (Abramowitz and Stegun, 23.1.30).
[[maybe_unused]] TSR_HD_CALL static double zeta_right(double s, double q) {
  constexpr double kBernoulli[] = {
      0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19};
  constexpr double kEpsilon = 1.1102230246251565e-16;
  if (q == kSpecialInfinity) return 0;
  double sum = 0;
  double term = 0;
  for (int k = 0; k < 10 || q < 10; ++k) {
    term = ::pow(q, -s);
    sum += term;
    if (term < kEpsilon * sum) return sum;
    q += 1;
  }
  term = ::pow(q, -s);
  sum += term * q / (s - 1) + 0.5 * term;
  double factor = s;
  double power = term / q;
  for (int j = 0; j < 12; ++j) {
    const double next = kBernoulli[j] * factor * power;
    sum += next;
    if (::fabs(next) < kEpsilon * ::fabs(sum)) break;
    factor *= (s + 2 * j + 1) * (s + 2 * j + 2);
    power /= q * q;
  }
  return sum;
}

// Left of 0, where only whole s give real numbers: the sum over all whole numbers has period 1, so
// zeta(s, q) = zeta(s, f) + (-1)**s (zeta(s, 1 - f) - zeta(s, 1 - q)) with f = q - floor q. Both
// fractions keep the digits of the distance to a whole number.
[[maybe_unused]] TSR_HD_CALL static double zeta_of(double s, double q) {
  if (s != s || q != q || s < 1) return kSpecialNaN;
  if (s == 1) return kSpecialInfinity;
  if (q > 0) return zeta_right(s, q);
  const double rest = q - ::round(q);
  if (q == -kSpecialInfinity || (rest != 0 && s != ::floor(s))) return kSpecialNaN;
  if (rest == 0) return kSpecialInfinity;
  const double fraction = rest > 0 ? rest : 1 + rest;
  const double other = rest > 0 ? 1 - rest : -rest;
  const double sign = ::fmod(s, 2.0) == 0 ? 1 : -1;
  return zeta_right(s, fraction) + sign * (zeta_right(s, other) - zeta_right(s, 1 - q));
}

// (-1)**(n + 1) n! zeta(n + 1, x)
[[maybe_unused]] TSR_HD_CALL static double polygamma_of(double x, double n) {
  if (n == 0) return digamma_of(x);
  const double size = ::tgamma(n + 1) * zeta_of(n + 1, x);
  return ::fmod(n, 2.0) == 0 ? -size : size;
}

// ---- Inverse of the normal distribution ----

// The rational approximations of Wichura, Algorithm AS 241 (Applied Statistics 37, 1988), good to
// 16 digits: of the deviate over 1/2 - tail, for z = 0.180625 - (1/2 - tail)**2, and of the deviate
// for r - 1.6 or r - 5 with r = sqrt(-log(tail)).
template <class V>
[[maybe_unused]] TSR_HD_CALL static V deviate_inside(V z) {
  constexpr double kTop[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                             1.9715909503065514427e+3, 1.3731693765509461125e+4,
                             4.5921953931549871457e+4, 6.7265770927008700853e+4,
                             3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double kBottom[] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
  return power_series(z, kTop) / power_series(z, kBottom);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V deviate_outside(V r) {
  constexpr double kTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                             5.76949722146069140550e0,  3.64784832476320460504e0,
                             1.27045825245236838258e0,  2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kBottom[] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
  return power_series(r, kTop) / power_series(r, kBottom);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V deviate_far(V r) {
  constexpr double kTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                             1.78482653991729133580e0,  2.96560571828504891230e-1,
                             2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kBottom[] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
  return power_series(r, kTop) / power_series(r, kBottom);
}
// The deviate that `tail`, below 1/2, of the distribution lies beyond, for 1/2 - tail = center.
// Negative for a negative center.
[[maybe_unused]] TSR_HD_CALL static double normal_deviate(double center, double tail) {
  if (::fabs(center) <= 0.425) return center * deviate_inside(0.180625 - center * center);
  const double r = ::sqrt(-::log(tail));
  return ::copysign(r <= 5 ? deviate_outside(r - 1.6) : deviate_far(r - 5), center);
}

[[maybe_unused]] TSR_HD_CALL static double erfinv_of(double x) {
  const double a = ::fabs(x);
  if (!(a <= 1)) return kSpecialNaN;
  if (a == 1) return ::copysign(kSpecialInfinity, x);
  return normal_deviate(0.5 * x, 0.5 * (1 - a)) * 0.7071067811865476;
}

// The argument at which the normal distribution function is p.
[[maybe_unused]] TSR_HD_CALL static double ndtri_of(double p) {
  if (!(p >= 0 && p <= 1)) return kSpecialNaN;
  if (p == 0 || p == 1) return p == 0 ? -kSpecialInfinity : kSpecialInfinity;
  return normal_deviate(p - 0.5, p < 0.5 ? p : 1 - p);
}

// ---- Numbers next to each other, powers of two ----

// The neighbour of a towards b among the numbers with kDigits bits behind the point and exponents
// from kLeast to 1 - kLeast. All of them are float32 numbers.
template <int kDigits, int kLeast>
[[gnu::always_inline]] TSR_HD inline float short_neighbour(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  if (a == 0) return ::copysignf(::ldexpf(1.0F, kLeast - kDigits), b);
  const float size = ::fabsf(a);
  if (size == static_cast<float>(kSpecialInfinity)) {
    return ::copysignf(::ldexpf(2.0F - ::ldexpf(1.0F, -kDigits), 1 - kLeast), a);
  }
  const bool outwards = (b > a) == (a > 0);
  int exponent = 0;
  const float mantissa = ::frexpf(size, &exponent);  // in [1/2, 1)
  exponent -= 1;
  if (!outwards && mantissa == 0.5F) exponent -= 1;  // below a power of two they lie closer
  const float step = ::ldexpf(1.0F, (exponent < kLeast ? kLeast : exponent) - kDigits);
  return ::copysignf(outwards ? size + step : size - step, a);
}

// a 2**b; the part of b behind the point goes into a first.
[[maybe_unused]] TSR_HD_CALL static double ldexp_of(double a, double b) {
  if (b != b || a != a) return a + b;
  if (a == 0 || ::fabs(a) == kSpecialInfinity) {
    // An infinite power against 0 or infinity has no value.
    return ::fabs(b) == kSpecialInfinity && (b > 0) == (a == 0) ? kSpecialNaN : a;
  }
  const double whole = ::floor(b);
  const double limited = whole < -5000 ? -5000 : whole > 5000 ? 5000 : whole;
  const double scaled = b == whole ? a : a * ::exp2(b - whole);
  return ::ldexp(scaled, static_cast<int>(limited));
}

// ---- Integers ----

// As a number of the unsigned type, where that of the smallest number exists too.
template <class T>
[[gnu::always_inline]] TSR_HD inline uint64_t magnitude_of(T a) {
  const auto bits = static_cast<uint64_t>(a);
  if constexpr (std::is_unsigned_v<T>) return bits;
  return a < T{0} ? uint64_t{0} - bits : bits;
}
template <class T>
[[gnu::always_inline]] TSR_HD inline T greatest_divisor(T a, T b) {
  uint64_t x = magnitude_of(a);
  uint64_t y = magnitude_of(b);
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}
// Wraps on overflow, as products do.
template <class T>
[[gnu::always_inline]] TSR_HD inline T least_multiple(T a, T b) {
  if (a == T{0} || b == T{0}) return T{0};
  const uint64_t divisor = magnitude_of(greatest_divisor(a, b));
  const T product = static_cast<T>(magnitude_of(a) / divisor * magnitude_of(b));
  return static_cast<T>(magnitude_of(product));
}

}  // namespace tsr::math
