// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions for vectors, one lane at a time in double, and the small helpers of their
// functors.
#pragma once

#include "backend/common/bessel_math.h"
#include "backend/common/gamma_math.h"
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
  return in_double(x, [](double lane) { return math::log_gamma(lane); });
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
// float32 in float64, which holds a and the power: rounded once. float64 by multiplication where
// nothing is rounded, else lane by lane. (An infinite power has no value against 0 or infinity.)
[[gnu::always_inline]] inline VF ldexp(VF a, VF b) {
  return narrow(each_half(widen(a), widen(b), [](VD x, VD y) {
    const VD limited = at_most(at_least(y, VD(-400.0)), VD(400.0));
    return x * exp2(select(abs(y) == VD(kInfinity), y, limited));
  }));
}
[[gnu::always_inline]] inline VD ldexp(VD a, VD b) {
  const VD limited = at_most(at_least(b, VD(-400.0)), VD(400.0));
  const VD size = abs(a);
  const Mask<double> exact =
      (b == limited) & (round_even(b) == b) & (size > VD(0x1p-500)) & (size < VD(0x1p500));
  return patch_lanes(!exact, a * power_of_two(limited), a, b,
                     [](double x, double y) { return math::ldexp_of(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_i<0, false>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i0e(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_i<0, true>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i1(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_i<1, false>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i1e(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_i<1, true>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> ndtri(Vec<T> x) {
  return in_double(x, [](double lane) { return math::ndtri_of(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> zeta(Vec<T> x, Vec<T> y) {
  return in_double(x, y, [](double a, double b) { return math::zeta_of(a, b); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> igamma(Vec<T> x, Vec<T> y) {
  return in_double(x, y, [](double a, double b) { return math::incomplete_gamma<false>(a, b); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> igammac(Vec<T> x, Vec<T> y) {
  return in_double(x, y, [](double a, double b) { return math::incomplete_gamma<true>(a, b); });
}

// ---- Tails of the normal distribution ----

// e**(x**2) erfc x: right of 27 the asymptotic series (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 7.1.23); left of 0 by erfcx(-x) + erfcx(x) = 2 e**(x**2).
[[gnu::always_inline]] inline VD erfcx(VD x) {
  const VD a = abs(x);
  const VD near = at_most(a, VD(27.5));
  const VD center = scaled_erfc(near) / fma(near, VD(2.0), VD(1.0));
  const VD z = VD(1.0) / (a * a);
  const VD far = horner(z, 1.0, -0.5, 0.75, -1.875, 6.5625, -29.53125) /
                 (a * VD(1.7724538509055161));  // sqrt pi
  const VD right = select(a > VD(27.0), far, center);
  const BellCurve<double> bell = bell_curve(near, 1.0);
  const VD left = scale_by_power(bell.value + bell.value, bell.n) - right;
  return select(x < VD(0.0), left, right);
}
// log Φ(x): left of -1 by erfcx, elsewhere by the other tail.
[[gnu::always_inline]] inline VD log_ndtr(VD x) {
  const VD half = x * VD(0.5);
  const VD tail = log(VD(0.5) * erfcx(x * VD(-kSqrtHalf))) - half * x;
  return select(x < VD(-1.0), tail, log1p(-normal_cdf(-x)));
}
[[gnu::always_inline]] inline VF erfcx(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return erfcx(wide); }));
}
[[gnu::always_inline]] inline VF log_ndtr(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return log_ndtr(wide); }));
}

// ---- Parts of numbers ----

template <class T>
[[gnu::always_inline]] inline Mask<T> has_sign(Vec<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return {bit_cast_to<LaneInt<T>>(x).v < 0};
  else
    return x < Vec<T>(0);
}
// One more or one less as an integer: the magnitudes of floats are in the order of their bits.
template <class T>
[[gnu::always_inline]] inline Vec<T> nextafter(Vec<T> a, Vec<T> b) {
  using I = LaneInt<T>;
  const Vec<I> bits = bit_cast_to<I>(a);
  const Vec<T> outwards = bit_cast_to<T>(bits + Vec<I>(1));
  const Vec<T> inwards = bit_cast_to<T>(bits - Vec<I>(1));
  const Vec<T> moved = select((b > a) ^ (a < Vec<T>(0.0)), outwards, inwards);
  const Vec<T> least = with_sign(bit_cast_to<T>(Vec<I>(1)), b);
  const Vec<T> number = select(a == Vec<T>(0.0), least, moved);
  return select((a != a) | (b != b), a + b, select(a == b, b, number));
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
