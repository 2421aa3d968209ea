// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and their family for vectors of float32.
//
// Arguments are reduced by Cody and Waite (Software Manual for the Elementary Functions, 1980); the
// polynomials come from tests/tools/minimax.py, and comments give its case names. `fma` need not be
// fused.
#pragma once

#include "backend/common/math_base.h"
#include "backend/common/math_table.h"
#include "backend/common/math_table_512.h"

namespace tsr::cpu::TSR_ISA {

inline constexpr double kLn2High = 0.693359375;  // 9 bits: its product with an exponent is exact
inline constexpr double kLn2Low = -2.1219444005469057e-4;

// ---- Exponentials ----

// x = n ln 2 + r with |r| <= ln 2 / 2.
struct ExpArgument {
  VF n, r;
};
[[gnu::always_inline]] inline ExpArgument reduce_exp(VF x) {
  const VF magic(12582912.0);  // 1.5 * 2**23: adding it rounds to a whole number
  const VF n = fma(x, VF(kLog2E), magic) - magic;
  return {n, fma(n, VF(-kLn2Low), fma(n, VF(-kLn2High), x))};
}
[[gnu::always_inline]] inline ExpArgument reduce_exp(Parts<float> x) {
  const ExpArgument argument = reduce_exp(x.high);
  return {argument.n, argument.r + x.low};
}

// (e**r - 1 - r) / r**2 for a reduced r (minimax.py: exp).
[[gnu::always_inline]] inline VF exp_series(VF r) {
  return polynomial(r, 0.49999994, 0.166665152, 0.0416680835, 0.00836934894, 0.00138403988);
}
[[gnu::always_inline]] inline VF exp_reduced(ExpArgument x) {
  return fma(x.r * x.r, exp_series(x.r), x.r) + VF(1.0);
}

// 2**shift * e**x.
[[gnu::always_inline]] inline VF exp_shifted(VF x, VF shift) {
  const ExpArgument argument = reduce_exp(at_most(at_least(x, VF(-104.0)), VF(90.0)));
  return scale_by_power(exp_reduced(argument), argument.n + shift);
}

[[gnu::always_inline]] inline VF exp(VF x) {
  const ExpArgument argument = reduce_exp(at_most(at_least(x, VF(-104.0)), VF(89.0)));
  return scale_by_power(exp_reduced(argument), argument.n);
}

// e**x for -80 < x < 80, where the exponent can be added in place.
[[gnu::always_inline]] inline VF exp_in_range(VF x) {
  const ExpArgument argument = reduce_exp(x);
  const VI exponent = shift_left<23>(convert_lanes<int32_t>(argument.n));
  return bit_cast_to<float>(bit_cast_to<int32_t>(exp_reduced(argument)) + exponent);
}

// minimax.py: expm1. With q = e**r - 1, e**x - 1 = 2 (2**(n-1) q + (2**(n-1) - 1/2)).
[[gnu::always_inline]] inline VF expm1(VF x) {
  const ExpArgument argument = reduce_exp(at_most(at_least(x, VF(-18.0)), VF(89.0)));
  const VF r = argument.r;
  const VF p =
      polynomial(r, 0.5, 0.166666657, 0.0416664667, 0.00833364204, 0.00139349909, 0.000196675159);
  const VF q = fma(r * r, p, r);
  const VI exponent = convert_lanes<int32_t>(argument.n) + VI(126);
  const VF half = bit_cast_to<float>(shift_left<23>(exponent));
  const VF scaled = fma(half, q, half - VF(0.5));
  return with_sign(abs(select(argument.n == VF(0.0), q, scaled + scaled)), x);
}

#if defined(__AVX512F__)
// A polynomial for each of 27 intervals of a = |x|.
[[gnu::always_inline]] inline VF tanh(VF x) {
  const VF a = at_most(abs(x), VF(9.5));
  const VI place = shift_right<20>(bit_cast_to<int32_t>(a + VF(1.0)));
  const VF d = a - look_up(kTanhCenters, place);
  VF sum = look_up(kTanh[5], place);
#pragma GCC unroll 8
  for (int k = 4; k >= 0; --k) sum = fma(sum, d, look_up(kTanh[k], place));
  return with_sign(sum, x);
}
#else
// Near zero a series (minimax.py: tanh), elsewhere 1 - 2 / (e**2a + 1) for a = |x|.
[[gnu::always_inline]] inline VF tanh(VF x) {
  const VF a = at_most(abs(x), VF(10.0));
  const VF z = a * a;
  const VF p =
      polynomial(z, -0.333332807, 0.133314058, -0.0537365153, 0.0206281673, -0.00569229666);
  const VF small = fma(a * z, p, a);
  const VF large = VF(1.0) - VF(2.0) / (exp_in_range(a + a) + VF(1.0));
  return with_sign(select(a < VF(0.625), small, large), x);
}
#endif

// e**x / 2 stays in range where sinh and cosh do.
[[gnu::always_inline]] inline VF cosh(VF x) {
  const VF half = exp_shifted(abs(x), VF(-1.0));
  return half + VF(0.25) / half;
}
// Near zero a series (minimax.py: sinh), elsewhere the definition.
[[gnu::always_inline]] inline VF sinh(VF x) {
  const VF a = abs(x);
  const VF half = exp_shifted(a, VF(-1.0));
  const VF z = x * x;
  const VF p = polynomial(z, 0.166666672, 0.00833331142, 0.000198426016, 2.78436869e-06);
  const VF small = fma(a * z, p, a);
  return with_sign(select(a < VF(1.0), small, half - VF(0.25) / half), x);
}

// ---- Logarithms ----

// u = 2**e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); u is positive, finite and not denormal.
struct LogArgument {
  VF e, f;
  VI exponent;
};
[[gnu::always_inline]] inline LogArgument split_log(VF u) {
  const VI bits = bit_cast_to<int32_t>(u);
  const VI exponent = shift_right<23>(bits - bit_cast_to<int32_t>(VF(kSqrtHalf)));
  const VF mantissa = bit_cast_to<float>(bits - shift_left<23>(exponent));
  return {convert_lanes<float>(exponent), mantissa - VF(1.0), exponent};
}

// log(1 + f) - f (minimax.py: log).
[[gnu::always_inline]] inline VF log_rest(VF f) {
  const VF z = f * f;
  const VF p = polynomial(f, 0.333333135, -0.250001669, 0.200022221, -0.16659373, 0.142096385,
                          -0.125495687, 0.121078797, -0.109169848, 0.0534253977);
  return fma(f * z, p, VF(-0.5) * z);
}

// The argument reduction of the logarithms of all bases; denormals are scaled up first.
[[gnu::always_inline]] inline LogArgument split_positive(VF x) {
  const auto tiny = x < VF(1.17549435e-38);
  LogArgument argument = split_log(select(tiny, x * VF(8388608.0), x));
  argument.e = argument.e - select(tiny, VF(23.0), VF(0.0));
  return argument;
}
[[gnu::always_inline]] inline VF finish_log(VF result, VF x) {
  result = select(x < VF(kInfinity), result, x);  // infinity and NaN
  result = select(x == VF(0.0), VF(-kInfinity), result);
  return select(x < VF(0.0), VF(kNaN), result);
}

#if defined(__AVX512F__)
// x = 2**e mantissa, with the mantissa in [3/4, 3/2) and its place in the tables of logarithms. The
// exponent of zero and infinity is infinite; the mantissa of a negative number is NaN.
struct TablePlace {
  VF e, mantissa;
  VI place;
};
[[gnu::always_inline]] inline TablePlace place_log(VF x) {
  const VF mantissa(_mm512_getmant_ps(x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan));
  const VF e = VF(_mm512_getexp_ps(x.v)) - VF(_mm512_getexp_ps(mantissa.v));
  return {e, mantissa, shift_right<19>(bit_cast_to<int32_t>(mantissa))};
}
// log(1 + r) where the table leaves r (minimax.py: log_near).
[[gnu::always_inline]] inline VF log_near(VF r) {
  const VF p = polynomial(r, -0.5, 0.333333433, -0.250011444, 0.199953914, -0.15498957);
  return fma(r * r, p, r);
}
// log x as e log 2 + offset + rest; the rest is a natural logarithm in all bases.
struct TableLog {
  VF e, offset, rest;
};
[[gnu::always_inline]] inline TableLog log_by_table(VF x, const float (&table)[2][16]) {
  const TablePlace at = place_log(x);
  const VF r = fma(at.mantissa, look_up(table[0], at.place), VF(-1.0));
  return {at.e, look_up(table[1], at.place), log_near(r)};
}

[[gnu::always_inline]] inline VF log(VF x) {
  const TableLog parts = log_by_table(x, kLogTable);
  return fma(parts.e, VF(kLn2), parts.offset + parts.rest);
}
[[gnu::always_inline]] inline VF log2(VF x) {
  const TableLog parts = log_by_table(x, kLog2Table);
  return fma(parts.rest, VF(kLog2E), parts.offset) + parts.e;
}
[[gnu::always_inline]] inline VF log10(VF x) {
  constexpr double kLog2 = 0.30102999566398120;
  constexpr float kLog2First = 0.30102998F;  // both parts positive: e may be infinite
  const TableLog parts = log_by_table(x, kLog10Table);
  const VF small = fma(parts.rest, VF(0.43429448190325182), parts.offset);
  return fma(parts.e, VF(kLog2First), fma(parts.e, VF(kLog2 - kLog2First), small));
}
#else
[[gnu::always_inline]] inline VF log(VF x) {
  const LogArgument argument = split_positive(x);
  const VF low = fma(argument.e, VF(kLn2Low), log_rest(argument.f));
  return finish_log(fma(argument.e, VF(kLn2High), argument.f + low), x);
}

[[gnu::always_inline]] inline VF log2(VF x) {
  const LogArgument argument = split_positive(x);
  const VF natural = argument.f + log_rest(argument.f);
  const VF low = natural * VF(kLog2E - 1.4423828125);
  return finish_log(fma(natural, VF(1.4423828125), low) + argument.e, x);
}

[[gnu::always_inline]] inline VF log10(VF x) {
  const LogArgument argument = split_positive(x);
  const VF natural = argument.f + log_rest(argument.f);
  const VF low = fma(argument.e, VF(0.30102999566398120 - 0.30078125),
                     natural * VF(0.43429448190325182 - 0.43408203125));
  return finish_log(fma(argument.e, VF(0.30078125), fma(natural, VF(0.43408203125), low)), x);
}
#endif

// The rounding error of u = 1 + x is added to f as a correction.
[[gnu::always_inline]] inline VF log1p(VF x) {
  const VF u = VF(1.0) + x;
  const VF lost = select(x < VF(1.0), x - (u - VF(1.0)), VF(1.0) - (u - x));
  const LogArgument argument = split_log(u);
  // 2**-e, which is in range because u is between 2**-24 and 2**128
  const VF scale = bit_cast_to<float>(shift_left<23>(VI(127) - argument.exponent));
  const VF f = fma(lost, at_least(scale, VF(0.0)), argument.f);
  const VF low = fma(argument.e, VF(kLn2Low), log_rest(f));
  VF result = fma(argument.e, VF(kLn2High), f + low);
  result = select(x < VF(kInfinity), result, x);
  result = select(x == VF(-1.0), VF(-kInfinity), result);
  result = select(x == VF(0.0), x, result);
  return select(x < VF(-1.0), VF(kNaN), result);
}

// Whether every lane is positive, normal and finite.
[[gnu::always_inline]] inline bool all_regular(VF x) {
  return all_between(x, 0x00800000, 0x7f800000);
}

// log(one + x) for a `one` of 0 or 1, as log and log1p, but +0 for the logarithm of 1. Sums that
// are zero, denormal or not finite are rare.
[[gnu::always_inline]] inline VF log_plus(VF x, VF one) {
  const VF sum = one + x;
  const VF lost = select(x < VF(1.0), x - (sum - one), one - (sum - x));
  const auto log_of = [lost](const LogArgument& argument) {
    const VF scale = bit_cast_to<float>(shift_left<23>(VI(127) - argument.exponent));
    const VF f = fma(lost, at_least(scale, VF(0.0)), argument.f);
    const VF low = fma(argument.e, VF(kLn2Low), log_rest(f));
    return fma(argument.e, VF(kLn2High), f + low);
  };
  if (__builtin_expect(all_regular(sum), 1)) return log_of(split_log(sum));
  return finish_log(log_of(split_positive(sum)), sum);
}

}  // namespace tsr::cpu::TSR_ISA
