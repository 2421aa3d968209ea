// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Number<T>: one number, the value type of functors on CUDA (see Note [Functors]). Comparisons give
// bool, whose | and & give int: both are masks here.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backend/common/complex.h"
#include "backend/common/scalar_math.h"

namespace tsr::cuda {

template <class T>
struct Number {
  using Element = T;
  T v;

  Number() = default;
  template <class S>
  requires std::is_arithmetic_v<S> TSR_HD Number(S value) : v(static_cast<T>(value)) {}
};

// Integer tensors wrap: signed arithmetic is done on unsigned numbers.
template <class T, bool kIntegral = std::is_integral_v<T>>
struct Wrapping {
  using type = T;
};
template <class T>
struct Wrapping<T, true> {
  using type = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
};
template <class T>
TSR_HD auto wrapping(Number<T> a) {
  return static_cast<typename Wrapping<T>::type>(a.v);
}
template <class T, class S>
TSR_HD Number<T> number(S value) {
  return Number<T>(value);
}

// ---- Arithmetic and bits ----

template <class T>
TSR_HD Number<T> operator+(Number<T> a, Number<T> b) {
  return number<T>(wrapping(a) + wrapping(b));
}
template <class T>
TSR_HD Number<T> operator-(Number<T> a, Number<T> b) {
  return number<T>(wrapping(a) - wrapping(b));
}
template <class T>
TSR_HD Number<T> operator*(Number<T> a, Number<T> b) {
  return number<T>(wrapping(a) * wrapping(b));
}
template <class T>
requires std::is_floating_point_v<T> TSR_HD Number<T>
operator/(Number<T> a, Number<T> b) {
  return number<T>(a.v / b.v);
}
template <class T>
TSR_HD Number<T> operator-(Number<T> a) {
  if constexpr (std::is_integral_v<T>)
    return number<T>(0U - wrapping(a));
  else
    return number<T>(-a.v);
}
template <class T>
requires std::is_integral_v<T> TSR_HD Number<T>
operator&(Number<T> a, Number<T> b) {
  return number<T>(a.v & b.v);
}
template <class T>
requires std::is_integral_v<T> TSR_HD Number<T>
operator|(Number<T> a, Number<T> b) {
  return number<T>(a.v | b.v);
}
template <class T>
requires std::is_integral_v<T> TSR_HD Number<T>
operator^(Number<T> a, Number<T> b) {
  return number<T>(a.v ^ b.v);
}
template <class T>
requires std::is_integral_v<T> TSR_HD Number<T>
operator~(Number<T> a) {
  return number<T>(~a.v);
}

// ---- Comparisons ----

template <class T>
TSR_HD bool operator==(Number<T> a, Number<T> b) {
  return a.v == b.v;
}
template <class T>
TSR_HD bool operator!=(Number<T> a, Number<T> b) {
  return a.v != b.v;
}
template <class T>
TSR_HD bool operator<(Number<T> a, Number<T> b) {
  return a.v < b.v;
}
template <class T>
TSR_HD bool operator<=(Number<T> a, Number<T> b) {
  return a.v <= b.v;
}
template <class T>
TSR_HD bool operator>(Number<T> a, Number<T> b) {
  return a.v > b.v;
}
template <class T>
TSR_HD bool operator>=(Number<T> a, Number<T> b) {
  return a.v >= b.v;
}
// A number is its only lane.
template <class T>
TSR_HD T first_lane(Number<T> a) {
  return a.v;
}
template <class T>
TSR_HD T largest_lane(Number<T> a) {
  return a.v;
}
template <class T>
TSR_HD Number<T> select(bool mask, Number<T> yes, Number<T> no) {
  return mask ? yes : no;
}

// ---- Sign and rounding ----

template <class T>
TSR_HD Number<T> abs(Number<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return number<T>(std::fabs(a.v));
  else if constexpr (std::is_signed_v<T>)
    return a.v < 0 ? -a : a;
  else
    return a;
}
template <class T>
TSR_HD Number<T> sign(Number<T> a) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a.v != a.v) return a;
  }
  const int positive = a.v > T{0} ? 1 : 0;
  if constexpr (std::is_signed_v<T>)
    return number<T>(positive - (a.v < T{0} ? 1 : 0));
  else
    return number<T>(positive);
}
template <class T>
TSR_HD Number<T> conj(Number<T> a) {
  return a;
}
template <class T>
TSR_HD bool is_infinite(Number<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a.v) == std::numeric_limits<T>::infinity();
  else
    return false;
}
template <class T>
TSR_HD bool is_finite(Number<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a.v) < std::numeric_limits<T>::infinity();
  else
    return true;
}
template <class T>
TSR_HD Number<T> floor(Number<T> a) {
  return number<T>(std::floor(a.v));
}
template <class T>
TSR_HD Number<T> ceil(Number<T> a) {
  return number<T>(std::ceil(a.v));
}
template <class T>
TSR_HD Number<T> trunc(Number<T> a) {
  return number<T>(std::trunc(a.v));
}
template <class T>
TSR_HD Number<T> round_even(Number<T> a) {
  return number<T>(std::rint(a.v));
}

// ---- Elementary functions: the toolkit's, whose errors CUDA's programming guide states ----

template <class T>
TSR_HD Number<T> fma(Number<T> a, Number<T> b, Number<T> c) {
  if constexpr (std::is_floating_point_v<T>)
    return number<T>(std::fma(a.v, b.v, c.v));
  else
    return a * b + c;
}
template <class T>
TSR_HD Number<T> sqrt(Number<T> a) {
  return number<T>(std::sqrt(a.v));
}
template <class T>
TSR_HD Number<T> exp(Number<T> a) {
  return number<T>(std::exp(a.v));
}
template <class T>
TSR_HD Number<T> expm1(Number<T> a) {
  return number<T>(std::expm1(a.v));
}
template <class T>
TSR_HD Number<T> log(Number<T> a) {
  return number<T>(std::log(a.v));
}
template <class T>
TSR_HD Number<T> log1p(Number<T> a) {
  return number<T>(std::log1p(a.v));
}
// log(one + x) for a `one` of 0 or 1.
template <class T>
TSR_HD Number<T> log_plus(Number<T> x, Number<T> one) {
  return one.v == T(0) ? log(x) : log1p(x);
}
template <class T>
TSR_HD Number<T> log2(Number<T> a) {
  return number<T>(std::log2(a.v));
}
template <class T>
TSR_HD Number<T> log10(Number<T> a) {
  return number<T>(std::log10(a.v));
}
template <class T>
TSR_HD Number<T> sin(Number<T> a) {
  return number<T>(std::sin(a.v));
}
template <class T>
TSR_HD Number<T> cos(Number<T> a) {
  return number<T>(std::cos(a.v));
}
template <class T>
TSR_HD Number<T> tan(Number<T> a) {
  return number<T>(std::tan(a.v));
}
template <class T>
TSR_HD Number<T> asin(Number<T> a) {
  return number<T>(std::asin(a.v));
}
template <class T>
TSR_HD Number<T> acos(Number<T> a) {
  return number<T>(std::acos(a.v));
}
template <class T>
TSR_HD Number<T> atan(Number<T> a) {
  return number<T>(std::atan(a.v));
}
template <class T>
TSR_HD Number<T> sinh(Number<T> a) {
  return number<T>(std::sinh(a.v));
}
template <class T>
TSR_HD Number<T> cosh(Number<T> a) {
  return number<T>(std::cosh(a.v));
}
template <class T>
TSR_HD Number<T> tanh(Number<T> a) {
  return number<T>(std::tanh(a.v));
}
template <class T>
TSR_HD Number<T> erf(Number<T> a) {
  return number<T>(std::erf(a.v));
}
template <class T>
TSR_HD Number<T> erfc(Number<T> a) {
  return number<T>(std::erfc(a.v));
}
// Φ(x), accurate also for very negative x, where 1 + erf cancels; and its density.
template <class T>
TSR_HD Number<T> normal_cdf(Number<T> x) {
  return Number<T>(0.5) * erfc(x * Number<T>(-0.70710678118654752));
}
template <class T>
TSR_HD Number<T> gelu(Number<T> x) {
  return x * normal_cdf(x);
}
template <class T>
TSR_HD Number<T> normal_density(Number<T> x) {
  return Number<T>(0.39894228040143268) * exp(Number<T>(-0.5) * x * x);
}
template <class T>
TSR_HD Number<T> atan2(Number<T> y, Number<T> x) {
  return number<T>(std::atan2(y.v, x.v));
}
template <class T>
TSR_HD Number<T> hypot(Number<T> x, Number<T> y) {
  return number<T>(std::hypot(x.v, y.v));
}
template <class T>
TSR_HD Number<T> pow(Number<T> x, Number<T> y) {
  if constexpr (std::is_floating_point_v<T>)
    return number<T>(std::pow(x.v, y.v));
  else
    return number<T>(math::integer_power(x.v, y.v));
}
// Both branches are safe: e**-|x| is at most 1.
template <class T>
TSR_HD Number<T> sigmoid(Number<T> x) {
  const Number<T> e = exp(-abs(x));
  return select(x >= Number<T>(0), Number<T>(1), e) / (Number<T>(1) + e);
}
template <class T>
TSR_HD Number<T> silu(Number<T> x) {
  return x * sigmoid(x);
}
template <class T>
TSR_HD Number<T> floor_remainder(Number<T> a, Number<T> b) {
  return number<T>(math::floor_remainder(a.v, b.v));
}
template <class T>
TSR_HD Number<T> floor_divide(Number<T> a, Number<T> b) {
  return number<T>(math::floor_divide(a.v, b.v));
}

}  // namespace tsr::cuda
