// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Complex<V>: a complex number over any real value type, with the arithmetic that functors use.
#pragma once

#include <type_traits>

#include "base/host_device.h"

namespace tsr::math {

// The scalar twin of Vec's select.
template <class T>
requires std::is_arithmetic_v<T>
[[gnu::always_inline]] TSR_HD inline T select(bool mask, T yes, T no) {
  return mask ? yes : no;
}

template <class V>
struct Complex {
  V re, im;

  Complex() = default;
  [[gnu::always_inline]] TSR_HD Complex(V real, V imag) : re(real), im(imag) {}
  template <class S>
  requires std::is_arithmetic_v<S>
  [[gnu::always_inline]] TSR_HD explicit Complex(S real) : re(real), im(0) {}
};

template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator-(Complex<V> a) {
  return {-a.re, -a.im};
}
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Smith's method (CACM algorithm 116, 1962): dividing by the larger part first avoids overflow. A
// divisor of 0 divides each part alone, so that an infinite part beside it makes no NaN of both.
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator/(Complex<V> a, Complex<V> b) {
  const auto real_larger = abs(b.re) >= abs(b.im);
  const V large = select(real_larger, b.re, b.im);
  const V small = select(real_larger, b.im, b.re);
  const auto zero = large == V(0);
  const V ratio = select(zero, large, small / large);
  const V scale = large + small * ratio;
  const V first = select(real_larger, a.re + a.im * ratio, a.re * ratio + a.im);
  const V second = select(real_larger, a.im - a.re * ratio, a.im * ratio - a.re);
  return {select(zero, a.re, first) / scale, select(zero, a.im, second) / scale};
}

template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> operator/(Complex<V> a, V b) {
  return {a.re / b, a.im / b};
}

template <class V>
[[gnu::always_inline]] TSR_HD inline auto operator==(Complex<V> a, Complex<V> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class V>
[[gnu::always_inline]] TSR_HD inline auto operator!=(Complex<V> a, Complex<V> b) {
  return (a.re != b.re) | (a.im != b.im);
}
template <class M, class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> select(M mask, Complex<V> yes, Complex<V> no) {
  return {select(mask, yes.re, no.re), select(mask, yes.im, no.im)};
}
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> fma(Complex<V> a, Complex<V> b, Complex<V> c) {
  return a * b + c;
}

template <class V>
[[gnu::always_inline]] TSR_HD inline V abs(Complex<V> a) {
  return hypot(a.re, a.im);
}
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> conj(Complex<V> a) {
  return {a.re, -a.im};
}
// z / |z|, and 0 for 0.
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> sign(Complex<V> a) {
  const V size = abs(a);
  const auto zero = size == V(0);
  return {select(zero, V(0), a.re / size), select(zero, V(0), a.im / size)};
}
// Each part by itself.
template <class V>
[[gnu::always_inline]] TSR_HD inline Complex<V> round_even(Complex<V> a) {
  return {round_even(a.re), round_even(a.im)};
}
template <class V>
[[gnu::always_inline]] TSR_HD inline auto is_infinite(Complex<V> a) {
  return is_infinite(a.re) | is_infinite(a.im);
}
template <class V>
[[gnu::always_inline]] TSR_HD inline auto is_finite(Complex<V> a) {
  return is_finite(a.re) & is_finite(a.im);
}

}  // namespace tsr::math
