// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Complex vectors: loads and stores of interleaved numbers, and functions, most of which call the C
// library lane by lane.
#pragma once

#include "backend/common/complex.h"
#include "backend/common/math_any.h"

namespace tsr::cpu::TSR_ISA {

using CF = math::Complex<VF>;
using CD = math::Complex<VD>;

// ---- Interleaved memory ----

template <class T>
[[gnu::always_inline]] inline math::Complex<Vec<T>> load_pairs(const T* source) {
  const Vec<T> a = Vec<T>::load(source);
  const Vec<T> b = Vec<T>::load(source + Vec<T>::kSize);
  return {every_second<0>(a, b), every_second<1>(a, b)};
}
template <class T>
[[gnu::always_inline]] inline void store_pairs(math::Complex<Vec<T>> value, T* target) {
  by_turns<0>(value.re, value.im).store(target);
  by_turns<1>(value.re, value.im).store(target + Vec<T>::kSize);
}

// ---- Functions ----

// Calls fn(real, imag, &real result, &imag result) on every lane.
template <class T, class Fn>
[[gnu::always_inline]] inline math::Complex<Vec<T>> by_lane(math::Complex<Vec<T>> a, Fn fn) {
  T real[Vec<T>::kSize];
  T imag[Vec<T>::kSize];
  a.re.store(real);
  a.im.store(imag);
  for (int i = 0; i < Vec<T>::kSize; ++i) {
    double _Complex z;
    __real__ z = static_cast<double>(real[i]);
    __imag__ z = static_cast<double>(imag[i]);
    z = fn(z);
    real[i] = static_cast<T>(__real__ z);
    imag[i] = static_cast<T>(__imag__ z);
  }
  return {Vec<T>::load(real), Vec<T>::load(imag)};
}

// complex64 computes in complex128 too: one rounding, at the end. The callers of exp, log and sqrt
// share one copy of each: they are long, and take far more time than a call.
template <class V>
[[gnu::noinline]] math::Complex<V> exp(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_cexp(z); });
}
template <class V>
[[gnu::noinline]] math::Complex<V> log(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_clog(z); });
}
#if defined(__AVX2__)
// log |x| is half the logarithm of the square, of which 1 is taken off exactly where it is near 1.
[[gnu::noinline]] inline CF log(CF x) {
  const VF a = abs(x.re);
  const VF b = abs(x.im);
  const auto size = [](VD large, VD small) {
    const VD square = fma(large, large, small * small);
    const Mask<double> near = (square > VD(0.5)) & (square < VD(2.0));
    const VD excess = fma(small, small, fma(large, large, VD(-1.0)));
    return VD(0.5) * log_plus(select(near, excess, square), select(near, VD(1.0), VD(0.0)));
  };
  const VF re = narrow(each_half(widen(greater_of(a, b)), widen(less_of(a, b)), size));
  const CF result{re, atan2(x.im, x.re)};
  const Mask<float> finite = is_finite(x.re) & is_finite(x.im);
  if (__builtin_expect(any(!finite), 0)) return select(finite, result, log<VF>(x));
  return result;
}
#endif
template <class V>
[[gnu::noinline]] math::Complex<V> sqrt_by_lane(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_csqrt(z); });
}
// The larger part of the root of a + bi is √((a + |a + bi|) / 2), the other one b over twice that,
// for a and b that are not negative and whose squares neither overflow nor vanish both.
[[gnu::always_inline]] inline CD sqrt_of_magnitudes(VD a, VD b) {
  const VD size = sqrt(fma(a, a, b * b));
  const VD large = sqrt(VD(0.5) * (a + size));
  return {large, select(large == VD(0.0), b, b / (large + large))};
}
// Left of the imaginary axis the parts change places.
template <class V>
[[gnu::always_inline]] inline math::Complex<V> turned_root(math::Complex<V> root,
                                                           math::Complex<V> x) {
  const auto right = x.re >= V(0);
  return {select(right, root.re, root.im), with_sign(select(right, root.im, root.re), x.im)};
}
[[gnu::noinline]] inline CD sqrt(CD x) {
  const VD a = abs(x.re);
  const VD b = abs(x.im);
  const VD most(0x1p+500);
  const VD least(0x1p-480);
  const Mask<double> plain =
      (a <= most) & (b <= most) & ((a >= least) | (b >= least) | (a + b == VD(0.0)));
  const CD result = turned_root(sqrt_of_magnitudes(a, b), x);
  if (__builtin_expect(any(!plain), 0)) return select(plain, result, sqrt_by_lane(x));
  return result;
}
[[gnu::noinline]] inline CF sqrt(CF x) {
  const VDPair a = widen(abs(x.re));
  const VDPair b = widen(abs(x.im));
  const CD low = sqrt_of_magnitudes(a.low, b.low);
  const CD high = sqrt_of_magnitudes(a.high, b.high);
  const CF result = turned_root(CF{narrow({low.re, high.re}), narrow({low.im, high.im})}, x);
  const Mask<float> finite = is_finite(x.re) & is_finite(x.im);
  if (__builtin_expect(any(!finite), 0)) return select(finite, result, sqrt_by_lane(x));
  return result;
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> sin(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_csin(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> cos(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_ccos(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> tan(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_ctan(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> asin(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_casin(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> acos(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_cacos(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> atan(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_catan(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> sinh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_csinh(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> cosh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_ccosh(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> tanh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_ctanh(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> asinh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_casinh(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> acosh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_cacosh(z); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> atanh(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_catanh(z); });
}
// 2**z = e**(z ln 2)
template <class V>
[[gnu::always_inline]] inline math::Complex<V> exp2(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) { return __builtin_cexp(z * kLn2); });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> log2(math::Complex<V> x) {
  const math::Complex<V> natural = log(x);
  return {natural.re * V(kLog2E), natural.im * V(kLog2E)};
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> log10(math::Complex<V> x) {
  const math::Complex<V> natural = log(x);
  return {natural.re * V(0.43429448190325182), natural.im * V(0.43429448190325182)};
}
// log |1 + z| = log1p(x (2 + x) + y²) / 2 keeps small z exact; where that overflows, z is not
// small.
template <class V>
[[gnu::always_inline]] inline math::Complex<V> log1p(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) {
    const double re = __real__ z;
    const double im = __imag__ z;
    const double excess = re * (2 + re) + im * im;
    double _Complex result = z;
    if (!__builtin_isfinite(excess)) {
      __real__ result = 1 + re;
      return __builtin_clog(result);
    }
    __real__ result = 0.5 * __builtin_log1p(excess);
    __imag__ result = __builtin_atan2(im, 1 + re);
    return result;
  });
}
// e**x cos y - 1 = expm1(x) cos y - 2 sin²(y / 2) keeps small z exact. What is infinite or NaN goes
// by the rules of exp.
template <class V>
[[gnu::always_inline]] inline math::Complex<V> expm1(math::Complex<V> x) {
  return by_lane(x, [](double _Complex z) {
    const double growth = __builtin_expm1(__real__ z);
    double _Complex result;
    if (!__builtin_isfinite(growth) || !__builtin_isfinite(__imag__ z)) {
      result = __builtin_cexp(z);
      __real__ result -= 1;
      return result;
    }
    const double half_sine = __builtin_sin(__imag__ z / 2);
    __real__ result = growth * __builtin_cos(__imag__ z) - 2 * half_sine * half_sine;
    __imag__ result = (growth + 1) * __builtin_sin(__imag__ z);
    return result;
  });
}
template <class V>
[[gnu::always_inline]] inline math::Complex<V> sigmoid(math::Complex<V> x) {
  return math::Complex<V>(1) / (math::Complex<V>(1) + exp(-x));
}
// x**y = e**(y log x), with 0**0 = 1 and x**0 = 1. Of 0**y the size is 0 or infinite by the sign of
// y's real part, and the direction of an infinite one is unknown.
template <class V>
[[gnu::always_inline]] inline math::Complex<V> pow(math::Complex<V> x, math::Complex<V> y) {
  const math::Complex<V> zero(0);
  const math::Complex<V> one(1);
  const V nan(__builtin_nan(""));
  const V size = select(y.re < V(0), V(__builtin_inf()), nan);
  const math::Complex<V> of_zero = select(y.re > V(0), zero, math::Complex<V>{size, nan});
  const math::Complex<V> result = select(x == zero, of_zero, exp(y * log(x)));
  return select(y == zero, one, result);
}

}  // namespace tsr::cpu::TSR_ISA
