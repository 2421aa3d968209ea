// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error function and the normal distribution for vectors of float32 and float64; polynomials
// from tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_pow_f32.h"
#include "backend/common/math_table.h"

namespace tsr::cpu::TSR_ISA {

// e**(a**2) erfc(a) (1 + 2a) for a >= 0, a polynomial in (a - 4) / (a + 4). It is nearly constant,
// so the rounding error of the quotient has no effect (after Shepherd and Laframboise, Chebyshev
// approximation of (1 + 2x) exp(x**2) erfc x, Mathematics of Computation 36, 1981; minimax.py:
// erfcx_f64).
[[gnu::always_inline]] inline VD scaled_erfc(VD a) {
  const VD t = (a - VD(4.0)) / (a + VD(4.0));
  return polynomial(t, -0.01700488137444749, -0.13962111684056253, 0.015379652102620081,
                    0.068097054254693007, -0.10103906603632773, 0.093732834998334846,
                    -0.066330365811586647, 0.037167515537841145, -0.016197734066533295,
                    0.00503196997272355, -0.00075777321828343961, -0.00019925664674565796,
                    0.00015062132683588014, -2.4399487195216514e-05, -1.1220940670656123e-05,
                    5.7107144443290864e-06, 2.9170383642614708e-07, -8.2765472584314889e-07,
                    7.6987830900742598e-08, 1.1316030828970369e-07, -1.9100708015498777e-08,
                    -1.6533119272792147e-08, 1.70367081301065e-09, 2.0834312766259816e-09,
                    2.8319111533773871e-10) +
         VD(1.25);
}

// erf a / a - 1 for 0 <= a <= 1 and z = a**2 (minimax.py: erf_small, as far as 0.9375; erf_f64).
[[gnu::always_inline]] inline VF erf_series(VF z) {
  return polynomial(z, 0.128379166, -0.376126289, 0.112836257, -0.026855737, 0.00519243814,
                    -0.000805038435, 8.00027919e-05);
}
[[gnu::always_inline]] inline VD erf_series(VD z) {
  return polynomial(z, 0.12837916709551259, -0.37612638903183865, 0.11283791670958584,
                    -0.026866170645818692, 0.0052239776332827642, -0.0008548327541182104,
                    0.00012055353908796503, -1.4926190034070515e-05, 1.647114880936659e-06,
                    -1.6463008460217081e-07, 1.5444667326982557e-08, -1.4486767983197584e-09,
                    1.132684761237992e-10);
}

// Near zero the series, elsewhere 1 - exp(x P(x)) (minimax.py: erf_large).
[[gnu::always_inline]] inline VF erf(VF x) {
  const VF a = at_most(abs(x), VF(4.0));
  const VF small = fma(a, erf_series(a * a), a);
  const VF power = a * polynomial(a, -1.12864852, -0.635151207, -0.106237032, 0.0237621609,
                                  -0.00364248175, 0.000322801468, -1.12300313e-05);
  return with_sign(select(a < VF(0.9375), small, VF(1.0) - exp_in_range(power)), x);
}

#if defined(__AVX512F__)
// a erf(a) / a for a = |x|: a polynomial around the nearest of 16 centers, of which only the last
// product and sum round much.
[[gnu::always_inline]] inline VD erf(VD x) {
  const VD a = at_most(abs(x), VD(6.0));
  const VD magic(kWholeMagic);
  const VD shifted = fma(a, VD(64.0 / 25), magic);
  const VL place = bit_cast_to<int64_t>(shifted);
  const VD d = fma(shifted - magic, VD(-25.0 / 64), a);
  VD rest = look_up(kErfOverArgument[13], place);
#pragma GCC unroll 16
  for (int k = 12; k >= 1; --k) rest = fma(rest, d, look_up(kErfOverArgument[k], place));
  return with_sign(fma(a, look_up(kErfOverArgument[0], place), a * rest), x);
}
#else
// Near zero the series, elsewhere 1 - erfc x: erfc is so small there that the rounding error of
// x**2 has no effect.
[[gnu::always_inline]] inline VD erf(VD x) {
  const VD a = at_most(abs(x), VD(6.0));
  const VD z = a * a;
  const VD small = fma(a, erf_series(z), a);
  const VD large = VD(1.0) - exp_in_range(-z) * scaled_erfc(a) / fma(a, VD(2.0), VD(1.0));
  return with_sign(select(a < VD(1.0), small, large), x);
}
#endif

// factor * x**2 as an exponential, 2**n * value. The square is computed in two parts: for large x,
// an error in its last place would become an error of hundreds of units in the result.
struct BellCurve {
  VD value, n;
};
[[gnu::always_inline]] inline BellCurve bell_curve(VD x, double factor) {
  const VD square = x * x;
  const VD f(factor);  // a power of two
  const auto argument = reduce_exp(Parts<double>{f * square, f * product_error(x, x, square)});
  return {exp_reduced(argument), argument.n};
}

// In double: exp(-x**2) P(q) / (1 + 2 |x|) with q = (|x| - 2) / (|x| + 2); the tail below the
// smallest float rounds to 0 (minimax.py: erfc_wide).
[[gnu::always_inline]] inline VF erfc_wide(VF x) {
  const VF result = narrow(each_half(widen(x), [](VD value) {
    const VD a = at_most(abs(value), VD(10.25));
    const VD q = (a - VD(2.0)) / (a + VD(2.0));
    const VD p =
        polynomial(q, 1.276978382692501, -0.09276382036468217, -0.16603052255464046,
                   0.16405103076837518, -0.054217821689404609, -0.0080307917700935209,
                   0.0087091201081535719, 0.0012524755186653668, -0.0014210105178526838,
                   -0.00040057676649017556, 0.00016971537481938616, 7.9546980712512041e-05);
    const VD tail = exp2_wide(a * a * VD(-kLog2E)) * p / fma(a, VD(2.0), VD(1.0));
    return select(value < VD(0.0), VD(2.0) - tail, tail);
  }));
  return select(x != x, x, result);
}

#if defined(__AVX512F__)
// exp(-a**2) times a function of a = |x| that has a polynomial in each of 32 intervals. s is the
// reduced argument of the exponential, from a multiple m of ln 2 / 32 on, with the other sign: m
// times the first part of ln 2 is exact, so that a**2 is rounded only after that is off. Only the
// last product and sum round much. Where the last part would be denormal, the lanes are computed in
// double.
[[gnu::always_inline]] inline VF erfc(VF x) {
  constexpr double kHighest = 8.25;
  const VF a = at_most(abs(x), VF(10.25));
  const VF magic(12582912.0 / 32);
  const VF shifted = fma(a * a, VF(-kLog2E), magic);
  const VF m = shifted - magic;
  const VI fraction = bit_cast_to<int32_t>(shifted);
  const VF s = fma(m, VF(kLn2 - kLn2High), fma(a, a, m * VF(kLn2High))) -
               look_up(kThirtySeconds[1], fraction);
  const VF growth = s * horner(s, -1.0, 0.5, -1.0 / 6);
  const VF scale = scale_by_power(look_up(kThirtySeconds[0], fraction), m + VF(24.0));

  const VI place = shift_right<20>(bit_cast_to<int32_t>(a + VF(1.0)));
  const VF d = a - look_up(kErfcxCenters, place);
  VF slope = look_up(kErfcx[7], place);
#pragma GCC unroll 8
  for (int k = 6; k >= 2; --k) slope = fma(slope, d, look_up(kErfcx[k], place));
  const VF constant = look_up(kErfcx[0], place);
  const VF near = fma(slope, d, constant);
  const VF rest = fma(slope, d, constant - near) + look_up(kErfcx[1], place);

  // (near + rest) (1 + growth), and the product with the scale, left of zero subtracted from 2
  const VF small = fma(near, growth, rest);
  const VF factor =
      bit_cast_to<float>(bit_cast_to<int32_t>(scale) ^ bit_cast_to<int32_t>(sign_bit(x)));
  const VF base =
      bit_cast_to<float>(shift_right<31>(bit_cast_to<int32_t>(x)) & bit_cast_to<int32_t>(VF(2.0)));
  const VF high = fma(factor, near, base);
  const VF result = high + fma(factor, small, fma(factor, near, base - high));
  const auto is_far = [&] { return (x > VF(kHighest)) & (x < VF(10.25)); };
  if (__builtin_expect(_mm512_cmp_ps_mask(x.v, VF(kHighest).v, _CMP_GT_OQ) != 0, 0))
    return select(is_far(), erfc_wide(x), result);
  return result;
}
#else
[[gnu::always_inline]] inline VF erfc(VF x) {
  return erfc_wide(x);
}
#endif

#if defined(__AVX512F__)
// exp(-a**2) times a polynomial for each of 16 intervals of a = |x|, and 2 less that left of zero.
// s is the reduced argument of the exponential with the other sign, from a multiple m of 1/16 on: m
// times the first part of ln 2 is exact, so that a**2 is rounded only after that is off.
[[gnu::always_inline]] inline VD erfc(VD x) {
  const VD a = at_most(abs(x), VD(27.5));
  const VD magic(kWholeMagic / 16);
  const VD shifted = fma(a * a, VD(-kLog2E), magic);
  const VD m = shifted - magic;
  const VL fraction = bit_cast_to<int64_t>(shifted);
  const VD s = fma(m, VD(kLn2Low32), fma(a, a, m * VD(kLn2High32)));
  const VD q = short_growth(-s);
  const VD power = look_up(kSixteenths[0], fraction);
  const VD bell = power + fma(power, q, look_up(kSixteenths[1], fraction));

  const VL place = bit_cast_to<int64_t>(shift_right<50>(bit_cast_to<uint64_t>(a + VD(2.0))));
  const VD d = a - look_up(kWideErfcxCenters, place);
  VD sum = look_up(kWideErfcx[14], place);
#pragma GCC unroll 16
  for (int k = 13; k >= 0; --k) sum = fma(sum, d, look_up(kWideErfcx[k], place));
  const VD tail = scale_by_power(bell * sum, m);
  return select(x < VD(0.0), VD(2.0) - tail, tail);
}
#else
// Near zero 1 - erf x by the series, elsewhere the scaled form, limited to the range where it is
// not zero.
[[gnu::always_inline]] inline VD erfc(VD x) {
  const VD a = at_most(abs(x), VD(27.5));
  const BellCurve bell = bell_curve(a, -1.0);
  const VD ratio = scaled_erfc(a) / fma(a, VD(2.0), VD(1.0));
  const VD tail = scale_by_power(bell.value * ratio, bell.n);
  const VD signed_a = with_sign(a, x);
  const VD center = VD(1.0) - fma(signed_a, erf_series(a * a), signed_a);
  return select(a < VD(0.5), center, select(x < VD(0.0), VD(2.0) - tail, tail));
}
#endif

// ---- Normal distribution ----

// e**(a**2 / 2) Φ(-a) for 0 <= a < 15: polynomials in a - center on intervals of a + 1, so many for
// each power of two that the last bits of its exponent and the first of its mantissa are the
// interval's place in the tables. Where two registers hold 32 numbers there are eight intervals for
// each power of two (minimax.py: normal_tail_0 and so on), else two with longer polynomials
// (normal_tail_wide_0 and so on).
#if defined(__AVX512F__)
inline constexpr int kTailIntervals = 32;
inline constexpr int kTailDegree = 4;
#else
inline constexpr int kTailIntervals = 8;
inline constexpr int kTailDegree = 7;
#endif
struct NormalTail {
  float centers[kTailIntervals];
  float powers[kTailDegree + 1][kTailIntervals];
};
#if defined(__AVX512F__)
inline constexpr NormalTail kNormalTail = {
    {1.125F, 1.375F, 1.625F,  1.875F,  2.125F,  2.375F,  2.625F,  2.875F,  3.25F,   3.75F,  4.25F,
     4.75F,  5.25F,  5.75F,   6.25F,   6.75F,   7.5F,    8.5F,    9.5F,    10.5F,   11.5F,  12.5F,
     13.5F,  14.5F,  0.0625F, 0.1875F, 0.3125F, 0.4375F, 0.5625F, 0.6875F, 0.8125F, 0.9375F},
    {{0.245331392F, 0.217639819F,  0.195023105F,  0.176290885F,  0.160580099F,  0.147254065F,
      0.135835603F, 0.125961721F,  0.113452062F,  0.100039206F,  0.0893593207F, 0.0806754008F,
      0.073488228F, 0.0674492344F, 0.0623084866F, 0.0578826331F, 0.0522930957F, 0.0463100448F,
      0.04154329F,  0.037658859F,  0.0344340578F, 0.0317149274F, 0.0293917321F, 0.0273842253F,
      0.476011127F, 0.433182299F,  0.396211833F,  0.364104867F,  0.336061448F,  0.311434001F,
      0.289695084F, 0.270412415F},
     {-0.122944213F,   -0.0996873528F,  -0.0820296109F,  -0.0683967844F,  -0.0577095225F,
      -0.0492138341F,  -0.0423738025F,  -0.0368023105F,  -0.0302229635F,  -0.0237951614F,
      -0.0191651266F,  -0.0157341026F,  -0.0131290499F,  -0.0111091863F,  -0.0095142303F,
      -0.0082345102F,  -0.00674401363F, -0.00530689163F, -0.00428102678F, -0.00352425734F,
      -0.00295060244F, -0.00250570755F, -0.00215390162F, -0.00187101401F, -0.369191438F,
      -0.317720503F,   -0.27512598F,    -0.23964633F,    -0.209907636F,   -0.184831351F,
      -0.16356498F,    -0.14543061F},
     {0.0535075143F,   0.0402874723F,   0.0308652613F,   0.0240268763F,   0.0189742185F,
      0.0151873389F,   0.0123001589F,   0.0100784702F,   0.00761352153F,  0.00540398853F,
      0.00395333953F,  0.00296889083F,  0.0022806786F,   0.00178526517F,  0.00142230198F,
      0.00114964915F,  0.00085640687F,  0.000600567611F, 0.000436650647F, 0.000327030371F,
      0.000251068472F, 0.000196711029F, 0.000157003335F, 0.000127249572F, 0.226479962F,
      0.186827868F,    0.155123845F,    0.129640073F,    0.108964898F,    0.0921534151F,
      0.0783770531F,   0.067036964F},
     {-0.0209710989F,   -0.0148007935F,   -0.010649519F,    -0.00779955741F,  -0.00580665283F,
      -0.00438972376F,  -0.00336565939F,  -0.0026132511F,   -0.00183366938F,  -0.00118179398F,
      -0.000789932732F, -0.000545166607F, -0.000386747444F, -0.000281171029F, -0.00020875028F,
      -0.000158013136F, -0.000107684653F, -6.74621333e-05F, -4.42711425e-05F, -3.01889504e-05F,
      -2.12636096e-05F, -1.53963574e-05F, -1.1408978e-05F,  -8.63017794e-06F, -0.11846815F,
      -0.0943178609F,   -0.0756293237F,   -0.061033994F,    -0.0495881774F,   -0.0405252837F,
      -0.03332166F,     -0.0275512021F},
     {0.00764773786F,  0.00482022157F,  0.00321770133F,  0.00213589147F,  0.00162718596F,
      0.00108147238F,  0.000998452189F, 0.000582793262F, 0.000420721015F, 0.000239654866F,
      0.000157539704F, 0.000100956408F, 5.78781255e-05F, 4.96073553e-05F, 2.91950437e-05F,
      2.41016151e-05F, 1.30077942e-05F, 7.73858665e-06F, 4.65190396e-06F, 2.81585335e-06F,
      1.67293081e-06F, 1.43145223e-06F, 8.80465507e-07F, 5.95771894e-07F, 0.0518573858F,
      0.0364630073F,   0.0312770307F,   0.0231224503F,   0.027781887F,    0.0231848937F,
      0.0185267068F,   0.00997029431F}}};
#else
inline constexpr NormalTail kNormalTail = {
    {1.5F, 2.5F, 4.0F, 6.0F, 9.0F, 13.0F, 0.25F, 0.75F},
    {{0.20578067F, 0.14133133F, 0.094410643F, 0.0647793114F, 0.0437987857F, 0.0305094142F,
      0.414032102F, 0.30023247F},
     {-0.0902712792F, -0.045613952F, -0.0212997161F, -0.0102663944F, -0.00475318031F,
      -0.00231989194F, -0.295434266F, -0.173767939F},
     {0.0351869799F, 0.013648239F, 0.00460595218F, 0.00159047754F, 0.000510092708F, 0.000175409979F,
      0.170086816F, 0.0849532634F},
     {-0.0124969818F, -0.00383112952F, -0.000958723191F, -0.000241184258F, -5.41487389e-05F,
      -1.3189574e-05F, -0.0843041688F, -0.0366843268F},
     {0.00410819286F, 0.00101734139F, 0.000192446285F, 3.5823814e-05F, 5.67440384e-06F,
      9.85753559e-07F, 0.0372495502F, 0.0143591845F},
     {-0.00126603094F, -0.00025738863F, -3.74974152e-05F, -5.2233795e-06F, -5.90134846e-07F,
      -7.33255803e-08F, -0.0149981156F, -0.00518279988F},
     {0.000382221566F, 6.39927821e-05F, 7.58692431e-06F, 7.78000697e-07F, 6.61827428e-08F,
      5.66959724e-09F, 0.00566402031F, 0.001766384F},
     {-0.000104770523F, -1.48253093e-05F, -1.38504276e-06F, -1.0915906e-07F, -6.72535938e-09F,
      -4.1693296e-10F, -0.00195998885F, -0.000557843712F}}};
#endif
[[gnu::always_inline]] inline VF scaled_normal_tail(VF a) {
  constexpr int kShift = kTailIntervals == 32 ? 20 : 22;
  const VI place = shift_right<kShift>(bit_cast_to<int32_t>(a + VF(1.0)));
  const VF d = a - look_up(kNormalTail.centers, place);
  VF sum = look_up(kNormalTail.powers[kTailDegree], place);
#pragma GCC unroll 8
  for (int k = kTailDegree - 1; k >= 0; --k)
    sum = fma(sum, d, look_up(kNormalTail.powers[k], place));
  return sum;
}

// e**(-a**2 / 2) 2**64 for 0 <= a < 14.5, which is never denormal: r is -2 times the reduced
// argument of the exponential, whose series is that of exp_series.
[[gnu::always_inline]] inline VF raised_bell_curve(VF a) {
  const VF magic(12582912.0 +
                 64);  // 1.5 * 2**23, and 64 in the last bits, which become the exponent
  const VF square = a * a;
  const VF shifted = fma(square, VF(-0.5 * kLog2E), magic);
  const VF n = shifted - magic;
  const VF high = n * VF(2 * kLn2High);  // exact
  const VF first =
      kFusedMultiplyAdd ? fma(a, a, high) : (high + square) + product_error(a, a, square);
  const VF r = fma(n, VF(2 * kLn2Low), first);
  const VF value = horner(r, 1.0, -0.5, 0.49999994 / 4, -0.166665152 / 8, 0.0416680835 / 16,
                          -0.00836934894 / 32, 0.00138403988 / 64);
  const VI exponent = shift_left<23>(bit_cast_to<int32_t>(shifted));
  return bit_cast_to<float>(bit_cast_to<int32_t>(value) + exponent);
}

// |x|, limited to the range where the tail is not zero.
template <class T>
[[gnu::always_inline]] inline Vec<T> normal_argument(Vec<T> x) {
  return at_most(abs(x), Vec<T>(sizeof(T) == 4 ? 14.5 : 39.0));
}
// Φ(-a) 2**64.
[[gnu::always_inline]] inline VF raised_normal_tail(VF a) {
  return raised_bell_curve(a) * scaled_normal_tail(a);
}

// The distribution function by its tail, which keeps its digits on both sides.
[[gnu::always_inline]] inline VF normal_cdf(VF x) {
  const VF tail = raised_normal_tail(normal_argument(x)) * VF(0x1p-64);
  return select(x < VF(0.0), tail, VF(1.0) - tail);
}
// The distribution function, with u = x / sqrt 2: (1 + erf u) / 2 near zero, elsewhere erfc(-u) /
// 2, whose relative error is small in the lower tail.
[[gnu::always_inline]] inline VD normal_cdf(VD x) {
  const VD a = normal_argument(x);
  const VD u = a * VD(kSqrtHalf);
  const BellCurve bell = bell_curve(a, -0.5);
  const VD ratio = scaled_erfc(u) / fma(a, VD(1.4142135623730951), VD(1.0));
  const VD tail = scale_by_power(VD(0.5) * bell.value * ratio, bell.n);
  const VD half_u = with_sign(VD(0.5) * u, x);
  const VD center = fma(half_u, erf_series(u * u), half_u) + VD(0.5);
  return select(a < VD(0.75), center, select(x < VD(0.0), tail, VD(1.0) - tail));
}
// The density, the derivative of normal_cdf.
[[gnu::always_inline]] inline VF normal_density(VF x) {
  return raised_bell_curve(normal_argument(x)) * VF(0.39894228040143268 * 0x1p-64);
}
[[gnu::always_inline]] inline VD normal_density(VD x) {
  const BellCurve bell = bell_curve(normal_argument(x), -0.5);
  return scale_by_power(VD(0.39894228040143268) * bell.value, bell.n);
}

// x Φ(x): max(x, 0) - |x| Φ(-|x|), rounded once on the left. (x * 0 is NaN for an infinite x.)
[[gnu::always_inline]] inline VF gelu(VF x) {
  const VF a = normal_argument(x);
  const VF right = select(x < VF(0.0), x * VF(0.0), x);
  return fma(-(a * raised_normal_tail(a)), VF(0x1p-64), right);
}
[[gnu::always_inline]] inline VD gelu(VD x) {
  return x * normal_cdf(x);
}

}  // namespace tsr::cpu::TSR_ISA
