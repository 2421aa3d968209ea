// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions and the rarer arithmetic of one number: the toolkit's where it has them, else
// those of backend/common, which compute in double.
#pragma once

#include "backend/common/airy_math.h"
#include "backend/common/bessel_math.h"
#include "backend/common/bessel_more_math.h"
#include "backend/common/gamma_math.h"
#include "backend/common/special_math.h"
#include "backend/cuda/number.cuh"

namespace tsr::cuda {

template <class T>
TSR_HD Number<T> asinh(Number<T> a) {
  return number<T>(std::asinh(a.v));
}
template <class T>
TSR_HD Number<T> acosh(Number<T> a) {
  return number<T>(std::acosh(a.v));
}
template <class T>
TSR_HD Number<T> atanh(Number<T> a) {
  return number<T>(std::atanh(a.v));
}
template <class T>
TSR_HD Number<T> exp2(Number<T> a) {
  return number<T>(std::exp2(a.v));
}
template <class T>
TSR_HD Number<T> lgamma(Number<T> a) {
  return number<T>(std::lgamma(a.v));
}
template <class T>
TSR_HD Number<T> digamma(Number<T> a) {
  return number<T>(math::digamma_of(static_cast<double>(a.v)));
}
template <class T>
TSR_HD Number<T> polygamma(Number<T> a, Number<T> order) {
  return number<T>(math::polygamma_of(static_cast<double>(a.v), static_cast<double>(order.v)));
}
template <class T>
TSR_HD Number<T> erfinv(Number<T> a) {
  return number<T>(math::erfinv_of(static_cast<double>(a.v)));
}
// sin(pi x) = ± sin(pi r) for r = x - round x, which is exact.
template <class T>
TSR_HD Number<T> sinc(Number<T> a) {
  if (a.v == T{0}) return Number<T>(1);
  const double x = static_cast<double>(a.v);
  const double n = std::rint(x);
  const double sine = std::sin((x - n) * math::kSpecialPi);
  const double signed_sine = std::fmod(n, 2.0) == 0 ? sine : -sine;
  return number<T>(signed_sine / (x * math::kSpecialPi));
}

// e**(x**2) erfc x. The host, on which tests run, has no such function: far out it takes the
// asymptotic series.
[[maybe_unused]] TSR_HD_CALL static double scaled_erfc(double x) {
#if defined(__CUDA_ARCH__)
  return ::erfcx(x);
#else
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double z = 1 / (x * x);
  return (1 - z * (0.5 - z * (0.75 - z * 1.875))) / (x * 1.7724538509055161);
#endif
}
// log Φ(x): left of -1 by the scaled tail, elsewhere by the other tail.
[[maybe_unused]] TSR_HD_CALL static double log_normal_cdf(double x) {
  constexpr double kRootHalf = 0.70710678118654752;
  if (x < -1) return std::log(0.5 * scaled_erfc(-x * kRootHalf)) - 0.5 * x * x;
  return std::log1p(-0.5 * std::erfc(x * kRootHalf));
}
template <class T>
TSR_HD Number<T> bessel_i0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_i<0, false>(x));
}
template <class T>
TSR_HD Number<T> bessel_i0e(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_i<0, true>(x));
}
template <class T>
TSR_HD Number<T> bessel_i1(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_i<1, false>(x));
}
template <class T>
TSR_HD Number<T> bessel_i1e(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_i<1, true>(x));
}
template <class T>
TSR_HD Number<T> bessel_j0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_j<0>(x));
}
template <class T>
TSR_HD Number<T> bessel_j1(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_j<1>(x));
}
template <class T>
TSR_HD Number<T> bessel_y0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_y<0>(x));
}
template <class T>
TSR_HD Number<T> bessel_y1(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_y<1>(x));
}
template <class T>
TSR_HD Number<T> modified_bessel_k0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_k<0, false>(x));
}
template <class T>
TSR_HD Number<T> modified_bessel_k1(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_k<1, false>(x));
}
template <class T>
TSR_HD Number<T> scaled_modified_bessel_k0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_k<0, true>(x));
}
template <class T>
TSR_HD Number<T> scaled_modified_bessel_k1(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::bessel_k<1, true>(x));
}
template <class T>
TSR_HD Number<T> spherical_bessel_j0(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::spherical_bessel_j(x));
}
template <class T>
TSR_HD Number<T> airy_ai(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::airy<false>(x));
}
template <class T>
TSR_HD Number<T> airy_ai_prime(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::airy<true>(x));
}
template <class T>
TSR_HD Number<T> ndtri(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(math::ndtri_of(x));
}
template <class T>
TSR_HD Number<T> erfcx(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(scaled_erfc(x));
}
template <class T>
TSR_HD Number<T> log_ndtr(Number<T> a) {
  const double x = static_cast<double>(a.v);
  return number<T>(log_normal_cdf(x));
}
template <class T>
TSR_HD Number<T> zeta(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  return number<T>(math::zeta_of(x, y));
}
template <class T>
TSR_HD Number<T> igamma(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  return number<T>(math::incomplete_gamma<false>(x, y));
}
template <class T>
TSR_HD Number<T> igammac(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  return number<T>(math::incomplete_gamma<true>(x, y));
}
template <class T>
TSR_HD Number<T> gamma_slope(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  return number<T>(math::gamma_slope(x, y));
}

template <class T, class Fn>
TSR_HD Number<T> in_wide_lanes(Number<T> x, Number<T> y, Fn fn) {
  return number<T>(fn(Number<double>(x.v), Number<double>(y.v)).v);
}

// ---- Sums of exponentials ----

template <class T>
TSR_HD Number<T> logaddexp(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  if (x == y) return number<T>(x + 0.6931471805599453);
  const double larger = x > y || x != x ? x : y;
  return number<T>(larger + std::log1p(std::exp(-std::fabs(x - y))));
}
template <class T>
TSR_HD Number<T> logaddexp2(Number<T> a, Number<T> b) {
  const double x = static_cast<double>(a.v);
  const double y = static_cast<double>(b.v);
  if (x == y) return number<T>(x + 1);
  const double larger = x > y || x != x ? x : y;
  return number<T>(larger + std::log1p(std::exp2(-std::fabs(x - y))) * 1.4426950408889634);
}

// ---- Parts of numbers ----

template <class T>
TSR_HD bool has_sign(Number<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::signbit(a.v);
  else if constexpr (std::is_signed_v<T>)
    return a.v < T{0};
  else
    return false;
}
template <class T>
TSR_HD Number<T> nextafter(Number<T> a, Number<T> b) {
  return number<T>(std::nextafter(a.v, b.v));
}
template <int kDigits, int kLeast, class T>
TSR_HD Number<T> nextafter_short(Number<T> a, Number<T> b) {
  return number<T>(
      math::short_neighbour<kDigits, kLeast>(static_cast<float>(a.v), static_cast<float>(b.v)));
}
template <class T>
TSR_HD Number<T> ldexp(Number<T> a, Number<T> b) {
  return number<T>(math::ldexp_of(static_cast<double>(a.v), static_cast<double>(b.v)));
}

// ---- Division and integers ----

template <class T>
TSR_HD Number<T> trunc_remainder(Number<T> a, Number<T> b) {
  return number<T>(math::trunc_remainder(a.v, b.v));
}
template <class T>
TSR_HD Number<T> trunc_divide(Number<T> a, Number<T> b) {
  if constexpr (std::is_floating_point_v<T>)
    return trunc(a / b);
  else
    return number<T>(math::trunc_divide(a.v, b.v));
}
template <class T>
TSR_HD Number<T> gcd(Number<T> a, Number<T> b) {
  return number<T>(math::greatest_divisor(a.v, b.v));
}
template <class T>
TSR_HD Number<T> lcm(Number<T> a, Number<T> b) {
  return number<T>(math::least_multiple(a.v, b.v));
}
// A shift by a negative number of bits, or by more than there are, leaves none.
template <class T>
TSR_HD Number<T> shift_left_by(Number<T> a, Number<T> bits) {
  const bool fits = !has_sign(bits) && bits.v < T{8 * sizeof(T)};
  return fits ? number<T>(static_cast<uint64_t>(a.v) << bits.v) : Number<T>(0);
}
template <class T>
TSR_HD Number<T> shift_right_by(Number<T> a, Number<T> bits) {
  const bool fits = !has_sign(bits) && bits.v < T{8 * sizeof(T)};
  return fits ? number<T>(a.v >> bits.v) : Number<T>(has_sign(a) ? -1 : 0);
}

}  // namespace tsr::cuda
