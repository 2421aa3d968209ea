// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sort keys: unsigned numbers in the same order as the values, so that sorting the keys sorts the
// values.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "base/half.h"

namespace tsr::math {

template <class T>
using SortKey = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

// Floats: flips all bits of negative numbers and the sign bit of others, so that the keys compare
// as integers. NaN is largest and -0 equals 0. Without branches, so that the compiler vectorises
// loops of it.
template <class Bits, class Float>
[[gnu::always_inline]] TSR_HD inline Bits float_key(Float value) {
  constexpr int kSignPlace = sizeof(Bits) * 8 - 1;
  const Bits bits = std::bit_cast<Bits>(value + Float{0});
  const Bits negative = Bits{0} - (bits >> kSignPlace);
  const Bits key = bits ^ (negative | Bits{1} << kSignPlace);
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<Float>::infinity());
  const Bits nan = (bits & ~(Bits{1} << kSignPlace)) > kInfinity ? ~Bits{0} : Bits{0};
  return key | nan;
}

// The same of the bits of a 16-bit float, whose infinity is given: a key of 16 bits.
[[gnu::always_inline]] TSR_HD inline uint32_t short_float_key(uint16_t bits, uint32_t infinity) {
  const uint32_t magnitude = bits & 0x7fffU;
  const uint32_t number = magnitude == 0 ? 0U : bits;
  const uint32_t negative = 0U - (number >> 15);
  const uint32_t key = (number ^ (negative | 0x8000U)) & 0xffffU;
  return magnitude > infinity ? 0xffffU : key;
}

template <class T>
[[gnu::always_inline]] TSR_HD inline SortKey<T> sort_key(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return float_key<SortKey<T>>(value);
  } else if constexpr (std::is_same_v<T, Half>) {
    return short_float_key(value.bits, 0x7c00);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return short_float_key(value.bits, 0x7f80);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<SortKey<T>>(value) ^ SortKey<T>{1} << (sizeof(SortKey<T>) * 8 - 1);
  } else {
    return static_cast<SortKey<T>>(value);
  }
}

}  // namespace tsr::math
