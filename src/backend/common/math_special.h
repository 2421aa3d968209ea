// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions for vectors, the rarer ones one lane at a time in double, and the small helpers
// of their functors.
#pragma once

#include "backend/common/bessel_more_math.h"
#include "backend/common/functors_special.h"
#include "backend/common/math_airy.h"
#include "backend/common/math_any.h"
#include "backend/common/math_bessel.h"
#include "backend/common/math_bessel_more.h"
#include "backend/common/math_gamma.h"
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

// fn of vectors of double.
template <class Fn>
[[gnu::always_inline]] inline VF in_wide_lanes(VF x, VF y, Fn fn) {
  return narrow(each_half(widen(x), widen(y), fn));
}
template <class Fn>
[[gnu::always_inline]] inline VD in_wide_lanes(VD x, VD y, Fn fn) {
  return fn(x, y);
}

// For x > 0: below 8 downwards or upwards into [1, 2] by ψ(x + 1) = ψ(x) + 1 / x, whose terms add
// up as one fraction, and there (x - x0) times a polynomial, x0 being the zero (minimax.py:
// digamma); beyond by the asymptotic series (Abramowitz and Stegun, 6.3.18).
[[gnu::always_inline]] inline VD digamma_right(VD x) {
  const Mask<double> large = x >= VD(8.0);
  const Mask<double> below = x < VD(1.0);
  VD z = select(below, x + VD(1.0), at_most(x, VD(8.0)));
  VD top = select(below, VD(-1.0), VD(0.0));
  VD bottom = select(below, x, VD(1.0));
  for (int step = 0; step < 6; ++step) {
    const Mask<double> above = z > VD(2.0);
    const VD lower = z - VD(1.0);
    top = select(above, fma(top, lower, bottom), top);
    bottom = select(above, bottom * lower, bottom);
    z = select(above, lower, z);
  }
  const VD distance = (z - VD(1.4616321449683622)) - VD(9.549995429965697e-17);
  const VD middle =
      distance *
      polynomial(z - VD(1.5), 0.95105587603183284, -0.42362742128146047, 0.24054248424078736,
                 -0.14840492305391831, 0.094988724452828438, -0.061922133271584578,
                 0.04076083394472238, -0.026975796847780942, 0.01790724819293197,
                 -0.011908215078577662, 0.0079270241244094458, -0.0052800193594607836,
                 0.0035180794194439608, -0.0023446339212754236, 0.0015635728722363932,
                 -0.0010423727782752237, 0.00068994827889006047, -0.00045946365114869482,
                 0.00032687685452999264, -0.00021927272501858915, 9.1615839471006444e-05,
                 -5.8902072744749534e-05, 0.00012239564956469137, -8.3111252666544829e-05);
  const VD w = VD(1.0) / select(large, x, bottom);
  const VD square = w * w;
  const VD series =
      square * horner(square, 0.083333333333333333, -0.0083333333333333333, 0.003968253968253968,
                      -0.0041666666666666667, 0.0075757575757575758, -0.021092796092796093,
                      0.083333333333333333, -0.44325980392156863, 3.0539543302701198);
  const VD far = log(x) - VD(0.5) * w - series;
  return select(large, far, fma(top, w, middle));
}
// Left of 0 by ψ(x) = ψ(1 - x) - pi / tan(pi x). Its callers share one copy.
[[gnu::noinline]] inline VD digamma(VD x) {
  const Mask<double> left = x < VD(0.0);
  VD value = digamma_right(select(left, VD(1.0) - x, x));
  if (any(left)) {
    const VD rest = x - round_even(x);
    value = select(left, value - VD(2 * kHalfPi) / tan(rest * VD(2 * kHalfPi)), value);
    value = select(left & (rest == VD(0.0)), VD(kNaN), value);
  }
  return select(x == VD(0.0), with_sign(VD(kInfinity), -x), value);
}
[[gnu::always_inline]] inline VF digamma(VF x) {
  return narrow(each_half(widen(x), [](VD wide) { return digamma(wide); }));
}
// (-1)**(n + 1) n! zeta(n + 1, x) for x > 0 and orders n up to 4: the first terms of the sum, two
// for each division, then the Euler-Maclaurin formula (special_math.h: zeta_right), with the powers
// as products. Its callers share one copy.
struct PolygammaLength {
  double enough;  // where the formula serves
  int terms;      // of it
};
[[gnu::noinline]] inline VD polygamma_right(VD x, int order, PolygammaLength length) {
  constexpr double kBernoulli[] = {
      0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19};
  const auto power_of = [order](VD w) {
    VD power = w;
    for (int k = 1; k < order; ++k) power = power * w;
    return power;
  };
  const VD enough(length.enough);
  VD sum(0.0);
  for (Mask<double> below = x < enough; any(below); below = x < enough) {
    const VD next = x + VD(1.0);
    const VD power = power_of(x) * x;
    const VD next_power = power_of(next) * next;
    sum = sum + select(below, (power + next_power) / (power * next_power), VD(0.0));
    x = select(below, x + VD(2.0), x);
  }
  const VD w = VD(1.0) / x;
  const VD head = power_of(w);
  VD power = head * w;
  VD tail = VD(0.5) * power;
  double factor = order + 1;
  double size = 1;
  for (int j = 0; j < length.terms; ++j) {
    power = power * w;
    tail = fma(power, VD(kBernoulli[j] * factor), tail);
    factor *= (order + 2 * j + 2) * (order + 2 * j + 3);
    power = power * w;
  }
  for (int k = 2; k <= order; ++k) size *= k;
  sum = sum + fma(head, VD(1.0 / order), tail);
  return sum * VD(order % 2 == 0 ? -size : size);
}
// Left of 0, but for whole numbers, by ψ'(x) + ψ'(1 - x) = (π / sin πx)**2 for order 1 (Abramowitz
// and Stegun, 6.4.7), else by the sum over all numbers (special_math.h: zeta_of).
[[gnu::noinline]] inline VD polygamma_anywhere(VD x, int order, PolygammaLength length) {
  const Mask<double> left = x < VD(0.0);
  if (!any(left)) return polygamma_right(x, order, length);
  const VD rest = x - round_even(x);
  const VD mirrored = select(left, VD(1.0) - x, x);
  if (order == 1) {
    const VD value = polygamma_right(mirrored, 1, length);
    const VD ratio = VD(2 * kHalfPi) / sin(rest * VD(2 * kHalfPi));
    return select(left, fma(ratio, ratio, -value), value);
  }
  const Mask<double> above = rest > VD(0.0);
  const VD fraction = select(above, rest, VD(1.0) + rest);
  const VD other = select(above, VD(1.0) - rest, -rest);
  const VD value = polygamma_right(select(left, fraction, x), order, length);
  const VD difference = polygamma_right(select(left, other, VD(1.0)), order, length) -
                        polygamma_right(mirrored, order, length);
  const VD whole = order % 2 == 0 ? value - difference : value + difference;
  return select(left, whole, value);
}
[[gnu::always_inline]] inline VF polygamma_of_order(VF x, int order) {
  return narrow(each_half(widen(x), [order](VD wide) {
    return polygamma_anywhere(wide, order, {6.0, 8});
  }));
}
[[gnu::always_inline]] inline VD polygamma_of_order(VD x, int order) {
  return polygamma_anywhere(x, order, {8.0 + order, 12});
}
template <class T>
[[gnu::always_inline]] inline Vec<T> polygamma(Vec<T> x, Vec<T> order) {
  using V = Vec<T>;
  constexpr int kMost = 4;
  const auto n = static_cast<int>(at_most(at_least(order, V(0.0)), V(kMost)).v[0]);
  const auto lane_by_lane = [](T lane, T m) { return static_cast<T>(math::polygamma_of(lane, m)); };
  if (n == 0 || any(order != V(n))) return by_lane(x, order, lane_by_lane);
  const V size = abs(x);
  const Mask<T> served = (size > V(1e-37)) & (size < V(1e30)) & ((x > V(0.0)) | (x != floor(x)));
  const V value = polygamma_of_order(select(served, x, V(1.0)), n);
  return patch_lanes(!served, value, x, order, lane_by_lane);
}
// As math::normal_deviate (special_math.h), for `tail` from 0 to 1/2.
[[gnu::noinline]] inline VD normal_deviate(VD center, VD tail) {
  const Mask<double> inner = abs(center) <= VD(0.425);
  VD value = center * math::deviate_inside(VD(0.180625) - center * center);
  if (any(!inner)) {
    const VD r = sqrt(-log(select(inner, VD(0.0625), tail)));
    VD size = math::deviate_outside(r - VD(1.6));
    const Mask<double> far = r > VD(5.0);
    if (any(far)) size = select(far, math::deviate_far(r - VD(5.0)), size);
    size = select(tail == VD(0.0), VD(kInfinity), size);
    value = select(inner, value, with_sign(size, center));
  }
  return value;
}
[[gnu::always_inline]] inline VD ndtri(VD p) {
  const VD deviate = normal_deviate(p - VD(0.5), at_most(p, VD(1.0) - p));
  return select((p >= VD(0.0)) & (p <= VD(1.0)), deviate, VD(kNaN));
}
[[gnu::always_inline]] inline VF ndtri(VF p) {
  return narrow(each_half(widen(p), [](VD wide) { return ndtri(wide); }));
}
// In terms of w = -log(1 - x**2), as Giles does, Approximating the erfinv function (GPU Computing
// Gems, Jade edition, 2011); the polynomials are ours (minimax.py: erfinv_center_f32,
// erfinv_tail_f32, erfinv_center_f64), less 1, so that x is added without an error. The errors of w
// have little effect: erfinv(x) / x grows as its root.
[[gnu::always_inline]] inline VF erfinv(VF x) {
  const VF w = -log((VF(1.0) - x) * (VF(1.0) + x));
  VF factor = horner(at_most(w, VF(5.0)), -0.113773048, 0.232013553, 0.0115503352, -0.00233854051,
                     -0.000122002843, 4.04869534e-05, 5.83555857e-06, -2.49786422e-06,
                     3.0979453e-07, -1.71611507e-08, 3.35533129e-10);
  const Mask<float> tail = w >= VF(5.0);
  if (any(tail)) {
    const VF s = sqrt(at_most(w, VF(16.0))) - VF(3.0);
    factor = select(
        tail,
        polynomial(s, 1.83297682, 1.00167489, 0.00944523606, -0.0076368507, 0.00568738393,
                   -0.00359926885, 0.00148418534, -5.39134053e-05, -0.000309046271, 0.000114323062),
        factor);
  }
  const VF value = with_sign(fma(x, factor, x), x);  // the sum loses the sign of -0
  return select(abs(x) == VF(1.0), x * VF(kInfinity), value);
}
[[gnu::always_inline]] inline VD erfinv(VD x) {
  const VD w = -log((VD(1.0) - x) * (VD(1.0) + x));
  const VD factor =
      polynomial(w, -0.11377307454724198, 0.23201366653465258, 0.0115493420383327,
                 -0.0023351016424036229, -0.00012804328889605985, 4.6611418284769117e-05,
                 2.0200494670769624e-06, -1.0126711841303608e-06, -3.7130999388772995e-08,
                 2.2620824709080858e-08, 8.9223438709028574e-10, -6.081278364103257e-10,
                 2.2371858853569819e-11, -7.8840367759871205e-13, 3.3345542971336885e-12,
                 -5.9358313596824859e-13, -7.8164748871780456e-14, 4.5979332162033435e-14,
                 -8.6063350262113908e-15, 9.2530115880085792e-16, -6.1183961814486829e-17,
                 2.3398033836848919e-18, -4.0016218601505156e-20);
  VD value = with_sign(fma(x, factor, x), x);
  const Mask<double> tail = w >= VD(5.5);
  if (any(tail)) {
    const VD deviate = normal_deviate(VD(0.5) * x, VD(0.5) * (VD(1.0) - abs(x)));
    value = select(tail, deviate * VD(kSqrtHalf), value);
  }
  return select(abs(x) <= VD(1.0), value, VD(kNaN));
}
// float32 in float64, which holds a and the power: rounded once. float64 where both are far from
// the ends of its range, else lane by lane. (An infinite power has no value against 0 or infinity.)
[[gnu::always_inline]] inline VF ldexp(VF a, VF b) {
  return narrow(each_half(widen(a), widen(b), [](VD x, VD y) {
    const VD limited = at_most(at_least(y, VD(-400.0)), VD(400.0));
    return x * exp2(select(abs(y) == VD(kInfinity), y, limited));
  }));
}
[[gnu::always_inline]] inline VD ldexp(VD a, VD b) {
  const VD limited = at_most(at_least(b, VD(-400.0)), VD(400.0));
  const VD size = abs(a);
  const Mask<double> served =
      (b == limited) & (((size > VD(0x1p-500)) & (size < VD(0x1p500))) | (size == VD(0.0)));
  return patch_lanes(!served, a * exp2(limited), a, b,
                     [](double x, double y) { return math::ldexp_of(x, y); });
}
template <class T>
[[gnu::always_inline]] inline Vec<T> zeta(Vec<T> x, Vec<T> y) {
  return in_double(x, y, [](double a, double b) { return math::zeta_of(a, b); });
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
  const BellCurve bell = bell_curve(near, 1.0);
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
// 2**kExponent, a normal number.
template <int kExponent>
inline constexpr double kPowerOfTwo = __builtin_bit_cast(double, int64_t{1023 + kExponent} << 52);
// nextafter() among the numbers with kDigits bits behind the point and exponents from kLeast to
// 1 - kLeast, all of which T holds.
template <int kDigits, int kLeast, class T>
[[gnu::always_inline]] inline Vec<T> nextafter_short(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  using I = LaneInt<T>;
  constexpr int kPlaces = (sizeof(T) == 4 ? 23 : 52) - kDigits;  // that T has beyond them
  constexpr double kStep = kPowerOfTwo<kLeast - kDigits>;
  constexpr double kLargest = (2 - kPowerOfTwo<-kDigits>)*kPowerOfTwo<1 - kLeast>;
  const V size = abs(a);
  const Mask<T> outwards = ((b > a) ^ (a < V(0.0))) | (a == V(0.0));
  const Vec<I> bits = bit_cast_to<I>(size);
  const Vec<I> one(I{1} << kPlaces);
  const V far = select(outwards, bit_cast_to<T>(bits + one), bit_cast_to<T>(bits - one));
  // Up to the smallest normal number they are equally far apart.
  const V near = size + select(outwards, V(kStep), V(-kStep));
  const V moved = select(size <= V(kPowerOfTwo<kLeast>), near, far);
  const V number = select(size == V(kInfinity), V(kLargest), moved);
  const V result = with_sign(number, select(a == V(0.0), b, a));
  return select((a != a) | (b != b), a + b, select(a == b, b, result));
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

#if defined(__AVX512F__)
// The lowest bit that is set.
template <class U>
[[gnu::always_inline]] inline Vec<U> lowest_bit(Vec<U> a) {
  return a & (Vec<U>(0) - a);
}
// a divided by its lowest bit; 0 stays 0.
template <class U>
[[gnu::always_inline]] inline Vec<U> odd_part(Vec<U> a) {
  using Native = typename Vec<U>::Native;
  const auto lowest = reinterpret_cast<__m512i>(lowest_bit(a).v);
  const auto bits = reinterpret_cast<__m512i>(a.v);
  if constexpr (sizeof(U) == 8) {
    const __m512i places = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(lowest));
    return Vec<U>(reinterpret_cast<Native>(_mm512_srlv_epi64(bits, places)));
  } else {
    const __m512i places = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(lowest));
    return Vec<U>(reinterpret_cast<Native>(_mm512_srlv_epi32(bits, places)));
  }
}
// Stein's algorithm (Journal of Computational Physics 1, 1967) on all lanes at once: it needs no
// division. Its callers share one copy.
template <class U>
[[gnu::noinline]] Vec<U> binary_gcd(Vec<U> a, Vec<U> b) {
  const Vec<U> zero(0);
  const Mask<U> none = a == zero;
  Vec<U> x = odd_part(select(none, b, a));
  Vec<U> y = select(none, zero, b);
  while (any(y != zero)) {
    y = odd_part(y);
    const Mask<U> below = x < y;
    const Vec<U> less = select((y == zero) | below, x, y);
    y = select(below, y, x) - less;
    x = less;
  }
  return x * lowest_bit(a | b);
}
template <class T>
[[gnu::always_inline]] inline Vec<std::make_unsigned_t<T>> magnitude_of(Vec<T> a) {
  return bit_cast_to<std::make_unsigned_t<T>>(select(a < Vec<T>(0), Vec<T>(0) - a, a));
}
template <class T>
requires(sizeof(T) >= 4) [[gnu::always_inline]] inline Vec<T> gcd(Vec<T> a, Vec<T> b) {
  return bit_cast_to<T>(binary_gcd(magnitude_of(a), magnitude_of(b)));
}
// As math::least_multiple.
template <class T>
requires(sizeof(T) >= 4) [[gnu::always_inline]] inline Vec<T> lcm(Vec<T> a, Vec<T> b) {
  using U = std::make_unsigned_t<T>;
  const Vec<U> x = magnitude_of(a);
  const Vec<U> y = magnitude_of(b);
  const Vec<U> parts = by_lane(x, binary_gcd(x, y), [](U u, U v) { return v == 0 ? U{0} : u / v; });
  const Vec<T> product = bit_cast_to<T>(parts * y);
  return select(product < Vec<T>(0), Vec<T>(0) - product, product);
}
#endif

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

#if defined(__AVX512F__)
// log(x / (1 - x)) by the table of logarithms. What the table leaves, x scale / (1 - x) - 1, comes
// from x and 1 - x before their quotient is rounded, so that zeros keep their relative accuracy.
[[gnu::always_inline]] inline VF logit(VF x) {
  const VF rest = VF(1.0) - x;
  const VF lost = (VF(1.0) - rest) - x;
  const VF inverse = quick_inverse(rest);
  const TablePlace at = place_log(x * inverse);
  const VF scale = scale_by_power(look_up(kLogTable[0], at.place), -at.e);
  const VF top = fma(x, scale, -rest) - lost;
  const VF quotient = top * inverse;
  const VF r = fma(fma(-quotient, rest, top), inverse, quotient);
  const VF result = fma(at.e, VF(kLn2), look_up(kLogTable[1], at.place) + log_near(r));
  if (__builtin_expect(all_between(x, 0x00800000, 0x3f800000), 1)) return result;
  return select((x >= VF(0x1p-126)) & (x < VF(1.0)), result, math::logit<VF>(x));
}
[[gnu::always_inline]] inline VD logit(VD x) {
  const VD rest = VD(1.0) - x;
  const VD lost = (VD(1.0) - rest) - x;
  const VD inverse = quick_inverse(rest);
  const WideTablePlace at = place_log(x * inverse);
  const VD scale = scale_by_power(look_up(kWideLogTable[0], at.place), -at.e);
  const VD top = fma(x, scale, -rest) - lost;
  const VD quotient = top * inverse;
  const VD r = fma(fma(-quotient, rest, top), inverse, quotient);
  const VD result =
      add_logs(at.e, look_up(kWideLogTable[1], at.place), r, log_near_rest(r), kLn2By42, {1, 0});
  const Mask<double> regular = (x >= VD(0x1p-1022)) & (x < VD(1.0));
  if (__builtin_expect(any(!regular), 0)) return select(regular, result, math::logit<VD>(x));
  return result;
}
#endif

}  // namespace tsr::cpu::TSR_ISA
