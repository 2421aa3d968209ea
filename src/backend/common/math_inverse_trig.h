// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Inverse trigonometric functions for vectors of float32 and float64; polynomials from
// tests/tools/minimax.py. Argument reduction rounds quotients and roots once; they are added only
// to larger terms.
#pragma once

#include "backend/common/math_base.h"

namespace tsr::cpu::TSR_ISA {

// pi/2 minus its value rounded to T.
template <class T>
inline constexpr double kHalfPiRest = sizeof(T) == 4 ? -4.371138828673793e-08
                                                     : 6.123233995736766e-17;

// (asin y - y) / y for y = sqrt(z) <= 1/2 (minimax.py: asin, asin_f64).
[[gnu::always_inline]] inline VF asin_rest(VF z) {
  return z * polynomial(z, 0.166667521, 0.0749530941, 0.0454691537, 0.0241847429, 0.0421583876);
}
[[gnu::always_inline]] inline VD asin_rest(VD z) {
  return z * polynomial(z, 0.1666666666666676, 0.074999999999708647, 0.0446428571745629,
                        0.030381942709755271, 0.022372214939270805, 0.017351612789611785,
                        0.013980812092414066, 0.011398975913040845, 0.010779920988955647,
                        0.0037075826027662302, 0.021704754765426153, -0.020995451353539966,
                        0.032626473353510474);
}

// asin |x| = pi/2 - 2 asin sqrt((1 - |x|) / 2) for |x| > 1/2. pi/4 - 2 y has few bits to lose.
template <class T>
[[gnu::always_inline]] inline Vec<T> asin(Vec<T> x) {
  using V = Vec<T>;
  const V a = abs(x);
  const Mask<T> large = a > V(0.5);
  const V z = select(large, fma(a, V(-0.5), V(0.5)), a * a);
  const V y = select(large, sqrt(z), a);
  const V rest = y * asin_rest(z);
  const V small_terms = (rest + rest) - V(kHalfPiRest<T>);
  const V complement = V(kHalfPi / 2) + ((V(kHalfPi / 2) - (y + y)) - small_terms);
  return with_sign(abs(select(large, complement, y + rest)), x);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> acos(Vec<T> x) {
  using V = Vec<T>;
  const V a = abs(x);
  const Mask<T> large = a > V(0.5);
  const V z = select(large, fma(a, V(-0.5), V(0.5)), a * a);
  const V y = with_sign(select(large, sqrt(z), a), x);
  const V rest = y * asin_rest(z);
  const V value = y + rest;
  const V twice = value + value;
  const V near_one = select(x > V(0.0), twice, V(2 * kHalfPi) + (twice + V(2 * kHalfPiRest<T>)));
  return select(large, near_one, V(kHalfPi) - (y + (rest - V(kHalfPiRest<T>))));
}

// (atan t - t) / t for 0 <= t <= 1 and z = t**2 (minimax.py: atan, atan_f64).
// The terms alternate and add up to a fifth of their sizes at t = 1.
[[gnu::always_inline]] inline VF atan_rest(VF z) {
  return z * horner(z, -0.333332986, 0.199985296, -0.142640144, 0.109508611, -0.0839920864,
                    0.0578789115, -0.031093616, 0.010866343, -0.00178216747);
}
[[gnu::always_inline]] inline VD atan_rest(VD z) {
  return z * horner(z, -0.33333333333333243, 0.19999999999977813, -0.1428571428393208,
                    0.11111111042876062, -0.090909075790396018, 0.076922860175056049,
                    -0.066664509140557521, 0.058807889162961959, -0.052546158642575384,
                    0.047258622967029866, -0.042280453331239275, 0.036815314897631242,
                    -0.030168868857952048, 0.022299857220467945, -0.014188532370109749,
                    0.0073949546452727584, -0.0029845877737468642, 0.00086573554198922853,
                    -0.00015946194214952941, 1.3942379880124869e-05);
}

// atan |x| = pi/2 - atan(1 / |x|) for |x| > 1.
template <class T>
[[gnu::always_inline]] inline Vec<T> atan(Vec<T> x) {
  using V = Vec<T>;
  const V a = abs(x);
  const Mask<T> large = a > V(1.0);
  const V t = select(large, V(1.0) / a, a);
  const V value = fma(t, atan_rest(t * t), t);
  return with_sign(select(large, V(kHalfPi) - (value - V(kHalfPiRest<T>)), value), x);
}

// atan(|y| / |x|) with the smaller over the larger, then moved to its octant.
template <class T>
[[gnu::always_inline]] inline Vec<T> atan2(Vec<T> y, Vec<T> x) {
  using V = Vec<T>;
  const V ax = abs(x);
  const V ay = abs(y);
  const Mask<T> steep = ay > ax;
  V ratio = select(steep, ax, ay) / select(steep, ay, ax);
  ratio = select((ax == V(0.0)) & (ay == V(0.0)), V(0.0), ratio);
  const Mask<T> both_infinite = (ax == V(kInfinity)) & (ay == V(kInfinity));
  ratio = select(both_infinite, V(1.0), ratio);
  V angle = fma(ratio, atan_rest(ratio * ratio), ratio);
  angle = select(steep, V(kHalfPi) - (angle - V(kHalfPiRest<T>)), angle);
  const Mask<T> left = {bit_cast_to<LaneInt<T>>(x).v < 0};  // also -0
  angle = select(left, V(2 * kHalfPi) - (angle - V(2 * kHalfPiRest<T>)), angle);
  return with_sign(abs(angle), y);
}

}  // namespace tsr::cpu::TSR_ISA
