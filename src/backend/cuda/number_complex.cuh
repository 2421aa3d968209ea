// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Elementary functions of complex numbers, from the standard library of the compiler (CUDA's or the
// host's). complex64 computes in complex128 too: one rounding, at the end.
#pragma once

#if defined(__CUDACC__)
#include <cuda/std/complex>
#else
#include <complex>
#endif

#include "backend/cuda/number.cuh"

namespace tsr::cuda {

#if defined(__CUDACC__)
namespace library = ::cuda::std;
#else
namespace library = ::std;
#endif
using Double2 = library::complex<double>;

template <class T>
using ComplexNumber = math::Complex<Number<T>>;

template <class T>
TSR_HD Double2 widen(ComplexNumber<T> a) {
  return Double2(static_cast<double>(a.re.v), static_cast<double>(a.im.v));
}
template <class T>
TSR_HD ComplexNumber<T> narrow(Double2 a) {
  return {Number<T>(a.real()), Number<T>(a.imag())};
}

template <class T>
TSR_HD ComplexNumber<T> exp(ComplexNumber<T> x) {
  return narrow<T>(library::exp(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> log(ComplexNumber<T> x) {
  return narrow<T>(library::log(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> sqrt(ComplexNumber<T> x) {
  return narrow<T>(library::sqrt(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> sin(ComplexNumber<T> x) {
  return narrow<T>(library::sin(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> cos(ComplexNumber<T> x) {
  return narrow<T>(library::cos(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> tan(ComplexNumber<T> x) {
  return narrow<T>(library::tan(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> asin(ComplexNumber<T> x) {
  return narrow<T>(library::asin(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> acos(ComplexNumber<T> x) {
  return narrow<T>(library::acos(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> atan(ComplexNumber<T> x) {
  return narrow<T>(library::atan(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> sinh(ComplexNumber<T> x) {
  return narrow<T>(library::sinh(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> cosh(ComplexNumber<T> x) {
  return narrow<T>(library::cosh(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> tanh(ComplexNumber<T> x) {
  return narrow<T>(library::tanh(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> asinh(ComplexNumber<T> x) {
  return narrow<T>(library::asinh(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> acosh(ComplexNumber<T> x) {
  return narrow<T>(library::acosh(widen(x)));
}
template <class T>
TSR_HD ComplexNumber<T> atanh(ComplexNumber<T> x) {
  return narrow<T>(library::atanh(widen(x)));
}
// 2**z = e**(z ln 2)
template <class T>
TSR_HD ComplexNumber<T> exp2(ComplexNumber<T> x) {
  return narrow<T>(library::exp(widen(x) * 0.6931471805599453));
}
template <class T>
TSR_HD ComplexNumber<T> log2(ComplexNumber<T> x) {
  return narrow<T>(library::log(widen(x)) * 1.4426950408889634);
}
template <class T>
TSR_HD ComplexNumber<T> log10(ComplexNumber<T> x) {
  return narrow<T>(library::log(widen(x)) * 0.43429448190325182);
}
// log |1 + z| = log1p(x (2 + x) + y²) / 2 keeps small z exact; where that overflows, z is not
// small.
template <class T>
TSR_HD ComplexNumber<T> log1p(ComplexNumber<T> x) {
  const Double2 z = widen(x);
  const double excess = z.real() * (2 + z.real()) + z.imag() * z.imag();
  if (!is_finite(Number<double>(excess)))
    return narrow<T>(library::log(Double2(1 + z.real(), z.imag())));
  return {Number<T>(0.5 * std::log1p(excess)), Number<T>(std::atan2(z.imag(), 1 + z.real()))};
}
// e**x cos y - 1 = expm1(x) cos y - 2 sin²(y / 2) keeps small z exact. What is infinite or NaN goes
// by the rules of exp.
template <class T>
TSR_HD ComplexNumber<T> expm1(ComplexNumber<T> x) {
  const Double2 z = widen(x);
  const double growth = std::expm1(z.real());
  if (!is_finite(Number<double>(growth)) || !is_finite(Number<double>(z.imag()))) {
    const Double2 whole = library::exp(z);
    return narrow<T>(Double2(whole.real() - 1, whole.imag()));
  }
  const double half_sine = std::sin(z.imag() / 2);
  return {Number<T>(growth * std::cos(z.imag()) - 2 * half_sine * half_sine),
          Number<T>((growth + 1) * std::sin(z.imag()))};
}
template <class T>
TSR_HD ComplexNumber<T> sigmoid(ComplexNumber<T> x) {
  return ComplexNumber<T>(1) / (ComplexNumber<T>(1) + exp(-x));
}
// x**y = e**(y log x), with 0**0 = 1 and x**0 = 1.
template <class T>
TSR_HD ComplexNumber<T> pow(ComplexNumber<T> x, ComplexNumber<T> y) {
  const ComplexNumber<T> zero(0);
  if (y == zero) return ComplexNumber<T>(1);
  return x == zero ? zero : exp(y * log(x));
}

}  // namespace tsr::cuda
