// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The row of real and of complex powers. Whole and half exponents near 0 need no logarithm, and
// most calls have one of them for all elements. An element with such an exponent has the same value
// beside any others.
#pragma once

#include "backend/common/functors_binary.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {

// a**(kTwice / 2).
template <int kTwice, class V>
[[gnu::always_inline]] inline V simple_power(V a) {
  if constexpr (kTwice == 2) {
    return a;
  } else if constexpr (kTwice == 4) {
    return a * a;
  } else if constexpr (kTwice == 6) {
    if constexpr (std::is_same_v<V, VF>)
      return narrow(each_half(widen(a), [](VD wide) { return wide * wide * wide; }));
    else
      return a * a * a;
  } else if constexpr (kTwice == -2) {
    return V(1.0) / a;
  } else if constexpr (kIsComplex<V>) {
    const V root = sqrt(a);
    return kTwice == 1 ? root : V(1.0) / root;
  } else {
    // A power of -0 is not negative, and one of minus infinity no NaN.
    const V root = select(a == V(-kInfinity), V(kInfinity), sqrt(a + V(0.0)));
    return kTwice == 1 ? root : V(1.0) / root;
  }
}

template <int kTwice>
struct SimplePower {
  template <class V>
  V operator()(V a) const {
    return simple_power<kTwice>(a);
  }
};

// An exponent as a real number: NaN if it is none.
template <class T>
[[gnu::always_inline]] inline Vec<T> real_exponent(Vec<T> b) {
  return b;
}
template <class V>
[[gnu::always_inline]] inline V real_exponent(math::Complex<V> b) {
  return select(b.im == V(0), b.re, V(__builtin_nan("")));
}

struct AnyPower {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    V result = pow(a, b);
    using Real = decltype(real_exponent(b));
    const Real twice = real_exponent(b) + real_exponent(b);
    if (any((round_even(twice) == twice) & (abs(twice) <= Real(6.0)))) {
      result = select(twice == Real(6.0), simple_power<6>(a), result);
      result = select(twice == Real(4.0), simple_power<4>(a), result);
      result = select(twice == Real(2.0), a, result);
      result = select(twice == Real(1.0), simple_power<1>(a), result);
      result = select(twice == Real(-1.0), simple_power<-1>(a), result);
      result = select(twice == Real(-2.0), simple_power<-2>(a), result);
    }
    return result;
  }
};

// Where the exponent needs no logarithm; false for other exponents.
template <class V>
bool simple_power_row(const void* element, int64_t count, void* out, const void* const* in,
                      const Parameter* params) {
  const auto exponent = first_lane(real_exponent(Access<V>::spread(element)));
  using T = std::remove_const_t<decltype(exponent)>;
  if (exponent == T(2)) return row_loop<SimplePower<4>, V, 0>(count, out, in, params);
  if (exponent == T(3)) return row_loop<SimplePower<6>, V, 0>(count, out, in, params);
  if (exponent == T(1)) return row_loop<SimplePower<2>, V, 0>(count, out, in, params);
  if (exponent == T(0.5)) return row_loop<SimplePower<1>, V, 0>(count, out, in, params);
  if (exponent == T(-0.5)) return row_loop<SimplePower<-1>, V, 0>(count, out, in, params);
  if (exponent == T(-1)) return row_loop<SimplePower<-2>, V, 0>(count, out, in, params);
  return false;
}

template <class V>
[[gnu::noinline]] bool any_power_row(int64_t count, void* out, const void* const* in,
                                     const Parameter* params) {
  return row_loop<AnyPower, V, 0, 1>(count, out, in, params);
}

template <class V>
bool power_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  constexpr int64_t kBytes = static_cast<int64_t>(sizeof(V)) / Access<V>::kLanes;
  const auto* exponents = static_cast<const char*>(in[1]);
  const auto others = static_cast<size_t>((count - 1) * kBytes);
  const bool one = __builtin_memcmp(exponents, exponents + kBytes, others) == 0;
  if (one && simple_power_row<V>(exponents, count, out, in, params)) return true;
  return any_power_row<V>(count, out, in, params);
}

// The logarithm costs more than a buffer of equal elements, and less code.
template <class V>
void power_row_beside(int64_t count, void* out, const void* many, const void* element, bool first) {
  using T = typename V::Element;
  constexpr int64_t kPart = 256;
  const Parameter none[2] = {};
  if (!first && simple_power_row<V>(element, count, out, &many, none)) return;
  T one;
  __builtin_memcpy(&one, element, sizeof(one));
  T equal[kPart];
  for (int64_t i = 0; i < kPart && i < count; ++i) equal[i] = one;
  for (int64_t i = 0; i < count; i += kPart) {
    const void* others = static_cast<const T*>(many) + i;
    const void* in[2] = {first ? equal : others, first ? others : equal};
    any_power_row<V>(count - i < kPart ? count - i : kPart, static_cast<T*>(out) + i, in, none);
  }
}
template <class V>
void power_beside(const BesideRows& all) {
  for (int64_t r = 0; r < all.rows; ++r) {
    power_row_beside<V>(all.count, static_cast<char*>(all.out) + r * all.out_step,
                        static_cast<const char*>(all.many) + r * all.many_step,
                        static_cast<const char*>(all.element) + r * all.element_step, all.first);
  }
}

}  // namespace tsr::cpu::TSR_ISA
