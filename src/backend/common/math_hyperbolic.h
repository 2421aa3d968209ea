// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Inverse hyperbolic functions, powers of two, sums of exponentials and sinc for vectors of float32
// and float64. Most of float32 computes in float64, where the steps below lose nothing that shows.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_f64.h"
#include "backend/common/math_trig_f64.h"

namespace tsr::cpu::TSR_ISA {

// ---- Inverse hyperbolic functions: log1p of arguments that keep small x exact ----

// From here on log(x + sqrt(x² ± 1)) is log1p(x) + ln 2 to the last bit; below, x² does not
// overflow.
inline constexpr double kHugeHyperbolic = 1152921504606846976.0;  // 2**60

// asinh |x| = log1p(|x| + x² / (1 + sqrt(1 + x²)))
[[gnu::always_inline]] inline VD asinh(VD x) {
  const VD a = abs(x);
  const Mask<double> huge = a > VD(kHugeHyperbolic);
  const VD square = a * a;
  const VD argument = a + square / (VD(1.0) + sqrt(VD(1.0) + square));
  const VD value = log1p(select(huge, a, argument));
  return with_sign(abs(select(huge, value + VD(kLn2), value)), x);
}
// acosh x = log1p(t + sqrt(t (2 + t))) with t = x - 1
[[gnu::always_inline]] inline VD acosh(VD x) {
  const Mask<double> huge = x > VD(kHugeHyperbolic);
  const VD t = x - VD(1.0);
  const VD value = log1p(select(huge, x, t + sqrt(t * (VD(2.0) + t))));
  return select(x < VD(1.0), VD(kNaN), select(huge, value + VD(kLn2), value));
}
// atanh |x| = log1p(2 |x| / (1 - |x|)) / 2; below 1/2 the quotient is split, as 1 - |x| is rounded.
[[gnu::always_inline]] inline VD atanh(VD x) {
  const VD a = abs(x);
  const VD twice = a + a;
  const VD rest = VD(1.0) - a;
  const VD argument = select(a < VD(0.5), twice + twice * a / rest, twice / rest);
  return with_sign(abs(VD(0.5) * log1p(argument)), x);
}
[[gnu::always_inline]] inline VF asinh(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return asinh(wide); }));
}
[[gnu::always_inline]] inline VF acosh(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return acosh(wide); }));
}
// Near zero a series (minimax.py: atanh), elsewhere log((1 + a) / (1 - a)) / 2 for a = |x|, where 1
// - a is exact. The rounding errors of 1 + a and of the quotient are relative errors of its
// argument, so they are added to the logarithm; 7/12 is near enough to 1 / (1 + a).
[[gnu::always_inline]] inline VF atanh(VF x) {
  const VF a = abs(x);
  const VF z = x * x;
  const VF p =
      polynomial(z, 0.333333015, 0.200024545, 0.142237425, 0.118168227, 0.0515858456, 0.176406622);
  const VF small = fma(a * z, p, a);
  const VF top = VF(1.0) + a;
  const VF rest = VF(1.0) - a;
  const VF quotient = top / rest;
  const VF lost = fma(-quotient, rest, top) + (a - (top - VF(1.0)));
  const VF large = VF(0.5) * fma(lost, VF(7.0 / 12), log(quotient));
  const VF value = select(a == VF(1.0), VF(kInfinity), select(a < VF(0.5), small, large));
  return with_sign(abs(value), x);
}

// ---- Powers of two ----

// 2**x = 2**n e**(r ln 2) for n = round x and r = x - n, which is exact.
[[gnu::always_inline]] inline VF exp2(VF x) {
  const VF limited = at_most(at_least(x, VF(-151.0)), VF(129.0));
  const VF n = round_even(limited);
  return scale_by_power(exp_reduced(ExpArgument{n, (limited - n) * VF(kLn2)}), n);
}
[[gnu::always_inline]] inline VD exp2(VD x) {
  constexpr double kLn2Rest = 2.3190468138462996e-17;  // ln 2 - kLn2
  const VD limited = at_most(at_least(x, VD(-1076.0)), VD(1025.0));
  const VD n = round_even(limited);
  const VD r = limited - n;
  const VD product = r * VD(kLn2);
  const VD rest = fma(r, VD(kLn2Rest), product_error(r, VD(kLn2), product));
  return scale_by_power(exp_reduced(WideExpArgument{n, product, rest}), n);
}

// ---- log(e**a + e**b) = max(a, b) + log1p(e**-|a - b|) ----

[[gnu::always_inline]] inline VD logaddexp(VD a, VD b) {
  const VD larger = select((a > b) | (a != a), a, b);
  const VD sum = larger + log1p(exp(-abs(a - b)));
  return select(a == b, a + VD(kLn2), sum);  // also two infinities, whose difference is NaN
}
[[gnu::always_inline]] inline VD logaddexp2(VD a, VD b) {
  const VD larger = select((a > b) | (a != a), a, b);
  const VD sum = fma(log1p(exp2(-abs(a - b))), VD(kLog2E), larger);
  return select(a == b, a + VD(1.0), sum);
}
// log(1 + e**-d) for d >= 0 to nine digits as 2 atanh s for s = e / (2 + e) (minimax.py: exp_short,
// atanh_short). A result near 0, which is a difference, keeps what float32 holds.
[[gnu::always_inline]] inline VD softplus_short(VD d) {
  const VD x = -at_most(d, VD(120.0));
  const VD n = round_even(x * VD(kLog2E));
  const VD r = fma(n, VD(-kLn2), x);
  const VD series = polynomial(r, 0.99999999996107292, 1.0000000002470033, 0.50000001057846566,
                               0.16666665107594106, 0.04166622191064475, 0.0083335629164854614,
                               0.0013948419506754717, 0.00019774906034239522);
  const VD e = series * power_of_two(n);
  const VD s = e / (e + VD(2.0));
  const VD z = s * s;
  return (s + s) * polynomial(z, 0.99999999989944011, 0.33333339742023216, 0.19999339098861801,
                              0.14310521050082572, 0.10694980330749701, 0.12212454112772611);
}
[[gnu::always_inline]] inline VF logaddexp(VF a, VF b) {
  return narrow(each_half(widen(a), widen(b), [](VD x, VD y) {
    const VD larger = select((x > y) | (x != x), x, y);
    return select(x == y, x + VD(kLn2), larger + softplus_short(abs(x - y)));
  }));
}
[[gnu::always_inline]] inline VF logaddexp2(VF a, VF b) {
  return narrow(each_half(widen(a), widen(b), [](VD x, VD y) {
    const VD larger = select((x > y) | (x != x), x, y);
    const VD rest = softplus_short(abs(x - y) * VD(kLn2));
    return select(x == y, x + VD(1.0), fma(rest, VD(kLog2E), larger));
  }));
}

// ---- sin(pi x) / (pi x) ----

// sin(pi x) = ± sin(pi r) for r = x - round x, which is exact.
[[gnu::always_inline]] inline VD sinc(VD x) {
  const VD n = round_even(x);
  const VD half = n * VD(0.5);
  const VD sine = sin((x - n) * VD(2 * kHalfPi));
  const VD value = select(round_even(half) == half, sine, -sine) / (x * VD(2 * kHalfPi));
  return select(x == VD(0.0), VD(1.0), value);
}
[[gnu::always_inline]] inline VF sinc(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return sinc(wide); }));
}

}  // namespace tsr::cpu::TSR_ISA
