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

// What an element adds to a state of F.
template <class F, class S>
[[gnu::always_inline]] inline S prepared(S x, double p) {
  if constexpr (requires { F::prepare(x, p); })
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

// A vector of state numbers made from elements of T.
template <class S, class T>
[[gnu::always_inline]] inline S load_as(const T* source) {
  if constexpr (std::is_same_v<T, typename S::Element>) {
    return S::load(source);
  } else {
    static_assert(std::is_same_v<T, float> && std::is_same_v<S, VD>);
    return load_widened(source);
  }
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

template <class F, class T, class S>
void fold_along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
  using E = typename S::Element;
  constexpr int kChains = 4;  // hide the latency of the merge
  constexpr int64_t kStep = kChains * S::kSize;
  const T* source = static_cast<const T*>(in);
  E* total = static_cast<E*>(state);
  const double p = first_parameter(params);
  const auto at = [&](int64_t place) { return prepared<F>(load_as<S>(source + place), p); };
  int64_t i = 0;
  if (count >= S::kSize) {
    S joined = at(0);
    i = S::kSize;
    if (count >= kStep) {
      S chains[kChains] = {joined, at(S::kSize), at(2 * S::kSize), at(3 * S::kSize)};
      for (i = kStep; i + kStep <= count; i += kStep) {
        for (int c = 0; c < kChains; ++c) chains[c] = F::merge(chains[c], at(i + c * S::kSize));
      }
      joined = F::merge(F::merge(chains[0], chains[1]), F::merge(chains[2], chains[3]));
    }
    for (; i + S::kSize <= count; i += S::kSize) joined = F::merge(joined, at(i));
    *total = first_lane(F::merge(S(*total), S(merge_lanes<F>(joined))));
  }
  for (; i < count; ++i)
    *total = first_lane(F::merge(S(*total), prepared<F>(S(static_cast<E>(source[i])), p)));
}

template <class F, class T, class S>
void fold_across(int64_t count, const void* in, int64_t, void* state, int64_t,
                 const Parameter* params) {
  using E = typename S::Element;
  const T* source = static_cast<const T*>(in);
  E* totals = static_cast<E*>(state);
  const double p = first_parameter(params);
  int64_t j = 0;
  for (; j + S::kSize <= count; j += S::kSize) {
    F::merge(S::load(totals + j), prepared<F>(load_as<S>(source + j), p)).store(totals + j);
  }
  for (; j < count; ++j) {
    totals[j] = first_lane(F::merge(S(totals[j]), prepared<F>(S(static_cast<E>(source[j])), p)));
  }
}

// Folds whose result is one of the elements (or its magnitude) compare elements in their own type;
// only the state is wide.
template <class F>
inline constexpr bool kIsExtremum =
    std::is_base_of_v<math::Max, F> || std::is_base_of_v<math::Min, F>;

template <class F, class T>
void extremum_along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
  auto* total = static_cast<double*>(state);
  T extremum = static_cast<T>(*total);
  fold_along<F, T, Vec<T>>(count, in, before, &extremum, params);
  *total = static_cast<double>(extremum);
}

// NaNs are rare: a piece of the run is added up as it is, and once more without its NaNs if the sum
// is one. (Infinities of both signs give NaN both times.)
template <class T, class S>
void nansum_along(int64_t count, const void* in, int64_t before, void* state,
                  const Parameter* params) {
  constexpr int64_t kPiece = 4096;
  const T* source = static_cast<const T*>(in);
  double* total = static_cast<double*>(state);
  bool clean = true;
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t part = count - i < kPiece ? count - i : kPiece;
    double sum = 0;
    if (clean) {
      fold_along<math::Sum, T, S>(part, source + i, before, &sum, params);
      clean = sum == sum;
    }
    if (!clean) {
      sum = 0;
      fold_along<math::Nansum, T, S>(part, source + i, before, &sum, params);
    }
    *total += sum;
  }
}

// ---- One number ----

// Elements of T, taken in as vectors S; the state is one number of S.
template <class F, class T, class S>
struct OneNumber {
  using State = typename S::Element;

  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    if constexpr (kIsExtremum<F> && std::is_same_v<T, float>)
      extremum_along<F, T>(count, in, before, state, params);
    else if constexpr (std::is_same_v<F, math::Nansum> && std::is_floating_point_v<T>)
      nansum_along<T, S>(count, in, before, state, params);
    else
      fold_along<F, T, S>(count, in, before, state, params);
  }
  static void across(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                     const Parameter* params) {
    fold_across<F, T, S>(count, in, before, state, width, params);
  }
  static State start() { return F::template start<State>(); }
  static State merge(State a, int64_t, State b, int64_t) {
    return first_lane(F::merge(S(a), S(b)));
  }
  static auto finish(State total, int64_t n, double p) { return finished<F>(total, n, p); }
};

// ---- A complex number: two words ----

template <class F>
struct OneComplex {
  using State = math::Complex<double>;

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
    const auto* source = static_cast<const double*>(in);
    auto* words = static_cast<double*>(state);
    const double p = first_parameter(params);
    State total(words[0], words[1]);
    for (int64_t i = 0; i < count; ++i)
      total = F::merge(total, prepared<F>(State(source[2 * i], source[2 * i + 1]), p));
    words[0] = total.re;
    words[1] = total.im;
  }
  static void across(int64_t count, const void* in, int64_t, void* state, int64_t width,
                     const Parameter* params) {
    const auto* source = static_cast<const double*>(in);
    auto* real = static_cast<double*>(state);
    double* imaginary = real + width;
    const double p = first_parameter(params);
    for (int64_t j = 0; j < count; ++j) {
      const State total = F::merge(State(real[j], imaginary[j]),
                                   prepared<F>(State(source[2 * j], source[2 * j + 1]), p));
      real[j] = total.re;
      imaginary[j] = total.im;
    }
  }
  static State start() { return F::template start<State>(); }
  static State merge(State a, int64_t, State b, int64_t) { return F::merge(a, b); }
  static auto finish(State total, int64_t n, double p) { return finished<F>(total, n, p); }
};

// ---- The count of true bytes ----

template <class F>
struct CountOfTrue {
  using State = int64_t;

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const auto* source = static_cast<const uint8_t*>(in);
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += source[i];
    *static_cast<int64_t*>(state) += total;
  }
  static void across(int64_t count, const void* in, int64_t, void* state, int64_t,
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
