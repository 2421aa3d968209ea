// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of folds whose state is one number (complex: a pair): along a run of elements, and
// across neighbouring results. See Note [Folds].
#pragma once

#include "backend/common/functors_reduce.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {

// The plan's first parameter, which reductions give as a float64.
[[gnu::always_inline]] inline double first_parameter(const Parameter* params) {
  double value;
  __builtin_memcpy(&value, params, sizeof(value));
  return value;
}

// One copy of a power for all places where elements are taken.
template <class S>
[[gnu::noinline]] S prepared_power(S x, double p) {
  return math::PowerNorm::prepare(x, p);
}

// What an element adds to a state of F.
template <class F, class S>
[[gnu::always_inline]] inline S prepared(S x, double p) {
  if constexpr (std::is_same_v<F, math::PowerNorm>)
    return prepared_power(x, p);
  else if constexpr (requires { F::prepare(x, p); })
    return F::prepare(x, p);
  else
    return x;
}
// The result of a state of F.
template <class F, class State>
[[gnu::always_inline]] inline auto finished(State state, int64_t n, double p) {
  if constexpr (requires { F::finish(state, n, p); })
    return F::finish(state, n, p);
  else
    return state;
}

// ---- Loading ----

// What memory holds for elements of T: 16-bit floats are named by their tags.
template <class T>
struct StorageOf {
  using type = T;
};
template <class T>
requires kIsShort<T>
struct StorageOf<T> {
  using type = uint16_t;
};
template <class T>
using Stored = typename StorageOf<T>::type;

// The type in which extrema of elements of T are compared.
template <class T>
using Compared = std::conditional_t<kIsShort<T>, float, T>;

// A vector of state numbers made from elements of T.
template <class S, class T>
[[gnu::always_inline]] inline S load_as(const Stored<T>* source) {
  if constexpr (kIsShort<T>) {
    static_assert(std::is_same_v<S, VF>);
    return T::load(source);
  } else if constexpr (std::is_same_v<T, typename S::Element>) {
    return S::load(source);
  } else {
    static_assert(std::is_same_v<T, float> && std::is_same_v<S, VD>);
    return load_widened(source);
  }
}
// The first of them, in every lane.
template <class S, class T>
[[gnu::always_inline]] inline S load_one(const Stored<T>* source) {
  if constexpr (kIsShort<T>) {
    uint16_t lanes[VF::kSize];
    for (uint16_t& lane : lanes) lane = *source;
    return T::load(lanes);
  } else {
    return S(static_cast<typename S::Element>(*source));
  }
}

// Sums of squares of float32, which are exact in float64, are fused multiply-adds everywhere.
template <class F, class T>
constexpr bool fuses_squares() {
  return kFusedMultiplyAdd && std::is_same_v<F, math::EuclideanNorm> && std::is_same_v<T, float>;
}

// The state with one more element.
template <class F, bool kFused, class S>
[[gnu::always_inline]] inline S with_element(S state, S x, double p) {
  if constexpr (kFused)
    return fma(x, x, state);
  else
    return F::merge(state, prepared<F>(x, p));
}

[[gnu::always_inline]] inline bool all_finite(VF a) {
  return !any(!(abs(a) < VF(kInfinity)));
}

// As many words as a vector has elements; words are float64 for every element type.
[[gnu::always_inline]] inline VDPair load_words(const double* words, VF) {
  return {VD::load(words), VD::load(words + VD::kSize)};
}
[[gnu::always_inline]] inline VD load_words(const double* words, VD) {
  return VD::load(words);
}
[[gnu::always_inline]] inline void store_words(VDPair value, double* words) {
  value.low.store(words);
  value.high.store(words + VD::kSize);
}
[[gnu::always_inline]] inline void store_words(VD value, double* words) {
  value.store(words);
}
[[gnu::always_inline]] inline VDPair operator+(VDPair a, VDPair b) {
  return {a.low + b.low, a.high + b.high};
}

// Merges the lanes of a vector state: the upper half into the lower half, until one lane is left.
template <class F, int kHalf, class S>
[[gnu::always_inline]] inline typename S::Element merge_halves(S state) {
  if constexpr (kHalf == 0) {
    return first_lane(state);
  } else {
    return merge_halves<F, kHalf / 2>(F::merge(state, rotate_lanes<kHalf>(state)));
  }
}
template <class F, class S>
[[gnu::always_inline]] inline typename S::Element merge_lanes(S state) {
  return merge_halves<F, S::kSize / 2>(state);
}

// ---- Lines side by side ----

// The processor fetches ahead within a page only, and of several pages at once. So memory is read
// faster where lines a page apart are folded side by side.

// Folds of float32 that are faster than memory.
template <class F, class T>
inline constexpr bool kHasLines = std::is_same_v<T, float> &&
                                  (std::is_same_v<F, math::Prod> ||
                                   std::is_same_v<F, math::EuclideanNorm>);
inline constexpr int64_t kPageOfFloats = 1024;

// Folds the elements of kLines lines, `step` elements apart, into one total each. A line has the
// same result in any company.
template <class F, class T, class S, bool kFused, int kLines>
[[gnu::always_inline]] inline void fold_lines(int64_t count, const Stored<T>* source, int64_t step,
                                              typename S::Element* totals, double p) {
  constexpr int kChains = kLines > 2 ? 2 : 4;  // hide the latency of the merge
  constexpr int64_t kStep = kChains * S::kSize;
  const auto at = [&](int line, int64_t place) {
    return load_as<S, T>(source + line * step + place);
  };
  int64_t i = 0;
  if (count >= S::kSize) {
    S joined[kLines];
    for (int l = 0; l < kLines; ++l) joined[l] = prepared<F>(at(l, 0), p);
    i = S::kSize;
    if (count >= kStep) {
      S chains[kLines][kChains];
#pragma GCC unroll 4
      for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c) chains[l][c] = prepared<F>(at(l, c * S::kSize), p);
      }
      for (i = kStep; i + kStep <= count; i += kStep) {
#pragma GCC unroll 4
        for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 4
          for (int c = 0; c < kChains; ++c)
            chains[l][c] = with_element<F, kFused>(chains[l][c], at(l, i + c * S::kSize), p);
        }
      }
#pragma GCC unroll 4
      for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 2
        for (int half = kChains / 2; half > 0; half /= 2) {
#pragma GCC unroll 2
          for (int c = 0; c < half; ++c) chains[l][c] = F::merge(chains[l][c], chains[l][c + half]);
        }
        joined[l] = chains[l][0];
      }
    }
    for (; i + S::kSize <= count; i += S::kSize) {
      for (int l = 0; l < kLines; ++l) joined[l] = with_element<F, kFused>(joined[l], at(l, i), p);
    }
    for (int l = 0; l < kLines; ++l)
      totals[l] = first_lane(F::merge(S(totals[l]), S(merge_lanes<F>(joined[l]))));
  }
  for (; i < count; ++i) {
    for (int l = 0; l < kLines; ++l) {
      const S x = load_one<S, T>(source + l * step + i);
      totals[l] = first_lane(F::merge(S(totals[l]), prepared<F>(x, p)));
    }
  }
}

template <class F, class T, class S, bool kFused>
void fold_run(int64_t count, const void* in, void* state, const Parameter* params) {
  const auto* source = static_cast<const Stored<T>*>(in);
  auto* total = static_cast<typename S::Element*>(state);
  const double p = first_parameter(params);
  if constexpr (kHasLines<F, T>) {
    for (; count >= 4 * kPageOfFloats; count -= 4 * kPageOfFloats, source += 4 * kPageOfFloats) {
      typename S::Element totals[4];
      for (auto& each : totals) each = F::template start<typename S::Element>();
      fold_lines<F, T, S, kFused, 4>(kPageOfFloats, source, kPageOfFloats, totals, p);
      for (const auto each : totals) *total = first_lane(F::merge(S(*total), S(each)));
    }
  }
  fold_lines<F, T, S, kFused, 1>(count, source, 0, total, p);
}

// fold_run of two lines, `step` bytes apart: side by side where they are too short for pages.
template <class F, class T, class S, bool kFused>
void fold_pair(int64_t count, const void* in, int64_t step, void* states, const Parameter* params) {
  auto* totals = static_cast<typename S::Element*>(states);
  if (count < 4 * kPageOfFloats) {
    const auto* source = static_cast<const Stored<T>*>(in);
    return fold_lines<F, T, S, kFused, 2>(count, source, step / static_cast<int64_t>(sizeof(T)),
                                          totals, first_parameter(params));
  }
  fold_run<F, T, S, kFused>(count, in, totals, params);
  fold_run<F, T, S, kFused>(count, static_cast<const char*>(in) + step, totals + 1, params);
}

template <class F, class T, class S>
void fold_along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
  fold_run<F, T, S, fuses_squares<F, T>()>(count, in, state, params);
}

// Row r of a block of them, from element j on.
template <class T>
[[gnu::always_inline]] inline const Stored<T>* row_at(const AcrossRows& rows, int64_t r,
                                                      int64_t j) {
  return reinterpret_cast<const Stored<T>*>(static_cast<const char*>(rows.first) + r * rows.step) +
         j;
}

// The states of kVectors registers of neighbouring results, from j on, stay there for all rows.
template <class F, class T, class S, bool kFused, int kVectors>
[[gnu::always_inline]] inline void fold_rows(int64_t j, const AcrossRows& rows,
                                             typename S::Element* totals, double p) {
  S state[kVectors];
  const auto fold = [&]<class G>() {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) state[v] = S::load(totals + j + v * S::kSize);
    for (int64_t r = 0; r < rows.count; ++r) {
      const Stored<T>* row = row_at<T>(rows, r, j);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        state[v] = with_element<G, kFused>(state[v], load_as<S, T>(row + v * S::kSize), p);
    }
  };
  if constexpr (std::is_same_v<F, math::Nansum> && std::is_floating_point_v<T>) {
    // NaNs are rare: without any, the sums are those of all elements.
    fold.template operator()<math::Sum>();
    S sum = state[0];
#pragma GCC unroll 8
    for (int v = 1; v < kVectors; ++v) sum = sum + state[v];
    if (any(sum != sum)) fold.template operator()<F>();
  } else {
    fold.template operator()<F>();
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) state[v].store(totals + j + v * S::kSize);
}

template <class F, class T, class S, bool kFused>
void fold_block(int64_t count, const AcrossRows& rows, void* state, const Parameter* params) {
  using E = typename S::Element;
  constexpr int kVectors = 4;  // folds that wait for each other only from row to row
  E* totals = static_cast<E*>(state);
  const double p = first_parameter(params);
  int64_t j = 0;
  for (; j + kVectors * S::kSize <= count; j += kVectors * S::kSize)
    fold_rows<F, T, S, kFused, kVectors>(j, rows, totals, p);
  for (; j + S::kSize <= count; j += S::kSize) fold_rows<F, T, S, kFused, 1>(j, rows, totals, p);
  for (; j < count; ++j) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const S x(static_cast<E>(*row_at<T>(rows, r, j)));
      totals[j] = first_lane(F::merge(S(totals[j]), prepared<F>(x, p)));
    }
  }
}

template <class F, class T, class S>
void fold_across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                 const Parameter* params) {
  fold_block<F, T, S, fuses_squares<F, T>()>(count, rows, state, params);
}

// Folds whose result is one of the elements (or its magnitude) compare elements in their own type;
// only the state is wide.
template <class F>
inline constexpr bool kIsExtremum =
    std::is_base_of_v<math::Max, F> || std::is_base_of_v<math::Min, F>;

// The extremum of `count` elements, a multiple of two registers and at least one pair, beside
// `extremum`. False if any is a NaN, which it does not see.
template <class F, class T, class V>
[[gnu::always_inline]] inline bool extremum_of_numbers(int64_t count, const Stored<T>* source,
                                                       double p, V& extremum) {
  NanSeen nan;
  V chains[2] = {extremum, extremum};
  for (int64_t i = 0; i < count; i += 2 * V::kSize) {
    const V first = prepared<F>(load_as<V, T>(source + i), p);
    const V second = prepared<F>(load_as<V, T>(source + i + V::kSize), p);
    nan.look(first, second);
    chains[0] = F::merge_numbers(chains[0], first);
    chains[1] = F::merge_numbers(chains[1], second);
  }
  extremum = F::merge(chains[0], chains[1]);
  return !nan.any_seen();
}

// NaNs are rare: they are looked for beside a fold that passes over them.
template <class F, class T>
void extremum_along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
  using E = Compared<T>;
  using V = Vec<E>;
  auto* total = static_cast<double*>(state);
  const auto* source = static_cast<const Stored<T>*>(in);
  E extremum = static_cast<E>(*total);
  const int64_t whole = count - count % (2 * V::kSize);
  int64_t i = 0;
  if (V vector(extremum);
      whole != 0 && extremum_of_numbers<F, T>(whole, source, first_parameter(params), vector)) {
    extremum = merge_lanes<F>(vector);
    i = whole;
  }
  if (i < count) fold_along<F, T, V>(count - i, source + i, before, &extremum, params);
  *total = static_cast<double>(extremum);
}

// As fold_across, but elements are compared in float32.
template <class F, class T>
void extremum_across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter* params) {
  auto* totals = static_cast<double*>(state);
  const double p = first_parameter(params);
  const auto at = [&](int64_t r, int64_t j) {
    return prepared<F>(load_as<VF, T>(row_at<T>(rows, r, j)), p);
  };
  int64_t j = 0;
  for (; j + VF::kSize <= count; j += VF::kSize) {
    const VF start = narrow(load_words(totals + j, VF()));
    VF total = start;
    NanSeen nan;
    int64_t r = 0;
    for (; r + 2 <= rows.count; r += 2) {
      const VF first = at(r, j);
      const VF second = at(r + 1, j);
      nan.look(first, second);
      total = F::merge_numbers(F::merge_numbers(total, first), second);
    }
    if (nan.any_seen()) {
      total = start;
      r = 0;
    }
    for (; r < rows.count; ++r) total = F::merge(total, at(r, j));
    store_words(widen(total), totals + j);
  }
  for (; j < count; ++j) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const VF x = prepared<F>(load_one<VF, T>(row_at<T>(rows, r, j)), p);
      totals[j] = first_lane(F::merge(VF(totals[j]), x));
    }
  }
}

// Folds that add up the elements themselves.
template <class F>
inline constexpr bool kIsPlainSum = std::is_same_v<F, math::Sum> || std::is_same_v<F, math::Mean>;

// ---- One number ----

// Elements of T, taken in as vectors S; the state is one number of S.
template <class F, class T, class S>
struct OneNumber {
  using State = typename S::Element;
  using States = OneNumber<F, State, S>;
  // States of neighbouring results are merged by adding vectors.
  static constexpr bool kMergesBySum = kIsPlainSum<F>;
  using Vector = S;
  // A mean is folded as a sum, by the same code.
  using Fold = std::conditional_t<kIsPlainSum<F>, math::Sum, F>;

  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    if constexpr (kIsExtremum<F> && std::is_same_v<T, float>)
      extremum_along<F, T>(count, in, before, state, params);
    else
      fold_along<Fold, T, S>(count, in, before, state, params);
  }
  static constexpr bool kPairs = kHasLines<Fold, T>;
  static void along_pair(int64_t count, const void* in, int64_t step, void* states,
                         const Parameter* params) {
    fold_pair<Fold, T, S, fuses_squares<Fold, T>()>(count, in, step, states, params);
  }
  static void across(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                     const Parameter* params) {
    if constexpr (kIsExtremum<F> && std::is_same_v<T, float>)
      extremum_across<F, T>(count, rows, before, state, width, params);
    else
      fold_across<Fold, T, S>(count, rows, before, state, width, params);
  }
  static State start() { return F::template start<State>(); }
  static State merge(State a, int64_t, State b, int64_t) {
    return first_lane(F::merge(S(a), S(b)));
  }
  static auto finish(State total, int64_t n, double p) { return finished<F>(total, n, p); }
};

// ---- The count of true bytes ----

template <class F>
struct CountOfTrue {
  using State = int64_t;

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const auto* source = static_cast<const uint8_t*>(in);
    constexpr int64_t kBytes = 16;
    __m128i sums = _mm_setzero_si128();  // of eight bytes each
    int64_t i = 0;
    for (; i + kBytes <= count; i += kBytes) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
      sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, _mm_setzero_si128()));
    }
    int64_t total = _mm_cvtsi128_si64(sums) + _mm_extract_epi64(sums, 1);
    for (; i < count; ++i) total += source[i];
    *static_cast<int64_t*>(state) += total;
  }
  static void across_row(int64_t count, const void* in, int64_t, void* state, int64_t,
                         const Parameter*) {
    const auto* source = static_cast<const uint8_t*>(in);
    auto* totals = static_cast<int64_t*>(state);
    for (int64_t j = 0; j < count; ++j) totals[j] += source[j];
  }
  static State start() { return 0; }
  static State merge(State a, int64_t, State b, int64_t) { return a + b; }
  static auto finish(State count, int64_t n, double p) { return F::finish(count, n, p); }
};

}  // namespace tsr::cpu::TSR_ISA
