// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 to and from vectors of float32; the same roundings as base/half.h.
#pragma once

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

// A VF's worth of 16-bit numbers.
typedef uint16_t Halves __attribute__((vector_size(kVecBytes / 2)));

// (GCC 12 widens the two halves of a register by themselves.)
[[gnu::always_inline]] inline VI widen_halves(const uint16_t* source) {
#if defined(__AVX512F__)
  return VI(reinterpret_cast<VI::Native>(
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(source)))));
#elif defined(__AVX2__)
  return VI(reinterpret_cast<VI::Native>(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source)))));
#else
  return VI(reinterpret_cast<VI::Native>(
      _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(source)))));
#endif
}
[[gnu::always_inline]] inline void narrow_halves(VI words, uint16_t* target) {
  const Halves halves = __builtin_convertvector(words.v, Halves);
  __builtin_memcpy(target, &halves, sizeof(halves));
}

[[gnu::always_inline]] inline VF load_bfloat(const uint16_t* source) {
  return bit_cast_to<float>(shift_left<16>(widen_halves(source)));
}
// The upper half of each word.
[[gnu::always_inline]] inline void store_upper_halves(Vec<uint32_t> words, uint16_t* target) {
#if defined(__AVX512F__)
  alignas(64) static constexpr uint16_t kOdd[32] = {1,  3,  5,  7,  9,  11, 13, 15,
                                                    17, 19, 21, 23, 25, 27, 29, 31};
  const __m512i moved =
      _mm512_permutexvar_epi16(_mm512_load_si512(kOdd), reinterpret_cast<__m512i>(words.v));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_castsi512_si256(moved));
#else
  narrow_halves(bit_cast_to<int32_t>(shift_right<16>(words)), target);
#endif
}
[[gnu::always_inline]] inline void store_bfloat(VF value, uint16_t* target) {
  using U = Vec<uint32_t>;
  const U word = bit_cast_to<uint32_t>(value);
  const U rounded = word + ((shift_right<16>(word) & U(1)) + U(0x7fff));
  const Mask<float> nan = value != value;
  store_upper_halves(U(nan.v ? (word | U(0x400000)).v : rounded.v), target);
}

#if defined(__AVX512F__)

[[gnu::always_inline]] inline VF load_half(const uint16_t* source) {
  return VF(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(source))));
}
[[gnu::always_inline]] inline void store_half(VF value, uint16_t* target) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target),
                      _mm512_cvtps_ph(value.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#elif defined(__F16C__)

[[gnu::always_inline]] inline VF load_half(const uint16_t* source) {
  return VF(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source))));
}
[[gnu::always_inline]] inline void store_half(VF value, uint16_t* target) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target),
                   _mm256_cvtps_ph(value.v, _MM_FROUND_TO_NEAREST_INT));
}

#else

// As Half::to_float: multiplying by 2**112 moves the exponent and makes denormals normal.
[[gnu::always_inline]] inline VF load_half(const uint16_t* source) {
  const VI half = widen_halves(source);
  const VI sign = shift_left<16>(half & VI(0x8000));
  const VI magnitude = shift_left<13>(half & VI(0x7fff));
  const VI scaled = bit_cast_to<int32_t>(bit_cast_to<float>(magnitude) * VF(5.192296858534828e33));
  const VI special = magnitude + VI(0x70000000);
  return bit_cast_to<float>(sign | select(magnitude >= VI(0x0f800000), special, scaled));
}
// As Half::from_float.
[[gnu::always_inline]] inline void store_half(VF value, uint16_t* target) {
  const VI word = bit_cast_to<int32_t>(value);
  const VI magnitude = word & VI(0x7fffffff);
  const VI sign = shift_right<16>(word) & VI(0x8000);
  const VI special = select(magnitude > VI(0x7f800000), VI(0x7e00), VI(0x7c00));
  const VI tiny = bit_cast_to<int32_t>(bit_cast_to<float>(magnitude) + VF(0.5)) - VI(0x3f000000);
  const VI odd = shift_right<13>(magnitude) & VI(1);
  const VI normal = shift_right<13>(magnitude - VI(0x37fff001) + odd);
  const VI finite = select(magnitude < VI(0x38800000), tiny, normal);
  narrow_halves(sign | select(magnitude >= VI(0x47800000), special, finite), target);
}

#endif

// The two types as tags: how memory holds a VF.
struct Float16 {
  using Storage = uint16_t;
  static constexpr uint16_t kOne = 0x3c00;
  [[gnu::always_inline]] static VF load(const uint16_t* source) { return load_half(source); }
  [[gnu::always_inline]] static void store(VF value, uint16_t* target) {
    store_half(value, target);
  }
};
struct Brain16 {
  using Storage = uint16_t;
  static constexpr uint16_t kOne = 0x3f80;
  [[gnu::always_inline]] static VF load(const uint16_t* source) { return load_bfloat(source); }
  [[gnu::always_inline]] static void store(VF value, uint16_t* target) {
    store_bfloat(value, target);
  }
};
template <class T>
inline constexpr bool kIsShort = std::is_same_v<T, Float16> || std::is_same_v<T, Brain16>;

// The first `count` numbers; the other lanes hold 1. (A loop of unknown length becomes a call.)
template <class Short>
[[gnu::always_inline]] inline VF load_short_part(const uint16_t* source, int64_t count) {
  uint16_t lanes[VF::kSize];
#if defined(__AVX512F__)
  const auto chosen = static_cast<__mmask16>((1U << count) - 1);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes),
                      _mm256_mask_loadu_epi16(_mm256_set1_epi16(Short::kOne), chosen, source));
#else
  for (uint16_t& lane : lanes) lane = Short::kOne;
  for (int64_t k = 0; k < count; ++k) lanes[k] = source[k];
#endif
  return Short::load(lanes);
}
template <class Short>
[[gnu::always_inline]] inline void store_short_part(VF value, uint16_t* target, int64_t count) {
  uint16_t lanes[VF::kSize];
  Short::store(value, lanes);
#if defined(__AVX512F__)
  const auto chosen = static_cast<__mmask16>((1U << count) - 1);
  _mm256_mask_storeu_epi16(target, chosen,
                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes)));
#else
  for (int64_t k = 0; k < count; ++k) target[k] = lanes[k];
#endif
}

}  // namespace tsr::cpu::TSR_ISA
