// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and their family for vectors of float64.
//
// Arguments are reduced by Cody and Waite (Software Manual for the Elementary Functions, 1980), the
// logarithm of 1 + f goes through s = f / (2 + f) (Muller, Elementary Functions, 3rd edition,
// sections 11.4 and 11.5); the polynomials come from tests/tools/minimax.py, and comments give its
// case names. `fma` need not be fused.
#pragma once

#include "backend/common/math_base.h"
#include "backend/common/math_table.h"
#include "backend/common/math_table_512.h"

namespace tsr::cpu::TSR_ISA {

// 1.5 * 2**52: adding it rounds to a whole number, which is then in the low bits of the sum.
inline constexpr double kWholeMagic = 6755399441055744.0;

// 2**exponent for a whole number between -1022 and 1023.
[[gnu::always_inline]] inline VD power_of_two(VD exponent) {
  return bit_cast_to<double>(
      shift_left<52>(bit_cast_to<int64_t>(exponent + VD(kWholeMagic + 1023.0))));
}

#if !defined(__AVX512F__)
// In two steps, because 2**exponent alone may be out of range where the result is not.
[[gnu::always_inline]] inline VD scale_by_power(VD value, VD exponent) {
  const VD half = round_even(exponent * VD(0.5));
  return value * power_of_two(half) * power_of_two(exponent - half);
}
#endif

// ---- Exponentials ----

// x = n ln 2 + r + rest with |r| <= ln 2 / 2; the product of n and the high part of ln 2 is exact.
struct WideExpArgument {
  VD n, r, rest;
};
[[gnu::always_inline]] inline WideExpArgument reduce_exp(Parts<double> x) {
  constexpr double kHigh = 0.6931471803691238;  // ln 2 to 32 bits
  constexpr double kLow = 1.9082149292705877e-10;
  const VD magic(kWholeMagic);
  const VD n = fma(x.high, VD(kLog2E), magic) - magic;
  const VD near = fma(n, VD(-kHigh), x.high);
  const VD tail = fma(n, VD(-kLow), x.low);
  const VD r = near + tail;
  return {n, r, sum_error(near, tail, r)};
}
[[gnu::always_inline]] inline WideExpArgument reduce_exp(VD x) {
  return reduce_exp(Parts<double>{x, VD(0.0)});
}

// (e**r - 1 - r) / r**2 for a reduced r (minimax.py: expm1_f64).
[[gnu::always_inline]] inline VD exp_series(VD r) {
  return polynomial(r, 0.5, 0.16666666666666677, 0.041666666666666616, 0.0083333333333207495,
                    0.0013888888888913755, 0.00019841269888739614, 2.4801587262367481e-05,
                    2.7557241339591228e-06, 2.7557329718397118e-07, 2.5110090731933336e-08,
                    2.0896955197518796e-09);
}
// The rounding error of 1 + r is added to the small terms, so that only the last sum rounds. exp(1)
// then equals that of other libraries.
[[gnu::always_inline]] inline VD exp_reduced(WideExpArgument x) {
  const VD near = VD(1.0) + x.r;
  return near + fma(x.r * x.r, exp_series(x.r), sum_error(VD(1.0), x.r, near) + x.rest);
}

// 2**shift * e**x.
[[gnu::always_inline]] inline VD exp_shifted(VD x, VD shift) {
  const WideExpArgument argument = reduce_exp(at_most(at_least(x, VD(-746.0)), VD(712.0)));
  return scale_by_power(exp_reduced(argument), argument.n + shift);
}

#if defined(__AVX512F__)
// e**r - 1 for |r| <= ln 2 / 32 (minimax.py: expm1_short_f64).
[[gnu::always_inline]] inline VD short_growth(VD r) {
  const VD p = polynomial(r, 0.499999999999996, 0.1666666666439989, 0.041666666693396207,
                          0.0083334724767449887, 0.001388859417324661);
  return fma(r * r, p, r);
}
// e**x = 2**m (1 + q) for a multiple m of 1/16, whose fraction is looked up. Scaling takes the
// whole part of m.
[[gnu::always_inline]] inline VD exp(VD x) {
  constexpr double kLn2Rest = 2.3190468138462996e-17;  // ln 2 - kLn2
  const VD limited = at_most(at_least(x, VD(-746.0)), VD(711.0));
  const VD magic(kWholeMagic / 16);
  const VD shifted = fma(limited, VD(kLog2E), magic);
  const VD m = shifted - magic;
  const VL fraction = bit_cast_to<int64_t>(shifted);
  const VD r = fma(m, VD(-kLn2Rest), fma(m, VD(-kLn2), limited));
  const VD q = short_growth(r);
  const VD power = look_up(kSixteenths[0], fraction);
  return scale_by_power(power + fma(power, q, look_up(kSixteenths[1], fraction)), m);
}
#else
[[gnu::always_inline]] inline VD exp(VD x) {
  const WideExpArgument argument = reduce_exp(at_most(at_least(x, VD(-746.0)), VD(711.0)));
  return scale_by_power(exp_reduced(argument), argument.n);
}
#endif

// e**x for -700 < x < 700.
[[gnu::always_inline]] inline VD exp_in_range(VD x) {
  const WideExpArgument argument = reduce_exp(x);
  return exp_reduced(argument) * power_of_two(argument.n);
}

// With q = e**r - 1 = r + s, e**x - 1 = 2 ((2**(n-1) r + (2**(n-1) - 1/2)) + 2**(n-1) s).
[[gnu::always_inline]] inline VD expm1(VD x) {
  const WideExpArgument argument = reduce_exp(at_most(at_least(x, VD(-40.0)), VD(709.9)));
  const VD r = argument.r;
  const VD s = fma(r * r, exp_series(r), argument.rest);
  const VD half = power_of_two(argument.n - VD(1.0));
  const VD scaled = fma(half, s, fma(half, r, half - VD(0.5)));
  return with_sign(abs(select(argument.n == VD(0.0), r + s, scaled + scaled)), x);
}

// Near zero a series (minimax.py: tanh_f64), elsewhere 1 - 2 / (e**2a + 1) for a = |x|.
[[gnu::always_inline]] inline VD tanh(VD x) {
  const VD a = at_most(abs(x), VD(22.0));
  const VD z = a * a;
  const VD p = polynomial(z, -0.33333333333333326, 0.13333333333331715, -0.053968253967020215,
                          0.021869488491883311, -0.0088632346381889368, 0.0035921168953767981,
                          -0.0014557429215523653, 0.00058951833960609599, -0.00023718450036949981,
                          9.1843650147354106e-05, -3.0458413026876201e-05, 6.1555251325281419e-06);
  const VD small = fma(a * z, p, a);
  const VD large = VD(1.0) - VD(2.0) / (exp_in_range(a + a) + VD(1.0));
  return with_sign(select(a < VD(0.625), small, large), x);
}

// e**x / 2 stays in range where sinh and cosh do.
[[gnu::always_inline]] inline VD cosh(VD x) {
  const VD half = exp_shifted(abs(x), VD(-1.0));
  return half + VD(0.25) / half;
}
// Near zero a series (minimax.py: sinh_f64), elsewhere the definition.
[[gnu::always_inline]] inline VD sinh(VD x) {
  const VD a = abs(x);
  const VD half = exp_shifted(a, VD(-1.0));
  const VD z = x * x;
  const VD p = polynomial(z, 0.16666666666666669, 0.0083333333333329117, 0.00019841269841593408,
                          2.755731910675843e-06, 2.5052130998848754e-08, 1.6056659039358888e-10,
                          7.776611303360681e-13);
  const VD small = fma(a * z, p, a);
  return with_sign(select(a < VD(1.0), small, half - VD(0.25) / half), x);
}

// ---- Logarithms ----

// u = 2**e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); u is positive, finite and not denormal.
struct WideLogArgument {
  VD e, f;
};
[[gnu::always_inline]] inline WideLogArgument split_log(VD u) {
  const VL bits = bit_cast_to<int64_t>(u);
  const VL root = bit_cast_to<int64_t>(VD(kSqrtHalf));
  // Biased by 1024 so that a logical shift suffices: AVX2 has no arithmetic shift of 64 bits.
  const Vec<uint64_t> biased = bit_cast_to<uint64_t>(bits - root + VL(int64_t{1024} << 52));
  const VL exponent = bit_cast_to<int64_t>(shift_right<52>(biased));
  const VD mantissa = bit_cast_to<double>(bits - shift_left<52>(exponent - VL(1024)));
  // 2**52 + exponent as a double has the exponent in its low bits.
  const VD magic(4503599627370496.0);
  const VD e = bit_cast_to<double>(exponent | bit_cast_to<int64_t>(magic)) - (magic + VD(1024.0));
  return {e, mantissa - VD(1.0)};
}

// log(1 + f) = f - half_square + rest, where |rest| is below an eighth of |f|.
struct LogTerms {
  VD half_square, rest;
};
// minimax.py: log_f64.
[[gnu::always_inline]] inline LogTerms log_terms(VD f) {
  const VD s = f / (VD(2.0) + f);
  const VD z = s * s;
  const VD p = z * polynomial(z, 0.66666666666667351, 0.39999999999409136, 0.28571428743781568,
                              0.22222198414603436, 0.18183573331303035, 0.1531380157899547,
                              0.14798618471085226);
  const VD half_square = VD(0.5) * f * f;
  return {half_square, s * (half_square + p)};
}

// The argument reduction of the logarithms of all bases; denormals are scaled up first.
[[gnu::always_inline]] inline WideLogArgument split_positive(VD x) {
  const auto tiny = x < VD(2.2250738585072014e-308);
  WideLogArgument argument = split_log(select(tiny, x * VD(18014398509481984.0), x));
  argument.e = argument.e - select(tiny, VD(54.0), VD(0.0));
  return argument;
}
[[gnu::always_inline]] inline VD finish_log(VD result, VD x) {
  result = select(x < VD(kInfinity), result, x);  // infinity and NaN
  result = select(x == VD(0.0), VD(-kInfinity), result);
  return select(x < VD(0.0), VD(kNaN), result);
}

inline constexpr double kLn2High32 = 0.6931471803691238;  // to 32 bits
inline constexpr double kLn2Low32 = 1.9082149292705877e-10;

#if defined(__AVX512F__)
// x = 2**e mantissa, with the mantissa in [3/4, 3/2) and its place in the tables of logarithms.
struct WideTablePlace {
  VD e, mantissa;
  VL place;
};
[[gnu::always_inline]] inline WideTablePlace place_log(VD x) {
  const VD mantissa(_mm512_getmant_pd(x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero));
  const VD e = VD(_mm512_getexp_pd(x.v)) - VD(_mm512_getexp_pd(mantissa.v));
  const Vec<uint64_t> bits = bit_cast_to<uint64_t>(mantissa);
  return {e, mantissa, bit_cast_to<int64_t>(shift_right<48>(bits))};
}
// log(1 + r) - r where the tables leave r (minimax.py: log_near_f64).
[[gnu::always_inline]] inline VD log_near_rest(VD r) {
  const VD p = polynomial(r, -0.49999999999999994, 0.33333333333333354, -0.25000000000063088,
                          0.20000000000307888, -0.16666666513328787, 0.14285712420572202,
                          -0.12500139188079776, 0.11113858993904321, -0.0996660670006764,
                          0.079034812498097018);
  return r * r * p;
}
// A number in two parts: for a logarithm of 2 the first has 42 bits, for other factors 53.
struct WideConstant {
  double high, low;
};
// e `two` + offset + `factor` (r + rest), of which the first sum is exact.
[[gnu::always_inline]] inline VD add_logs(VD e, VD offset, VD r, VD rest, WideConstant two,
                                          WideConstant factor) {
  const VD whole = two.high == 1 ? e + offset : fma(e, VD(two.high), offset);
  const VD near = factor.high == 1 ? r : r * VD(factor.high);
  const VD sum = whole + near;
  VD low = sum_error(whole, near, sum);
  if (factor.high != 1) low = low + fma(r, VD(factor.low), product_error(r, VD(factor.high), near));
  if (two.low != 0) low = fma(e, VD(two.low), low);
  return sum + fma(rest, VD(factor.high), low);
}
// The logarithm of a base for its table, and for its logarithms of 2 and of Euler's number.
[[gnu::always_inline]] inline VD log_by_table(VD x, const double (&table)[2][16], WideConstant two,
                                              WideConstant factor) {
  const WideTablePlace at = place_log(x);
  const VD r = fma(at.mantissa, look_up(table[0], at.place), VD(-1.0));
  const VD result = add_logs(at.e, look_up(table[1], at.place), r, log_near_rest(r), two, factor);
  constexpr int kRare = 0xdf;  // all but positive numbers: NaN, zero, infinity, negative
  if (__builtin_expect(_mm512_fpclass_pd_mask(x.v, kRare) != 0, 0)) return finish_log(result, x);
  return result;
}

inline constexpr WideConstant kLn2By42 = {0.69314718055989033, 5.4979230187083712e-14};
[[gnu::always_inline]] inline VD log(VD x) {
  return log_by_table(x, kWideLogTable, kLn2By42, {1, 0});
}
[[gnu::always_inline]] inline VD log2(VD x) {
  return log_by_table(x, kWideLog2Table, {1, 0}, {1.4426950408889634, 2.0355273740931033e-17});
}
[[gnu::always_inline]] inline VD log10(VD x) {
  return log_by_table(x, kWideLog10Table, {0.30102999566395283, 2.8363394551044964e-14},
                      {0.43429448190325182, 1.098319650216765e-17});
}
#else
[[gnu::always_inline]] inline VD log(VD x) {
  const WideLogArgument a = split_positive(x);
  const LogTerms terms = log_terms(a.f);
  const VD rest = fma(a.e, VD(kLn2Low32), terms.rest);
  return finish_log(fma(a.e, VD(kLn2High32), a.f - (terms.half_square - rest)), x);
}

// log(1 + f) in two parts, the first with 21 bits, so that its product with a factor of 32 is
// exact.
[[gnu::always_inline]] inline Parts<double> log_in_parts(VD f) {
  const LogTerms terms = log_terms(f);
  const VL first_bits(~int64_t{0xFFFFFFFF});
  const VD rounded = f - terms.half_square;
  const VD high = bit_cast_to<double>(bit_cast_to<int64_t>(rounded) & first_bits);
  return {high, ((f - high) - terms.half_square) + terms.rest};
}

[[gnu::always_inline]] inline VD log2(VD x) {
  constexpr double kHigh = 1.4426950407214463;  // 1 / ln 2
  constexpr double kLow = 1.6751713164886512e-10;
  const WideLogArgument a = split_positive(x);
  const Parts<double> natural = log_in_parts(a.f);
  const VD high = natural.high * VD(kHigh);
  const VD low = fma(natural.low + natural.high, VD(kLow), natural.low * VD(kHigh));
  const VD sum = a.e + high;
  return finish_log(sum + (low + sum_error(a.e, high, sum)), x);
}

[[gnu::always_inline]] inline VD log10(VD x) {
  constexpr double kHigh = 0.4342944818781689;  // 1 / ln 10
  constexpr double kLow = 2.5082946711645275e-11;
  constexpr double kLog2High = 0.30102999566395283;  // ln 2 / ln 10 to 42 bits
  constexpr double kLog2Low = 2.8363394551044964e-14;
  const WideLogArgument a = split_positive(x);
  const Parts<double> natural = log_in_parts(a.f);
  const VD high = natural.high * VD(kHigh);
  const VD low =
      fma(a.e, VD(kLog2Low), fma(natural.low + natural.high, VD(kLow), natural.low * VD(kHigh)));
  const VD whole = a.e * VD(kLog2High);
  const VD sum = whole + high;
  return finish_log(sum + (low + sum_error(whole, high, sum)), x);
}
#endif

// log(one + x) for a `one` of 0 or 1 and the reduced u = one + x. The rounding error of u is added
// to f as a correction; the rounding error of that sum is added to the small terms.
[[gnu::always_inline]] inline VD log_of_sum(VD x, VD one, VD u, WideLogArgument a) {
  const VD lost = select(x < one, x - (u - one), one - (u - x));
  const VD limited = at_most(at_least(a.e, VD(-1000.0)), VD(1000.0));
  const VD correction = lost * power_of_two(-limited);
  const VD f = a.f + correction;
  const LogTerms terms = log_terms(f);
  const VD rest = fma(a.e, VD(kLn2Low32), terms.rest + ((a.f - f) + correction));
  VD result = fma(a.e, VD(kLn2High32), f - (terms.half_square - rest));
  result = select(x < VD(kInfinity), result, x);
  result = select(x == VD(0.0), x, result);
  result = select(u == VD(0.0), VD(-kInfinity), result);
  return select(u < VD(0.0), VD(kNaN), result);
}
[[gnu::always_inline]] inline VD log1p(VD x) {
  const VD u = VD(1.0) + x;
  return log_of_sum(x, VD(1.0), u, split_log(u));
}
[[gnu::always_inline]] inline VD log_plus(VD x, VD one) {
  const VD u = one + x;
  return log_of_sum(x, one, u, split_positive(u));
}

}  // namespace tsr::cpu::TSR_ISA
