// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Vec<T>: one register of numbers, the value type of functors on the CPU. Only sources compiled per
// instruction-set level (TSR_ISA) include it; everything here is in the namespace of that level.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tsr::cpu::TSR_ISA {

#if defined(__AVX512F__)
inline constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVecBytes = 32;
#else
inline constexpr int kVecBytes = 16;
#endif

// The signed integer of the same width: the element type of a comparison's result.
template <class T>
using LaneInt =
    std::conditional_t<sizeof(T) == 1, int8_t,
                       std::conditional_t<sizeof(T) == 2, int16_t,
                                          std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>>;

// The result of a comparison: all bits of a lane are 1 for true, 0 for false.
template <class T>
struct Mask {
  typedef LaneInt<T> Native __attribute__((vector_size(kVecBytes)));
  Native v;
};

#if defined(__AVX512F__)

// Loads and stores of the first `count` lanes of kSize bytes; `count` is below the number of lanes.
template <int kSize, class Native>
[[gnu::always_inline]] inline Native masked_load(const void* source, int64_t count, Native rest) {
  const auto pad = reinterpret_cast<__m512i>(rest);
  const uint64_t lanes = (uint64_t{1} << count) - 1;
  if constexpr (kSize == 1) {
    return reinterpret_cast<Native>(_mm512_mask_loadu_epi8(pad, lanes, source));
  } else if constexpr (kSize == 2) {
    return reinterpret_cast<Native>(
        _mm512_mask_loadu_epi16(pad, static_cast<__mmask32>(lanes), source));
  } else if constexpr (kSize == 4) {
    return reinterpret_cast<Native>(
        _mm512_mask_loadu_epi32(pad, static_cast<__mmask16>(lanes), source));
  } else {
    return reinterpret_cast<Native>(
        _mm512_mask_loadu_epi64(pad, static_cast<__mmask8>(lanes), source));
  }
}
template <int kSize, class Native>
[[gnu::always_inline]] inline void masked_store(void* target, int64_t count, Native value) {
  const auto bits = reinterpret_cast<__m512i>(value);
  const uint64_t lanes = (uint64_t{1} << count) - 1;
  if constexpr (kSize == 1) {
    _mm512_mask_storeu_epi8(target, lanes, bits);
  } else if constexpr (kSize == 2) {
    _mm512_mask_storeu_epi16(target, static_cast<__mmask32>(lanes), bits);
  } else if constexpr (kSize == 4) {
    _mm512_mask_storeu_epi32(target, static_cast<__mmask16>(lanes), bits);
  } else {
    _mm512_mask_storeu_epi64(target, static_cast<__mmask8>(lanes), bits);
  }
}

#endif

template <class T>
struct Vec {
  using Element = T;
  typedef T Native __attribute__((vector_size(kVecBytes)));
  static constexpr int kSize = kVecBytes / static_cast<int>(sizeof(T));

  Native v;

  Vec() = default;
  [[gnu::always_inline]] explicit Vec(Native native) : v(native) {}
  // Every lane holds `value`. (Subtracting zero keeps the sign of -0; adding it would not.)
  template <class S>
  requires std::is_arithmetic_v<S>
  [[gnu::always_inline]] Vec(S value) : v(static_cast<T>(value) - Native{}) {}

  [[gnu::always_inline]] static Vec load(const T* source) {
    Vec result;
    __builtin_memcpy(&result.v, source, sizeof(Native));
    return result;
  }
  [[gnu::always_inline]] void store(T* target) const {
    __builtin_memcpy(target, &v, sizeof(Native));
  }

  // The first `count` elements; the other lanes hold `padding`, and their memory is not touched.
  [[gnu::always_inline]] static Vec load_part(const T* source, int64_t count, T padding) {
#if defined(__AVX512F__)
    return Vec(masked_load<sizeof(T)>(source, count, Vec(padding).v));
#else
    T lanes[kSize];
    Vec(padding).store(lanes);
    for (int64_t i = 0; i < count; ++i) lanes[i] = source[i];
    return load(lanes);
#endif
  }
  [[gnu::always_inline]] void store_part(T* target, int64_t count) const {
#if defined(__AVX512F__)
    masked_store<sizeof(T)>(target, count, v);
#else
    T lanes[kSize];
    store(lanes);
    for (int64_t i = 0; i < count; ++i) target[i] = lanes[i];
#endif
  }
};

using VF = Vec<float>;
using VD = Vec<double>;
using VI = Vec<int32_t>;
using VL = Vec<int64_t>;
using VU = Vec<uint64_t>;

// ---- Arithmetic ----

template <class T>
[[gnu::always_inline]] inline Vec<T> operator+(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v + b.v);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> operator-(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v - b.v);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> operator*(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v * b.v);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> operator/(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v / b.v);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> operator-(Vec<T> a) {
  return Vec<T>(-a.v);
}

template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> operator&(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v & b.v);
}
template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> operator|(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v | b.v);
}
template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> operator^(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v ^ b.v);
}
template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline Vec<T> operator~(Vec<T> a) {
  return Vec<T>(~a.v);
}
template <int kBits, class T>
[[gnu::always_inline]] inline Vec<T> shift_left(Vec<T> a) {
  return Vec<T>(a.v << kBits);
}
template <int kBits, class T>
[[gnu::always_inline]] inline Vec<T> shift_right(Vec<T> a) {
  return Vec<T>(a.v >> kBits);
}

// ---- Comparisons and masks ----

template <class T>
[[gnu::always_inline]] inline Mask<T> operator==(Vec<T> a, Vec<T> b) {
  return {a.v == b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator!=(Vec<T> a, Vec<T> b) {
  return {a.v != b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator<(Vec<T> a, Vec<T> b) {
  return {a.v < b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator<=(Vec<T> a, Vec<T> b) {
  return {a.v <= b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator>(Vec<T> a, Vec<T> b) {
  return {a.v > b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator>=(Vec<T> a, Vec<T> b) {
  return {a.v >= b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return {a.v & b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator|(Mask<T> a, Mask<T> b) {
  return {a.v | b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator^(Mask<T> a, Mask<T> b) {
  return {a.v ^ b.v};
}
template <class T>
[[gnu::always_inline]] inline Mask<T> operator!(Mask<T> a) {
  return {~a.v};
}

template <class T>
[[gnu::always_inline]] inline Vec<T> select(Mask<T> mask, Vec<T> yes, Vec<T> no) {
  return Vec<T>(mask.v ? yes.v : no.v);
}

template <class T>
[[gnu::always_inline]] inline bool any(Mask<T> mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(mask.v),
                                reinterpret_cast<__m512i>(mask.v)) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask.v)) != 0;
#else
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(mask.v)) != 0;
#endif
}

template <class T>
[[gnu::always_inline]] inline T first_lane(Vec<T> a) {
  return a.v[0];
}

// Lane i gets lane i + kPlaces, modulo the number of lanes.
template <int kPlaces, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> rotate_lanes(Vec<T> a, std::index_sequence<kLane...>) {
  return Vec<T>(__builtin_shufflevector(a.v, a.v, ((kLane + kPlaces) % Vec<T>::kSize)...));
}
template <int kPlaces, class T>
[[gnu::always_inline]] inline Vec<T> rotate_lanes(Vec<T> a) {
  return rotate_lanes<kPlaces>(a, std::make_index_sequence<Vec<T>::kSize>());
}

// The lanes of two registers one behind the other: those at even places (kFirst is 0) or at odd
// ones (1).
template <int kFirst, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> every_second(Vec<T> a, Vec<T> b,
                                                  std::index_sequence<kLane...>) {
  return Vec<T>(__builtin_shufflevector(a.v, b.v, (2 * kLane + kFirst)...));
}
template <int kFirst, class T>
[[gnu::always_inline]] inline Vec<T> every_second(Vec<T> a, Vec<T> b) {
  return every_second<kFirst>(a, b, std::make_index_sequence<Vec<T>::kSize>());
}
// The inverse: the lanes of two registers by turns; their lower halves (0) or their upper ones (1).
template <int kHalf, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> by_turns(Vec<T> a, Vec<T> b, std::index_sequence<kLane...>) {
  constexpr size_t kSize = Vec<T>::kSize;
  return Vec<T>(
      __builtin_shufflevector(a.v, b.v, (kHalf * kSize / 2 + kLane / 2 + kLane % 2 * kSize)...));
}
template <int kHalf, class T>
[[gnu::always_inline]] inline Vec<T> by_turns(Vec<T> a, Vec<T> b) {
  return by_turns<kHalf>(a, b, std::make_index_sequence<Vec<T>::kSize>());
}

// The same bits as lanes of another type of the same width.
template <class U, class T>
[[gnu::always_inline]] inline Vec<U> bit_cast_to(Vec<T> a) {
  static_assert(sizeof(U) == sizeof(T));
  return Vec<U>(reinterpret_cast<typename Vec<U>::Native>(a.v));
}
template <class U, class T>
[[gnu::always_inline]] inline Vec<U> convert_lanes(Vec<T> a) {
  static_assert(sizeof(U) == sizeof(T));
  return Vec<U>(__builtin_convertvector(a.v, typename Vec<U>::Native));
}

// Writes 1 or 0 as a byte per lane. (Without AVX-512, GCC 12 narrows wide masks lane by lane.)
template <class T>
[[gnu::always_inline]] inline void store_bools(Mask<T> mask, uint8_t* target) {
#if !defined(__AVX512F__)
  if constexpr (sizeof(T) >= 4) {
#if defined(__AVX2__)
    const auto lanes = reinterpret_cast<__m256i>(mask.v);
    __m128i packed =
        _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
#else
    const auto lanes = reinterpret_cast<__m128i>(mask.v);
    __m128i packed = _mm_packs_epi32(lanes, lanes);
#endif
    if constexpr (sizeof(T) == 8) packed = _mm_packs_epi32(packed, packed);
    const __m128i ones = _mm_abs_epi8(_mm_packs_epi16(packed, packed));
    __builtin_memcpy(target, &ones, Vec<T>::kSize);
    return;
  }
#endif
  typedef int8_t Bytes __attribute__((vector_size(kVecBytes / sizeof(T))));
  const Bytes bytes = -__builtin_convertvector(mask.v, Bytes);
  __builtin_memcpy(target, &bytes, sizeof(bytes));
}
// Reads one byte per lane; nonzero is true.
template <class T>
[[gnu::always_inline]] inline Mask<T> load_bools(const uint8_t* source) {
  typedef int8_t Bytes __attribute__((vector_size(kVecBytes / sizeof(T))));
  Bytes bytes;
  __builtin_memcpy(&bytes, source, sizeof(bytes));
  return {__builtin_convertvector(bytes != 0, typename Mask<T>::Native)};
}

// Calls fn on every lane: for functions without a vector form.
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> by_lane(Vec<T> a, Fn fn) {
  T lanes[Vec<T>::kSize];
  a.store(lanes);
  for (T& lane : lanes) lane = fn(lane);
  return Vec<T>::load(lanes);
}
template <class T, class Fn>
[[gnu::always_inline]] inline Vec<T> by_lane(Vec<T> a, Vec<T> b, Fn fn) {
  T left[Vec<T>::kSize];
  T right[Vec<T>::kSize];
  a.store(left);
  b.store(right);
  for (int i = 0; i < Vec<T>::kSize; ++i) left[i] = fn(left[i], right[i]);
  return Vec<T>::load(left);
}

// ---- Sign, minimum, maximum ----

template <class T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline Vec<T> sign_bit(Vec<T> a) {
  return bit_cast_to<T>(bit_cast_to<LaneInt<T>>(a) & bit_cast_to<LaneInt<T>>(Vec<T>(-0.0)));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> abs(Vec<T> a) {
  if constexpr (std::is_floating_point_v<T>) {
    using I = LaneInt<T>;
    return bit_cast_to<T>(bit_cast_to<I>(a) & ~bit_cast_to<I>(Vec<T>(-0.0)));
  } else if constexpr (std::is_signed_v<T>) {
    return select(a < Vec<T>(0), Vec<T>(0) - a, a);
  } else {
    return a;
  }
}
// `magnitude`, which is not negative, with the sign of `sign`.
template <class T>
[[gnu::always_inline]] inline Vec<T> with_sign(Vec<T> magnitude, Vec<T> sign) {
  using I = LaneInt<T>;
  return bit_cast_to<T>(bit_cast_to<I>(magnitude) | bit_cast_to<I>(sign_bit(sign)));
}
// Returns `a` if either is NaN.
template <class T>
[[gnu::always_inline]] inline Vec<T> at_least(Vec<T> a, Vec<T> limit) {
  if constexpr (std::is_floating_point_v<T>) return greater_of(limit, a);
  return select(a < limit, limit, a);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> at_most(Vec<T> a, Vec<T> limit) {
  if constexpr (std::is_floating_point_v<T>) return less_of(limit, a);
  return select(a > limit, limit, a);
}

}  // namespace tsr::cpu::TSR_ISA

#include "backend/common/vec_arch.h"
