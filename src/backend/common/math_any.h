// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Every function of real and integer vectors: includes the files of elementary functions, and adds
// the small helpers that all types share.
#pragma once

#include "backend/common/math_erf.h"
#include "backend/common/math_inverse_trig.h"
#include "backend/common/math_logistic.h"
#include "backend/common/math_pow_f32.h"
#include "backend/common/math_pow_f64.h"
#include "backend/common/math_remainder.h"
#include "backend/common/math_trig_f32.h"
#include "backend/common/math_trig_f64.h"
#include "backend/common/scalar_math.h"

namespace tsr::cpu::TSR_ISA {

// ---- Integers ----

template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> pow(Vec<T> x, Vec<T> y) {
  const Vec<T> none(0);
  if constexpr (std::is_signed_v<T>) {
    if (__builtin_expect(any(y < none), 0))
      return by_lane(x, y, [](T a, T b) { return math::integer_power(a, b); });
  }
  Vec<T> result(1);
  for (Vec<T> rest = y; any(rest != none); rest = Vec<T>(rest.v >> 1)) {
    result = select((rest & Vec<T>(1)) != none, result * x, result);
    x = x * x;
  }
  return result;
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
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, int64_t>)
    return floor_remainder_of(a, b);
  else
    return by_lane(a, b, [](T x, T y) { return math::floor_remainder(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> floor_divide(Vec<T> a, Vec<T> b) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, int64_t>)
    return floor_divide_of(a, b);
  else
    return by_lane(a, b, [](T x, T y) { return math::floor_divide(x, y); });
}

}  // namespace tsr::cpu::TSR_ISA
