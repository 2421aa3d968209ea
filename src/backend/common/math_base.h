// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Building blocks of the elementary functions: Horner's scheme, powers of two, the exact errors of
// sums and products (Dekker, A floating-point technique for extending the available precision,
// 1971), and the scalar fallback for single lanes.
#pragma once

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

inline constexpr double kLog2E = 1.4426950408889634;
inline constexpr double kLn2 = 0.6931471805599453;
inline constexpr double kSqrtHalf = 0.7071067811865476;
inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kNaN = __builtin_nan("");
inline constexpr double kHalfPi = 1.5707963267948966;
// Above this the product of a quadrant and a part of pi/2 is no longer exact, so such lanes use the
// scalar functions.
inline constexpr double kLargestAngle = 1e6;

// c[0] + c[2] z + c[4] z**2 + ...
template <class V>
[[gnu::always_inline]] inline V every_other(V, double last) {
  return V(last);
}
template <class V>
[[gnu::always_inline]] inline V every_other(V, double last, double) {
  return V(last);
}
template <class V, class... Rest>
[[gnu::always_inline]] inline V every_other(V z, double first, double, double third, Rest... rest) {
  return fma(every_other(z, third, rest...), z, V(first));
}

// The coefficients go from the lowest power to the highest.
template <class V>
[[gnu::always_inline]] inline V horner(V, double last) {
  return V(last);
}
template <class V, class... Rest>
[[gnu::always_inline]] inline V horner(V x, double first, Rest... rest) {
  return fma(horner(x, rest...), x, V(first));
}

// Short polynomials use Horner's scheme. Long ones are split into even and odd terms, two
// independent chains: each multiply-add of a single chain waits for the one before it. (Where the
// even and the odd terms nearly cancel, horner() loses less.)
template <class V, class... Rest>
[[gnu::always_inline]] inline V polynomial(V x, double first, Rest... rest) {
  if constexpr (sizeof...(rest) >= 6) {
    const V z = x * x;
    return fma(every_other(z, rest...), x, every_other(z, first, rest...));
  } else {
    return horner(x, first, rest...);
  }
}

// a * b - product, exactly, for product = a * b rounded. Without a fused multiply-add the factors
// are split in halves, which takes them below 2**996 (float: 2**115).
template <class T>
[[gnu::always_inline]] inline Vec<T> product_error(Vec<T> a, Vec<T> b, Vec<T> product) {
  if constexpr (kFusedMultiplyAdd) {
    return fma(a, b, -product);
  } else {
    const Vec<T> splitter(sizeof(T) == 4 ? 4097.0 : 134217729.0);
    const Vec<T> a_shifted = a * splitter;
    const Vec<T> b_shifted = b * splitter;
    const Vec<T> a_high = a_shifted - (a_shifted - a);
    const Vec<T> b_high = b_shifted - (b_shifted - b);
    const Vec<T> a_low = a - a_high;
    const Vec<T> b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  }
}

// large + small - sum, exactly, for sum = large + small rounded and |large| >= |small| or large =
// 0.
template <class T>
[[gnu::always_inline]] inline Vec<T> sum_error(Vec<T> large, Vec<T> small, Vec<T> sum) {
  return small - (sum - large);
}

// A value in two parts, the second below half a unit in the last place of the first.
template <class T>
struct Parts {
  Vec<T> high, low;
};

#if defined(__FMA__)
// 1 / a to 23 bits and more, for a normal a whose reciprocal is normal.
[[gnu::always_inline]] inline VF quick_inverse(VF a) {
#if defined(__AVX512F__)
  const VF estimate(_mm512_rcp14_ps(a.v));
#else
  const VF estimate(_mm256_rcp_ps(a.v));
#endif
  return fma(estimate, fma(-a, estimate, VF(1.0)), estimate);
}
// a / b within little more than half a unit, for such a b and a quotient that is no denormal: what
// the product with the inverse lacks is exact in a fused multiply-add. It takes fewer cycles than
// the instruction.
[[gnu::always_inline]] inline VF quick_quotient(VF a, VF b) {
  const VF inverse = quick_inverse(b);
  const VF quotient = a * inverse;
  return fma(fma(-quotient, b, a), inverse, quotient);
}
[[gnu::always_inline]] inline VF quick_quotient(Parts<float> a, Parts<float> b) {
  const VF inverse = quick_inverse(b.high);
  const VF quotient = a.high * inverse;
  const VF rest = fma(-quotient, b.high, a.high) + fma(-quotient, b.low, a.low);
  return fma(rest, inverse, quotient);
}
#else
[[gnu::always_inline]] inline VF quick_quotient(VF a, VF b) {
  return a / b;
}
#endif

// 1 / a to 52 bits and more, for a normal a whose reciprocal is normal. At the highest level it
// takes fewer cycles than the instruction.
[[gnu::always_inline]] inline VD quick_inverse(VD a) {
#if defined(__AVX512F__)
  VD inverse(_mm512_rcp14_pd(a.v));
  for (int step = 0; step < 2; ++step) inverse = fma(inverse, fma(-a, inverse, VD(1.0)), inverse);
  return inverse;
#else
  return VD(1.0) / a;
#endif
}

// The lanes of `result` selected by `lanes` become fn of theirs, one by one. Slow: for rare
// arguments. (The loop is not unrolled, because there are many of them.)
template <class T, class Fn, class... X>
[[gnu::always_inline]] inline Vec<T> patch_some(Mask<T> lanes, Vec<T> result, Fn fn, X... x) {
  constexpr int kSize = Vec<T>::kSize;
  struct Lanes {
    T at[kSize];
  };
  const auto spread = [](Vec<T> all) __attribute__((always_inline)) {
    Lanes lanes_of;
    all.store(lanes_of.at);
    return lanes_of;
  };
  LaneInt<T> chosen[kSize];
  __builtin_memcpy(chosen, &lanes.v, sizeof(chosen));
  Lanes values = spread(result);
  const auto patch = [&](const auto&... operands) __attribute__((always_inline)) {
#pragma GCC unroll 1
    for (int i = 0; i < kSize; ++i) {
      if (chosen[i] != 0) values.at[i] = fn(operands.at[i]...);
    }
  };
  patch(spread(x)...);
  return Vec<T>::load(values.at);
}
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> patch_lanes(Mask<T> lanes, Vec<T> result, Vec<T> x, Fn fn) {
  if (__builtin_expect(any(lanes), 0)) return patch_some(lanes, result, fn, x);
  return result;
}
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> patch_lanes(Mask<T> lanes, Vec<T> result, Vec<T> x, Vec<T> y,
                                                 Fn fn) {
  if (__builtin_expect(any(lanes), 0)) return patch_some(lanes, result, fn, x, y);
  return result;
}

// Whether any |x| is above the limit, or NaN. (GCC 12 makes a vector of the mask of a comparison
// before any() tests it.)
template <class T>
[[gnu::always_inline]] inline bool any_beyond(Vec<T> x, double limit) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_cmp_ps_mask(abs(x).v, Vec<T>(limit).v, _CMP_NLE_UQ) != 0;
  else
    return _mm512_cmp_pd_mask(abs(x).v, Vec<T>(limit).v, _CMP_NLE_UQ) != 0;
#else
  return any(!(abs(x) <= Vec<T>(limit)));
#endif
}
// Replaces the lanes for which that holds with fn(x).
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> patch_beyond(double limit, Vec<T> result, Vec<T> x, Fn fn) {
  if (__builtin_expect(any_beyond(x, limit), 0))
    return patch_some(!(abs(x) <= Vec<T>(limit)), result, fn, x);
  return result;
}

// The lanes of `yes` where the whole number is odd, else those of `no`.
template <class T>
[[gnu::always_inline]] inline Vec<T> select_odd(Vec<LaneInt<T>> number, Vec<T> yes, Vec<T> no) {
  const Vec<LaneInt<T>> one(1);
#if defined(__AVX512F__)
  const auto bits = reinterpret_cast<__m512i>(number.v);
  const auto ones = reinterpret_cast<__m512i>(one.v);
  if constexpr (sizeof(T) == 4)
    return Vec<T>(_mm512_mask_blend_ps(_mm512_test_epi32_mask(bits, ones), no.v, yes.v));
  else
    return Vec<T>(_mm512_mask_blend_pd(_mm512_test_epi64_mask(bits, ones), no.v, yes.v));
#else
  return select(Mask<T>{(number & one).v != 0}, yes, no);
#endif
}

}  // namespace tsr::cpu::TSR_ISA
