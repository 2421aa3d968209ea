// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of a few complex numbers in registers, one transform in each lane.
#pragma once

#include <utility>

#include "backend/common/vec.h"
#include "backend/cpu/fft/fft_rows.h"

namespace tsr::cpu::TSR_ISA {

// A complex number in each lane.
template <class T>
struct Lanes {
  using V = Vec<T>;
  V re, im;

  [[gnu::always_inline]] static Lanes load(const T* block) {
    return {V::load(block), V::load(block + V::kSize)};
  }
  [[gnu::always_inline]] void store(T* block) const {
    re.store(block);
    im.store(block + V::kSize);
  }
};
template <class T>
[[gnu::always_inline]] inline Lanes<T> operator+(Lanes<T> a, Lanes<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> operator-(Lanes<T> a, Lanes<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> multiply(Lanes<T> a, Vec<T> re, Vec<T> im) {
  return {fma(a.re, re, -(a.im * im)), fma(a.re, im, a.im * re)};
}
// a times -i.
template <class T>
[[gnu::always_inline]] inline Lanes<T> turn(Lanes<T> a) {
  return {a.im, -a.re};
}

template <class T>
[[gnu::always_inline]] inline void transform2(Lanes<T>& a, Lanes<T>& b) {
  const Lanes<T> sum = a + b;
  b = a - b;
  a = sum;
}

// Results in order.
template <class T>
[[gnu::always_inline]] inline void transform4(Lanes<T>& a, Lanes<T>& b, Lanes<T>& c, Lanes<T>& d) {
  transform2(a, c);
  transform2(b, d);
  const Lanes<T> turned = turn(d);
  const Lanes<T> even = a;
  const Lanes<T> odd = c;
  a = even + b;
  c = even - b;
  b = odd + turned;
  d = odd - turned;
}

template <class T>
[[gnu::always_inline]] inline void transform8(Lanes<T>* x) {
  transform4(x[0], x[2], x[4], x[6]);
  transform4(x[1], x[3], x[5], x[7]);
  const Vec<T> h(0.70710678118654752440);
  const Lanes<T> first{(x[3].re + x[3].im) * h, (x[3].im - x[3].re) * h};
  const Lanes<T> third{(x[7].im - x[7].re) * h, (x[7].re + x[7].im) * -h};
  const Lanes<T> odd[4] = {x[1], first, turn(x[5]), third};
  const Lanes<T> even[4] = {x[0], x[2], x[4], x[6]};
  for (int k = 0; k < 4; ++k) {
    x[k] = even[k] + odd[k];
    x[k + 4] = even[k] - odd[k];
  }
}

// Two layers of transforms of 4, with a turn by 2πjk/16 between them.
template <class T>
[[gnu::always_inline]] inline void transform16(Lanes<T>* x) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) transform4(x[j], x[j + 4], x[j + 8], x[j + 12]);
  const Vec<T> c(0.92387953251128675613);
  const Vec<T> s(0.38268343236508977173);
  const Vec<T> h(0.70710678118654752440);
  const auto eighth = [h](Lanes<T> a) __attribute__((always_inline)) {
    return Lanes<T>{(a.re + a.im) * h, (a.im - a.re) * h};
  };
  x[5] = multiply(x[5], c, -s);
  x[6] = eighth(x[6]);
  x[7] = multiply(x[7], s, -c);
  x[9] = eighth(x[9]);
  x[10] = turn(x[10]);
  x[11] = turn(eighth(x[11]));
  x[13] = multiply(x[13], s, -c);
  x[14] = turn(eighth(x[14]));
  x[15] = multiply(x[15], -c, s);
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) transform4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
    // Element 4 k + m is result k + 4 m.
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
#pragma GCC unroll 4
    for (int m = k + 1; m < 4; ++m) std::swap(x[4 * k + m], x[4 * m + k]);
  }
}

// Any odd number of elements: sums and differences of x[j] and x[r - j] halve the products. kRadix
// 0 takes the number from `count`.
template <int kRadix, class T>
[[gnu::always_inline]] inline void transform_odd(Lanes<T>* x, [[maybe_unused]] int64_t count,
                                                 const T* roots) {
  using V = Vec<T>;
  constexpr int kRoom = ((kRadix == 0 ? kMaxFftRadix : kRadix) - 1) / 2;
  const int64_t radix = kRadix == 0 ? count : kRadix;
  const int64_t half = (radix - 1) / 2;
  Lanes<T> sums[kRoom];
  Lanes<T> differences[kRoom];
  const Lanes<T> first = x[0];
  Lanes<T> total = first;
#pragma GCC unroll 8
  for (int64_t j = 0; j < half; ++j) {
    sums[j] = x[j + 1] + x[radix - 1 - j];
    differences[j] = x[j + 1] - x[radix - 1 - j];
    total = total + sums[j];
  }
  x[0] = total;
#pragma GCC unroll 8
  for (int64_t k = 1; k <= half; ++k) {
    Lanes<T> even = first;
    Lanes<T> odd{V(0), V(0)};
    int64_t at = 0;
#pragma GCC unroll 8
    for (int64_t j = 0; j < half; ++j) {
      at += k;
      if (at >= radix) at -= radix;
      const V cosine(roots[2 * at]);
      const V sine(roots[2 * at + 1]);
      even = {fma(cosine, sums[j].re, even.re), fma(cosine, sums[j].im, even.im)};
      odd = {fma(sine, differences[j].re, odd.re), fma(sine, differences[j].im, odd.im)};
    }
    const Lanes<T> turned = turn(odd);
    x[k] = even + turned;
    x[radix - k] = even - turned;
  }
}

// kRadix 0: `radix`, an odd number.
template <int kRadix, class T>
[[gnu::always_inline]] inline void transform(Lanes<T>* x, int64_t radix, const T* roots) {
  if constexpr (kRadix == 2) {
    transform2(x[0], x[1]);
  } else if constexpr (kRadix == 4) {
    transform4(x[0], x[1], x[2], x[3]);
  } else if constexpr (kRadix == 8) {
    transform8(x);
  } else if constexpr (kRadix == 16) {
    transform16(x);
  } else {
    transform_odd<kRadix>(x, radix, roots);
  }
}

}  // namespace tsr::cpu::TSR_ISA
