// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions for vectors, one lane at a time in double, and the small helpers of their
// functors.
#pragma once

#include "backend/common/math_any.h"
#include "backend/common/math_hyperbolic.h"
#include "backend/common/special_math.h"

namespace tsr::cpu::TSR_ISA {

// fn(double) of every lane.
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> in_double(Vec<T> x, Fn fn) {
  return by_lane(x, [fn](T lane) { return static_cast<T>(fn(static_cast<double>(lane))); });
}
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> in_double(Vec<T> x, Vec<T> y, Fn fn) {
  return by_lane(x, y, [fn](T a, T b) {
    return static_cast<T>(fn(static_cast<double>(a), static_cast<double>(b)));
  });
}

template <class T>
[[gnu::always_inline]] inline Vec<T> lgamma(Vec<T> x) {
  return in_double(x, [](double lane) {
    int sign = 0;  // lgamma itself would write it into a global
    return ::lgamma_r(lane, &sign);
  });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> digamma(Vec<T> x) {
  return in_double(x, [](double lane) { return math::digamma_of(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> polygamma(Vec<T> x, Vec<T> order) {
  return in_double(x, order, [](double lane, double n) { return math::polygamma_of(lane, n); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> erfinv(Vec<T> x) {
  return in_double(x, [](double lane) { return math::erfinv_of(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> ldexp(Vec<T> a, Vec<T> b) {
  return in_double(a, b, [](double x, double y) { return math::ldexp_of(x, y); });
}

// ---- Parts of numbers ----

template <class T>
[[gnu::always_inline]] inline Mask<T> has_sign(Vec<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return {bit_cast_to<LaneInt<T>>(x).v < 0};
  else
    return x < Vec<T>(0);
}
[[gnu::always_inline]] inline VF nextafter(VF a, VF b) {
  return by_lane(a, b, [](float x, float y) { return ::nextafterf(x, y); });
}
[[gnu::always_inline]] inline VD nextafter(VD a, VD b) {
  return by_lane(a, b, [](double x, double y) { return ::nextafter(x, y); });
}
// float64 has no functor that calls this; float32 stands for the 16-bit floats.
template <int kDigits, int kLeast, class T>
[[gnu::always_inline]] inline Vec<T> nextafter_short(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) {
    return static_cast<T>(
        math::short_neighbour<kDigits, kLeast>(static_cast<float>(x), static_cast<float>(y)));
  });
}

// ---- Division and integers ----

template <class T>
[[gnu::always_inline]] inline Vec<T> trunc_remainder(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) { return math::trunc_remainder(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> trunc_divide(Vec<T> a, Vec<T> b) {
  if constexpr (std::is_floating_point_v<T>)
    return trunc(a / b);
  else
    return by_lane(a, b, [](T x, T y) { return math::trunc_divide(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> gcd(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) { return math::greatest_divisor(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> lcm(Vec<T> a, Vec<T> b) {
  return by_lane(a, b, [](T x, T y) { return math::least_multiple(x, y); });
}

// Whether a shift by so many bits leaves any; a negative number of bits does not.
template <class T>
[[gnu::always_inline]] inline Mask<T> fits_shift(Vec<T> bits) {
  return (bits >= Vec<T>(0)) & (bits < Vec<T>(static_cast<int>(8 * sizeof(T))));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> shift_left_by(Vec<T> a, Vec<T> bits) {
  const Mask<T> fits = fits_shift(bits);
  const Vec<T> count = select(fits, bits, Vec<T>(0));
  return select(fits, Vec<T>(a.v << count.v), Vec<T>(0));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> shift_right_by(Vec<T> a, Vec<T> bits) {
  const Mask<T> fits = fits_shift(bits);
  const Vec<T> count = select(fits, bits, Vec<T>(0));
  const Vec<T> none = select(a < Vec<T>(0), Vec<T>(-1), Vec<T>(0));
  return select(fits, Vec<T>(a.v >> count.v), none);
}

}  // namespace tsr::cpu::TSR_ISA
