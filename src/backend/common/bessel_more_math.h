// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bessel functions of the first and second kind, and modified ones of the second kind, orders 0
// and 1, of one double at a time (see special_math.h); math_bessel_more.h has vectors.
// The numbers at formulas are those of Abramowitz and Stegun, Handbook of Mathematical Functions.
#pragma once

#include "backend/common/special_math.h"

namespace tsr::math {

// ---- Oscillating ones: the mathematics library's ----

template <int kOrder>
[[gnu::always_inline]] TSR_HD inline double bessel_j(double x) {
  return kOrder == 0 ? ::j0(x) : ::j1(x);
}
// Minus infinity at 0, NaN left of it.
template <int kOrder>
[[gnu::always_inline]] TSR_HD inline double bessel_y(double x) {
  if (x == 0) return -kSpecialInfinity;
  if (x < 0) return kSpecialNaN;
  return kOrder == 0 ? ::y0(x) : ::y1(x);
}
// sin(x) / x
[[gnu::always_inline]] TSR_HD inline double spherical_bessel_j(double x) {
  if (x == 0) return 1;
  if (::fabs(x) == kSpecialInfinity) return 0;
  return ::sin(x) / x;
}

// ---- Modified ones of the second kind ----

// sqrt(x) e**x K(x) for x >= 1: sums of Chebyshev polynomials in 2/x - 1, whose coefficients are
// the cosine transforms of values with 40 digits. Clenshaw's recurrence adds the first kTerms of
// them, or all; V is double or a vector of it.
template <int kTerms = 0, class V, int N>
[[gnu::always_inline]] TSR_HD inline V chebyshev_sum(V t, const double (&c)[N]) {
  const V twice = t + t;
  V first(0.0);
  V second(0.0);
  for (int k = (kTerms > 0 ? kTerms : N) - 1; k > 0; --k) {
    const V next = twice * first + (V(c[k]) - second);
    second = first;
    first = next;
  }
  return t * first - second + V(0.5 * c[0]);
}
template <int kTerms, class V>
[[gnu::always_inline]] TSR_HD inline V bessel_k0_sum(V t) {
  constexpr double kCoefficients[] = {
      2.388866152433477,       -0.053855323307629495,  0.004362000068251702,
      -0.0005521270349863234,  8.959565555755952e-05,  -1.7138726856421186e-05,
      3.695146089045472e-06,   -8.737284518980525e-07, 2.225046272255236e-07,
      -6.025216756376064e-08,  1.7186668629418083e-08, -5.1272057810909205e-09,
      1.5907351467912106e-09,  -5.10958325791419e-10,  1.6929517419961088e-10,
      -5.7683063818637606e-11, 2.0159542597761383e-11, -7.210940065346495e-12,
      2.6349075982806445e-12,  -9.819576891759296e-13, 3.72695818784577e-13,
      -1.4388149744180521e-13, 5.6436532735816866e-14, -2.2469288334596896e-14,
      9.072046991627365e-15,   -3.711589997838162e-15, 1.537582290719742e-15,
      -6.445464362724762e-16,  2.7324144482527955e-16, -1.1707837700385628e-16,
      5.067869397943657e-17,   -2.215087912714289e-17};
  return chebyshev_sum<kTerms>(t, kCoefficients);
}
template <int kTerms, class V>
[[gnu::always_inline]] TSR_HD inline V bessel_k1_sum(V t) {
  constexpr double kCoefficients[] = {
      2.906551335187683,       0.19051350202061165,     -0.008406706460495654,
      0.0008815363164514389,   -0.000129995769583983,   2.3441638979785087e-05,
      -4.853489413610226e-06,  1.1139969511197356e-06,  -2.772707643805077e-07,
      7.37247184977708e-08,    -2.0717892129028323e-08, 6.103966549420336e-09,
      -1.873778917957349e-09,  5.963886884453419e-10,   -1.96028004074301e-10,
      6.632273899864202e-11,   -2.3034250700407756e-11, 8.193082518369976e-12,
      -2.9786645069974164e-12, 1.1049772078983365e-12,  -4.1763277431648047e-13,
      1.6061141914625803e-13,  -6.277632672531289e-14,  2.4911830875182032e-14,
      -1.002779686252293e-14,  4.091059996919741e-15,   -1.690331071434488e-15,
      7.068360792264328e-16,   -2.9895680121763374e-16, 1.2781913900252084e-16,
      -5.521491188037584e-17,  2.4087033253210474e-17};
  return chebyshev_sum<kTerms>(t, kCoefficients);
}
[[maybe_unused]] TSR_HD_CALL static double bessel_k0_far(double t) {
  return bessel_k0_sum<32>(t);
}
[[maybe_unused]] TSR_HD_CALL static double bessel_k1_far(double t) {
  return bessel_k1_sum<32>(t);
}

// K(x) for 0 < x < 1 by power series in x**2 / 4 (9.6.11 and 9.6.13): the terms of I(x), and these
// times sums of 1/k.
template <int kOrder>
[[gnu::always_inline]] TSR_HD inline double bessel_k_near(double x) {
  constexpr double kEuler = 0.5772156649015329;
  constexpr int kTerms = 11;
  const double z = 0.25 * x * x;
  double term = 1;
  double psi = kOrder == 0 ? -kEuler : 1 - 2 * kEuler;  // psi(k + 1), or plus psi(k + 2)
  double terms = 1;
  double weighted = psi;
  for (int k = 1; k < kTerms; ++k) {
    term *= z / (static_cast<double>(k) * (k + kOrder));
    psi += kOrder == 0 ? 1.0 / k : 1.0 / k + 1.0 / (k + 1);
    terms += term;
    weighted += term * psi;
  }
  const double logarithm = ::log(0.5 * x);
  if (kOrder == 0) return weighted - logarithm * terms;
  return 1 / x + 0.5 * x * (logarithm * terms - 0.5 * weighted);
}

// Infinity at 0, NaN left of it. kScaled: times e**x.
template <int kOrder, bool kScaled>
[[gnu::always_inline]] TSR_HD inline double bessel_k(double x) {
  if (x == 0) return kSpecialInfinity;
  if (!(x > 0)) return kSpecialNaN;
  if (x == kSpecialInfinity) return 0;
  if (x < 1) return bessel_k_near<kOrder>(x) * (kScaled ? ::exp(x) : 1.0);
  const double t = 2 / x - 1;
  const double scaled = (kOrder == 0 ? bessel_k0_far(t) : bessel_k1_far(t)) / ::sqrt(x);
  if (kScaled) return scaled;
  // In two halves, because the result is small but not 0 where e**-x is 0.
  const double half = ::exp(-0.5 * x);
  return scaled * half * half;
}

}  // namespace tsr::math
