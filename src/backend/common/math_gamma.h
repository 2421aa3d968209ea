// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The logarithm of the gamma function and the incomplete gamma functions for vectors.
#pragma once

#include "backend/common/gamma_math.h"
#include "backend/common/math_any.h"

namespace tsr::cpu::TSR_ISA {

// ---- The logarithm ----

// log Γ(1 + a) for 0 <= a <= 1, with all digits at both zeros (minimax.py: lgamma).
[[gnu::always_inline]] inline VD log_gamma_middle(VD a) {
  return a * (a - VD(1.0)) *
         polynomial(a - VD(0.5), 0.48312895054098087, -0.14595989591430591, 0.062911401074582082,
                    -0.031308487501056047, 0.016797098628939522, -0.0094256224446341054,
                    0.005446457958639999, -0.0032120742268808393, 0.001922913205918449,
                    -0.0011644112681141827, 0.00071156545622997106, -0.00043803627635240742,
                    0.00027089208733637409, -0.00016856490668984694, 0.00010772714501966673,
                    -6.7962613554103395e-05, 3.4963931549239599e-05, -2.1436957418886995e-05,
                    2.8362868129675027e-05, -1.8570677945492825e-05);
}
// For x > 0: below 8 downwards or upwards into [1, 2] by Γ(x + 1) = x Γ(x), where log Γ(1 + a) is
// a (a - 1) times a polynomial (minimax.py: lgamma), so that both zeros keep their digits; beyond
// by Stirling's series (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.41).
[[gnu::noinline]] inline VD log_gamma_right(VD x) {
  const Mask<double> large = x >= VD(8.0);
  const Mask<double> below = x < VD(1.0);
  VD a = select(below, x, at_most(x, VD(8.0)) - VD(1.0));
  VD factor(1.0);
  for (int step = 0; step < 6; ++step) {
    const Mask<double> above = a > VD(1.0);
    factor = select(above, factor * a, factor);
    a = select(above, a - VD(1.0), a);
  }
  const VD logarithm = log(select(large, x, select(below, x, factor)));
  const VD middle = log_gamma_middle(a);
  const VD w = VD(1.0) / x;
  const VD series =
      w * horner(w * w, 0.083333333333333333, -0.0027777777777777778, 0.00079365079365079365,
                 -0.00059523809523809524, 0.00084175084175084175, -0.0019175269175269175,
                 0.0064102564102564103, -0.029550653594771242, 0.17964437236883057);
  const VD half_log_2pi(0.91893853320467274);
  const VD far = fma(x - VD(0.5), logarithm, half_log_2pi - x) + series;
  return select(large, far, select(below, middle - logarithm, middle + logarithm));
}
// Left of 0 by Γ(x) Γ(1 - x) = pi / sin(pi x), where the difference of the logarithms is not near
// 0.
[[gnu::always_inline]] inline VD log_gamma_short(VD x) {
  const Mask<double> left = x < VD(0.0);
  VD value = log_gamma_right(select(left, VD(1.0) - x, x));
  if (any(left)) {
    const VD sine = sin((x - round_even(x)) * VD(2 * kHalfPi));
    value = select(left, log(VD(2 * kHalfPi) / abs(sine)) - value, value);
    value = patch_lanes(left & (abs(value) < VD(0.02)), value, x,
                        [](double lane) { return math::log_gamma(lane); });
  }
  return select(x == VD(0.0), VD(kInfinity), value);
}
[[gnu::always_inline]] inline VF lgamma(VF x) {
  const VF found = narrow(each_half(widen(x), log_gamma_short));
  return select(abs(x) == VF(kInfinity), abs(x), found);
}
[[gnu::always_inline]] inline VD lgamma(VD x) {
  const Mask<double> served = (x > VD(0.0)) & (x < VD(1e305));
  return patch_lanes(!served, log_gamma_right(select(served, x, VD(1.0))), x,
                     [](double lane) { return math::log_gamma(lane); });
}

// ---- The incomplete gamma functions ----

// Where a and x are of ordinary size, by the formulas of gamma_math.h: the factor's logarithm has
// digits to spare there. Every formula runs for the lanes that it serves; the others get arguments
// at which it ends at once.

struct GammaPrecision {
  double epsilon;  // of series and fraction
  double most;     // the orders below it have a vector form
};

// P over its factor; four terms have one denominator. A lane that is done keeps its sum, so that it
// does not depend on the others.
[[gnu::always_inline]] inline VD lower_gamma_series(VD a, VD x, double epsilon) {
  Mask<double> open = x == x;
  VD sum(1.0);
  VD term(1.0);
  VD d = a + VD(1.0);
  const VD fourth = (x * x) * (x * x);
  do {
    const VD d2 = d + VD(1.0);
    const VD d3 = d + VD(2.0);
    const VD d4 = d + VD(3.0);
    const VD last = d3 * d4;
    const VD scale = term / (d * d2 * last);
    const VD next = fma(x * fma(x, fma(x, d4 + x, last), d2 * last), scale, sum);
    sum = select(open, next, sum);
    term = scale * fourth;
    d = d + VD(4.0);
    open = open & (term * x > VD(epsilon) * sum * (d - x));
  } while (any(open));
  return sum;
}

// Q over its factor. Numerators and denominators of the fraction are divided once in four steps.
[[gnu::always_inline]] inline VD upper_gamma_fraction(VD a, VD x, double epsilon) {
  VD b = x + VD(1.0) - a;
  VD top(1.0);
  VD top_before(0.0);
  VD bottom = b;
  VD bottom_before(1.0);
  Mask<double> open = x == x;
  VD value(0.0);
  VD k(0.0);
  do {
    for (int step = 0; step < 4; ++step) {
      k = k + VD(1.0);
      b = b + VD(2.0);
      const VD numerator = k * (a - k);
      const VD next_top = fma(b, top, numerator * top_before);
      const VD next_bottom = fma(b, bottom, numerator * bottom_before);
      top_before = top;
      bottom_before = bottom;
      top = next_top;
      bottom = next_bottom;
    }
    const VD scale = select(bottom > VD(0x1p400), VD(0x1p-400), VD(1.0));
    top = top * scale;
    bottom = bottom * scale;
    top_before = top_before * scale;
    bottom_before = bottom_before * scale;
    const VD next = top / bottom;
    const Mask<double> changed = abs(next - value) > VD(epsilon) * next;
    value = select(open, next, value);
    open = open & changed & (k < VD(1000.0));
  } while (any(open));
  return a * value;
}

// Q for x < 1.1 and a < 0.5.
[[gnu::always_inline]] inline VD upper_gamma_near_zero(VD a, VD x, VD log_x) {
  VD term(1.0);
  VD sum(0.0);
  for (int n = 1; n < 20; ++n) {
    term = term * x * VD(-1.0 / n);
    sum = sum + term / (a + VD(n));
  }
  const VD rise = expm1(fma(a, log_x, -log_gamma_middle(a)));
  return -fma(fma(rise, a, a), sum, rise);
}

// P or Q by Temme's expansion.
template <bool kUpper>
[[gnu::always_inline]] inline VD gamma_about(VD a, VD x) {
  constexpr math::TemmeTable kTable = math::make_temme_table();
  constexpr int kRows = 5;
  constexpr int kTerms = 9;
  const VD sigma = (x - a) / a;
  const VD square = abs(sigma - log1p(sigma));
  const VD eta = with_sign(sqrt(square + square), sigma);
  const VD inverse = VD(1.0) / a;
  VD sum(0.0);
  for (int k = kRows - 1; k >= 0; --k) {
    VD row(kTable.d[k][kTerms - 1]);
    for (int n = kTerms - 2; n >= 0; --n) row = fma(row, eta, VD(kTable.d[k][n]));
    sum = fma(sum, inverse, row);
  }
  const VD series = exp(-a * square) * sqrt(inverse * VD(0.5 / math::kSpecialPi)) * sum;
  const VD distance = eta * sqrt(VD(0.5) * a);
  return kUpper ? fma(VD(0.5), erfc(distance), series) : fma(VD(0.5), erfc(-distance), -series);
}

// P or Q; all callers share one copy, because it is long.
template <bool kUpper>
[[gnu::noinline]] VD incomplete_gamma(VD given_a, VD given_x, GammaPrecision precision) {
  const Mask<double> valid = (given_a >= VD(0.0)) & (given_x >= VD(0.0));
  const Mask<double> served =
      valid & (given_a > VD(0.0)) & (given_a < VD(precision.most)) & (given_x < VD(1e5));
  const VD a = select(served, given_a, VD(1.0));
  const VD x = select(served, given_x, VD(0.5));
  const Mask<double> about =
      (a >= VD(math::kTemmeLeast)) & (abs(x - a) <= VD(math::kTemmeWidth) * a);
  const Mask<double> right = (x >= a + VD(1.0)) & !about;
  const Mask<double> left = (x < a + VD(1.0)) & !about;
  const VD log_x = log(x);
  const VD factor = exp(a * log_x - x - log_gamma_right(a + VD(1.0)));
  VD value(0.0);
  if (any(left)) {
    const VD lower = factor * lower_gamma_series(a, select(left, x, VD(0.0)), precision.epsilon);
    value = kUpper ? VD(1.0) - lower : lower;
    if constexpr (kUpper) {
      const Mask<double> small = (x < VD(1.1)) & (a < VD(0.5)) & left;
      if (any(small)) {
        const VD near = upper_gamma_near_zero(select(small, a, VD(0.25)), select(small, x, VD(1.0)),
                                              select(small, log_x, VD(0.0)));
        value = select(small, near, value);
      }
    }
  }
  if (any(right)) {
    const VD upper = factor * upper_gamma_fraction(select(right, a, VD(1.0)),
                                                   select(right, x, VD(2.0)), precision.epsilon);
    value = select(right, kUpper ? upper : VD(1.0) - upper, value);
  }
  if (any(about)) {
    const VD safe = select(about, a, VD(32.0));
    value = select(about, gamma_about<kUpper>(safe, select(about, x, VD(32.0))), value);
  }
  value = select(valid, value, VD(kNaN));
  return patch_lanes(valid & !served, value, given_a, given_x,
                     [](double p, double q) { return math::incomplete_gamma<kUpper>(p, q); });
}
template <bool kUpper>
[[gnu::always_inline]] inline VD incomplete_gamma_of(VD a, VD x) {
  return incomplete_gamma<kUpper>(a, x, {4e-16, 10});
}
template <bool kUpper>
[[gnu::always_inline]] inline VF incomplete_gamma_of(VF a, VF x) {
  return narrow(each_half(widen(a), widen(x), [](VD p, VD q) {
    return incomplete_gamma<kUpper>(p, q, {1e-10, 1e4});
  }));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> igamma(Vec<T> a, Vec<T> x) {
  return incomplete_gamma_of<false>(a, x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> igammac(Vec<T> a, Vec<T> x) {
  return incomplete_gamma_of<true>(a, x);
}

}  // namespace tsr::cpu::TSR_ISA
