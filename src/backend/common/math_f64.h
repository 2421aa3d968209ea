// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What float64 and integer vectors take from the C library, lane by lane, and the small helpers all
// types share.
#pragma once

#include "backend/common/math_pow_f32.h"
#include "backend/common/scalar_math.h"

namespace tsr::cpu::TSR_ISA {

// ---- float64 ----

[[gnu::always_inline]] inline VD exp(VD x) {
  return by_lane(x, [](double a) { return __builtin_exp(a); });
}
[[gnu::always_inline]] inline VD expm1(VD x) {
  return by_lane(x, [](double a) { return __builtin_expm1(a); });
}
[[gnu::always_inline]] inline VD log(VD x) {
  return by_lane(x, [](double a) { return __builtin_log(a); });
}
[[gnu::always_inline]] inline VD log1p(VD x) {
  return by_lane(x, [](double a) { return __builtin_log1p(a); });
}
[[gnu::always_inline]] inline VD log2(VD x) {
  return by_lane(x, [](double a) { return __builtin_log2(a); });
}
[[gnu::always_inline]] inline VD log10(VD x) {
  return by_lane(x, [](double a) { return __builtin_log10(a); });
}
[[gnu::always_inline]] inline VD sin(VD x) {
  return by_lane(x, [](double a) { return __builtin_sin(a); });
}
[[gnu::always_inline]] inline VD cos(VD x) {
  return by_lane(x, [](double a) { return __builtin_cos(a); });
}
[[gnu::always_inline]] inline VD tan(VD x) {
  return by_lane(x, [](double a) { return __builtin_tan(a); });
}
[[gnu::always_inline]] inline VD asin(VD x) {
  return by_lane(x, [](double a) { return __builtin_asin(a); });
}
[[gnu::always_inline]] inline VD acos(VD x) {
  return by_lane(x, [](double a) { return __builtin_acos(a); });
}
[[gnu::always_inline]] inline VD atan(VD x) {
  return by_lane(x, [](double a) { return __builtin_atan(a); });
}
[[gnu::always_inline]] inline VD sinh(VD x) {
  return by_lane(x, [](double a) { return __builtin_sinh(a); });
}
[[gnu::always_inline]] inline VD cosh(VD x) {
  return by_lane(x, [](double a) { return __builtin_cosh(a); });
}
[[gnu::always_inline]] inline VD tanh(VD x) {
  return by_lane(x, [](double a) { return __builtin_tanh(a); });
}
[[gnu::always_inline]] inline VD erf(VD x) {
  return by_lane(x, [](double a) { return __builtin_erf(a); });
}
[[gnu::always_inline]] inline VD erfc(VD x) {
  return by_lane(x, [](double a) { return __builtin_erfc(a); });
}
[[gnu::always_inline]] inline VD sigmoid(VD x) {
  const VD e = exp(VD(0.0) - abs(x));
  return select(x >= VD(0.0), VD(1.0), e) / (VD(1.0) + e);
}
[[gnu::always_inline]] inline VD pow(VD x, VD y) {
  return by_lane(x, y, [](double a, double b) { return __builtin_pow(a, b); });
}
[[gnu::always_inline]] inline VD atan2(VD y, VD x) {
  return by_lane(y, x, [](double a, double b) { return __builtin_atan2(a, b); });
}
[[gnu::always_inline]] inline VD hypot(VD x, VD y) {
  return by_lane(x, y, [](double a, double b) { return __builtin_hypot(a, b); });
}

// ---- Integers ----

template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> pow(Vec<T> x, Vec<T> y) {
  return by_lane(x, y, [](T a, T b) { return math::integer_power(a, b); });
}

// ---- For every real type ----

template <class T>
[[gnu::always_inline]] inline Vec<T> sign(Vec<T> x) {
  const Vec<T> positive = select(x > Vec<T>(0), Vec<T>(1), Vec<T>(0));
  if constexpr (std::is_floating_point_v<T>) {
    return select(x != x, x, select(x < Vec<T>(0), Vec<T>(-1), positive));
  } else if constexpr (std::is_signed_v<T>) {
    return select(x < Vec<T>(0), Vec<T>(-1), positive);
  } else {
    return positive;
  }
}
template <class T>
[[gnu::always_inline]] inline Vec<T> conj(Vec<T> x) {
  return x;
}
template <class T>
[[gnu::always_inline]] inline Mask<T> is_infinite(Vec<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return abs(x) == Vec<T>(kInfinity);
  else
    return x != x;
}
template <class T>
[[gnu::always_inline]] inline Mask<T> is_finite(Vec<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return abs(x) < Vec<T>(kInfinity);
  else
    return x == x;
}

template <class T>
[[gnu::always_inline]] inline Vec<T> floor_remainder(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) { return math::floor_remainder(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> floor_divide(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) { return math::floor_divide(x, y); });
}

}  // namespace tsr::cpu::TSR_ISA
