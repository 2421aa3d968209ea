// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The error function and the normal distribution for vectors of float32 and float64; polynomials
// from tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_pow_f32.h"

namespace tsr::cpu::TSR_ISA {

// e**(a**2) erfc(a) (1 + 2a) for a >= 0, a polynomial in (a - 4) / (a + 4). It is nearly constant,
// so the rounding error of the quotient has no effect (after Shepherd and Laframboise, Chebyshev
// approximation of (1 + 2x) exp(x**2) erfc x, Mathematics of Computation 36, 1981; minimax.py:
// erfcx, erfcx_f64).
[[gnu::always_inline]] inline VF scaled_erfc(VF a) {
  const VF t = (a - VF(4.0)) / (a + VF(4.0));
  return polynomial(t, -0.0170048811, -0.139621139, 0.0153796151, 0.0680978596, -0.101037435,
                    0.0937214345, -0.0663576946, 0.0372172892, -0.016019145, 0.00506131025,
                    -0.00112115103, -0.000637454272) +
         VF(1.25);
}
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

// Near zero the series, elsewhere 1 - erfc x: erfc is so small there that the rounding error of
// x**2 has no effect.
[[gnu::always_inline]] inline VD erf(VD x) {
  const VD a = at_most(abs(x), VD(6.0));
  const VD z = a * a;
  const VD small = fma(a, erf_series(z), a);
  const VD large = VD(1.0) - exp_in_range(-z) * scaled_erfc(a) / fma(a, VD(2.0), VD(1.0));
  return with_sign(select(a < VD(1.0), small, large), x);
}

// factor * x**2 as an exponential, 2**n * value. The square is computed in two parts: for large x,
// an error in its last place would become an error of hundreds of units in the result.
template <class T>
struct BellCurve {
  Vec<T> value, n;
};
template <class T>
[[gnu::always_inline]] inline BellCurve<T> bell_curve(Vec<T> x, double factor) {
  const Vec<T> square = x * x;
  const Vec<T> f(factor);  // a power of two
  const auto argument = reduce_exp(Parts<T>{f * square, f * product_error(x, x, square)});
  return {exp_reduced(argument), argument.n};
}

// In double: exp(-x**2) P(q) / (1 + 2 |x|) with q = (|x| - 2) / (|x| + 2); the tail below the
// smallest float rounds to 0 (minimax.py: erfc_wide).
[[gnu::always_inline]] inline VF erfc(VF x) {
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

// Near zero 1 - erf x by the series, elsewhere the scaled form, limited to the range where it is
// not zero.
[[gnu::always_inline]] inline VD erfc(VD x) {
  const VD a = at_most(abs(x), VD(27.5));
  const BellCurve<double> bell = bell_curve(a, -1.0);
  const VD ratio = scaled_erfc(a) / fma(a, VD(2.0), VD(1.0));
  const VD tail = scale_by_power(bell.value * ratio, bell.n);
  const VD signed_a = with_sign(a, x);
  const VD center = VD(1.0) - fma(signed_a, erf_series(a * a), signed_a);
  return select(a < VD(0.5), center, select(x < VD(0.0), VD(2.0) - tail, tail));
}

// ---- Normal distribution ----

// |x|, limited to the range where the tail is not zero.
template <class T>
[[gnu::always_inline]] inline Vec<T> normal_argument(Vec<T> x) {
  return at_most(abs(x), Vec<T>(sizeof(T) == 4 ? 14.5 : 39.0));
}

// The distribution function, with u = x / sqrt 2: (1 + erf u) / 2 near zero, elsewhere erfc(-u) /
// 2, whose relative error is small in the lower tail.
template <class T>
[[gnu::always_inline]] inline Vec<T> normal_cdf(Vec<T> x) {
  using V = Vec<T>;
  const V a = normal_argument(x);
  const V u = a * V(kSqrtHalf);
  const BellCurve<T> bell = bell_curve(a, -0.5);
  const V ratio = scaled_erfc(u) / fma(a, V(1.4142135623730951), V(1.0));
  const V tail = scale_by_power(V(0.5) * bell.value * ratio, bell.n);
  const V half_u = with_sign(V(0.5) * u, x);
  const V center = fma(half_u, erf_series(u * u), half_u) + V(0.5);
  return select(a < V(0.75), center, select(x < V(0.0), tail, V(1.0) - tail));
}
// The density, the derivative of normal_cdf.
template <class T>
[[gnu::always_inline]] inline Vec<T> normal_density(Vec<T> x) {
  const BellCurve<T> bell = bell_curve(normal_argument(x), -0.5);
  return scale_by_power(Vec<T>(0.39894228040143268) * bell.value, bell.n);
}

}  // namespace tsr::cpu::TSR_ISA
