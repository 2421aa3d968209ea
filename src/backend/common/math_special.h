// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions for vectors, the rarer ones one lane at a time in double, and the small helpers
// of their functors.
#pragma once

#include "backend/common/bessel_more_math.h"
#include "backend/common/gamma_math.h"
#include "backend/common/math_any.h"
#include "backend/common/math_bessel.h"
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

[[gnu::always_inline]] inline VD lgamma(VD x) {
  return by_lane(x, [](double lane) { return math::log_gamma(lane); });
}
// For 0 < x < 2**126: below 8 downwards or upwards into [1, 2] by Γ(x + 1) = x Γ(x), where log Γ(z)
// is (z - 1) (z - 2) times a polynomial (minimax.py: lgamma), so that both zeros keep their digits;
// beyond by Stirling's series (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.41).
[[gnu::always_inline]] inline VD log_gamma_right(VD x) {
  const Mask<double> large = x >= VD(8.0);
  const Mask<double> below = x < VD(1.0);
  VD z = select(below, x + VD(1.0), at_most(x, VD(8.0)));
  VD factor(1.0);
  for (int step = 0; step < 6; ++step) {
    const Mask<double> above = z > VD(2.0);
    const VD lower = z - VD(1.0);
    factor = select(above, factor * lower, factor);
    z = select(above, lower, z);
  }
  const VD logarithm = log(select(large, x, select(below, x, factor)));
  const VD middle =
      (z - VD(1.0)) * (z - VD(2.0)) *
      polynomial(z - VD(1.5), 0.48312895054218752, -0.14595989572738025, 0.06291140060979819,
                 -0.03130850822483789, 0.016797127842591669, -0.0094249684142374453,
                 0.0054457710554302813, -0.0032208625101210241, 0.0019305598613784951,
                 -0.0011077590644323662, 0.00066842708650451783, -0.00060755749656092573,
                 0.00038760859501621632);
  const VD w = VD(1.0) / x;
  const VD series = w * horner(w * w, 0.083333333333333333, -0.0027777777777777778,
                               0.00079365079365079365, -0.00059523809523809524);
  const VD half_log_2pi(0.91893853320467274);
  const VD far = fma(x - VD(0.5), logarithm, half_log_2pi - x) + series;
  return select(large, far, select(below, middle - logarithm, middle + logarithm));
}
// Left of 0 by Γ(x) Γ(1 - x) = pi / sin(pi x), where the difference of the logarithms is not near
// 0.
[[gnu::always_inline]] inline VD log_gamma_short(VD x) {
  const Mask<double> left = x < VD(0.0);
  VD value = log_gamma_right(select(left, VD(1.0) - x, x));
  if (any(left)) {
    const VD sine = sin((x - round_even(x)) * VD(2 * kHalfPi));
    value = select(left, log(VD(2 * kHalfPi) / abs(sine)) - value, value);
    value = patch_lanes(left & (abs(value) < VD(0.02)), value, x,
                        [](double lane) { return math::log_gamma(lane); });
  }
  return select(x == VD(0.0), VD(kInfinity), value);
}
[[gnu::always_inline]] inline VF lgamma(VF x) {
  const VF found = narrow(each_half(widen(x), log_gamma_short));
  return select(abs(x) == VF(kInfinity), abs(x), found);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> digamma(Vec<T> x) {
  return in_double(x, [](double lane) { return math::digamma_of(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> polygamma(Vec<T> x, Vec<T> order) {
  return in_double(x, order, [](double lane, double n) { return math::polygamma_of(lane, n); });
}
[[gnu::always_inline]] inline VD erfinv(VD x) {
  return by_lane(x, [](double lane) { return math::erfinv_of(lane); });
}
// In terms of w = -log(1 - x**2), as Giles does, Approximating the erfinv function (GPU Computing
// Gems, Jade edition, 2011); the polynomials are ours (minimax.py: erfinv_center, erfinv_tail).
[[gnu::always_inline]] inline VD erfinv_short(VD x) {
  const VD w = -log(fma(-x, x, VD(1.0)));
  VD factor = polynomial(at_most(w, VD(5.0)) - VD(2.5), 1.5014093516924911, 0.24664027578575143,
                         -0.0041773246360552211, -0.0012527048771876215, 0.00021826355731848165,
                         -4.998759539601131e-06, -3.4260120914108883e-06, 4.7969878946133987e-07,
                         1.6457217617012617e-08, -1.1023206453842665e-08, 4.3703194431550625e-10,
                         1.3285866506781347e-10);
  const Mask<double> tail = w >= VD(5.0);
  if (any(tail)) {
    const VD s = sqrt(at_most(w, VD(16.0))) - VD(3.0);
    factor =
        select(tail,
               polynomial(s, 2.8329768002040603, 1.0016752313217114, 0.0094453913798777569,
                          -0.0076425782159905845, 0.0056867303499149339, -0.0035684781587929861,
                          0.0014788987814396929, -0.00011659022051211864, -0.00028381123819978859,
                          0.00015782971897148828, -2.5621245016767655e-05),
               factor);
  }
  return select(abs(x) == VD(1.0), x * VD(kInfinity), x * factor);
}
[[gnu::always_inline]] inline VF erfinv(VF x) {
  return narrow(each_half(widen(x), erfinv_short));
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
[[gnu::always_inline]] inline Vec<T> bessel_j0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_j<0>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_j1(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_j<1>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_y0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_y<0>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_y1(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_y<1>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> modified_bessel_k0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_k<0, false>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> modified_bessel_k1(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_k<1, false>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> scaled_modified_bessel_k0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_k<0, true>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> scaled_modified_bessel_k1(Vec<T> x) {
  return in_double(x, [](double lane) { return math::bessel_k<1, true>(lane); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> spherical_bessel_j0(Vec<T> x) {
  return in_double(x, [](double lane) { return math::spherical_bessel_j(lane); });
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
template <class T>
[[gnu::always_inline]] inline Vec<T> gamma_slope(Vec<T> x, Vec<T> y) {
  return in_double(x, y, [](double a, double b) { return math::gamma_slope(a, b); });
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
requires std::is_integral_v<T>
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
