// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of extrema of integers that are narrower than the state. Each element becomes a signed
// integer of its own width such that the extremum is the largest of them, and only the largest of a
// run or of a group of rows is widened. So both extrema share a loop for each width.
#pragma once

#include <algorithm>
#include <limits>

#include "backend/cpu/isa/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {

template <class F>
inline constexpr bool kHasNarrowLoops =
    std::is_same_v<F, math::Max> || std::is_same_v<F, math::Min>;

// Element x is compared as y = x ^ flip; y + shift is in the order of the states.
template <class T>
struct NarrowOrder {
  T flip;
  int64_t shift;

  [[gnu::always_inline]] int64_t take(int64_t state, T largest) const {
    const int64_t wide = largest + shift;
    return wide > state ? wide : state;
  }
};

// The state is the largest number so far; for minima, of the numbers' complements.
template <class F>
struct LargestState {
  using State = int64_t;
  static constexpr State kTurn = std::is_same_v<F, math::Max> ? 0 : -1;

  static State start() { return std::numeric_limits<State>::min(); }
  static State merge(State a, int64_t, State b, int64_t) { return b > a ? b : a; }
  static State finish(State largest, int64_t, double) { return largest ^ kTurn; }
};

// The larger numbers of each lane of T. (GCC 12 makes a comparison and a choice of a > b ? a : b.)
[[gnu::always_inline]] inline __m128i larger_of(__m128i a, __m128i b, int8_t) {
  return _mm_max_epi8(a, b);
}
[[gnu::always_inline]] inline __m128i larger_of(__m128i a, __m128i b, int16_t) {
  return _mm_max_epi16(a, b);
}
[[gnu::always_inline]] inline __m128i larger_of(__m128i a, __m128i b, int32_t) {
  return _mm_max_epi32(a, b);
}
#if defined(__AVX2__)
[[gnu::always_inline]] inline __m256i larger_of(__m256i a, __m256i b, int8_t) {
  return _mm256_max_epi8(a, b);
}
[[gnu::always_inline]] inline __m256i larger_of(__m256i a, __m256i b, int16_t) {
  return _mm256_max_epi16(a, b);
}
[[gnu::always_inline]] inline __m256i larger_of(__m256i a, __m256i b, int32_t) {
  return _mm256_max_epi32(a, b);
}
#endif
#if defined(__AVX512F__)
[[gnu::always_inline]] inline __m512i larger_of(__m512i a, __m512i b, int8_t) {
  return _mm512_max_epi8(a, b);
}
[[gnu::always_inline]] inline __m512i larger_of(__m512i a, __m512i b, int16_t) {
  return _mm512_max_epi16(a, b);
}
[[gnu::always_inline]] inline __m512i larger_of(__m512i a, __m512i b, int32_t) {
  return _mm512_max_epi32(a, b);
}
using NarrowBits = __m512i;
#elif defined(__AVX2__)
using NarrowBits = __m256i;
#else
using NarrowBits = __m128i;
#endif

template <class T>
[[gnu::always_inline]] inline Vec<T> larger_of(Vec<T> a, Vec<T> b) {
  const NarrowBits larger =
      larger_of(reinterpret_cast<NarrowBits>(a.v), reinterpret_cast<NarrowBits>(b.v), T());
  return Vec<T>(reinterpret_cast<typename Vec<T>::Native>(larger));
}
template <class T>
[[gnu::always_inline]] inline T largest_of_lanes(Vec<T> a) {
  const auto bits = reinterpret_cast<NarrowBits>(a.v);
#if defined(__AVX512F__)
  const __m256i half =
      larger_of(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1), T());
#elif defined(__AVX2__)
  const __m256i half = bits;
#endif
#if defined(__AVX2__)
  __m128i rest = larger_of(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1), T());
#else
  __m128i rest = bits;
#endif
  rest = larger_of(rest, _mm_srli_si128(rest, 8), T());
  rest = larger_of(rest, _mm_srli_si128(rest, 4), T());
  if constexpr (sizeof(T) <= 2) rest = larger_of(rest, _mm_srli_si128(rest, 2), T());
  if constexpr (sizeof(T) == 1) rest = larger_of(rest, _mm_srli_si128(rest, 1), T());
  return static_cast<T>(_mm_cvtsi128_si32(rest));
}

// The largest x ^ flips of `count` elements. The last register begins before the end of another one
// where it must: to see an element twice does no harm.
template <class T>
[[gnu::always_inline]] inline T largest_of_run(int64_t count, const T* source, Vec<T> flips) {
  using V = Vec<T>;
  if (count < V::kSize) return largest_of_lanes(V::load_part(source, count, source[0]) ^ flips);
  constexpr int kChains = 4;
  const auto at = [&](int64_t i) { return V::load(source + i) ^ flips; };
  V best = at(0);
  int64_t i = V::kSize;
  if (count >= 2 * kChains * V::kSize) {
    V chains[kChains] = {best, best, best, best};
    for (; i + kChains * V::kSize <= count; i += kChains * V::kSize) {
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) chains[c] = larger_of(chains[c], at(i + c * V::kSize));
    }
    best = larger_of(larger_of(chains[0], chains[1]), larger_of(chains[2], chains[3]));
  }
  for (; i + V::kSize < count; i += V::kSize) best = larger_of(best, at(i));
  best = larger_of(best, at(count - V::kSize));
  return largest_of_lanes(best);
}
template <class T>
[[gnu::noinline]] void largest_along(int64_t rows, int64_t count, const void* in, int64_t step,
                                     const NarrowOrder<T>& order, int64_t* states) {
  const Vec<T> flips(order.flip);
  const auto* row = static_cast<const char*>(in);
  for (int64_t r = 0; r < rows; ++r, row += step) {
    const T largest = largest_of_run(count, reinterpret_cast<const T*>(row), flips);
    states[r] = order.take(states[r], largest);
  }
}

// A register of columns at a time. The last one begins before the end of another one where it must;
// fewer columns than it has lanes are copied.
template <class T>
[[gnu::noinline]] void largest_across(int64_t count, const AcrossRows& rows,
                                      const NarrowOrder<T>& order, int64_t* states) {
  using V = Vec<T>;
  const V flips(order.flip);
  const NarrowOrder<T> own = order;
  const bool part = count < V::kSize;
  int64_t padded[V::kSize] = {};
  if (part) std::copy_n(states, count, padded);
  for (int64_t j = 0; j < count; j += V::kSize) {
    const int64_t first = part || j + V::kSize <= count ? j : count - V::kSize;
    const auto at = [&](int64_t r) {
      const T* row = row_at<T>(rows, r, first);
      return (part ? V::load_part(row, count, T(0)) : V::load(row)) ^ flips;
    };
    V best = at(0);
    for (int64_t r = 1; r < rows.count; ++r) best = larger_of(best, at(r));
    T largest[V::kSize];
    best.store(largest);
    int64_t* totals = part ? padded : states + first;
#pragma omp simd
    for (int k = 0; k < V::kSize; ++k) totals[k] = own.take(totals[k], largest[k]);
  }
  if (part) std::copy_n(padded, count, states);
}

// Extremum F of elements of T.
template <class F, class T>
struct NarrowExtremum : LargestState<F> {
  using States = LargestState<F>;
  using Signed = std::make_signed_t<T>;
  static constexpr int64_t kLeast = std::is_signed_v<T> ? 0 : std::numeric_limits<Signed>::min();
  static constexpr NarrowOrder<Signed> kOrder = {static_cast<Signed>(States::kTurn ^ kLeast),
                                                 States::kTurn == 0 ? -kLeast : kLeast};

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    largest_along(1, count, in, 0, kOrder, static_cast<int64_t*>(state));
  }
  static void along_rows(int64_t rows, int64_t count, const void* in, int64_t step, void* states,
                         int64_t, const Parameter*) {
    largest_along(rows, count, in, step, kOrder, static_cast<int64_t*>(states));
  }
  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter*) {
    largest_across(count, rows, kOrder, static_cast<int64_t*>(state));
  }
};

}  // namespace tsr::cpu::TSR_ISA
