// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of folds whose state is a pair: positions, variance, log-sum-exp. Word w of result j is
// state[w * width + j].
#pragma once

#include "backend/cpu/isa/reduce_sum.h"
#include "backend/cpu/isa/score.h"

namespace tsr::cpu::TSR_ISA {

// ---- Positions: the first of the extremum F ----

template <class F, class T, class S>
void position_along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
  using E = typename S::Element;
  const T* source = static_cast<const T*>(in);
  E* best = static_cast<E*>(state);
  int64_t* position = static_cast<int64_t*>(state) + 1;
  T narrow = source[0];
  fold_along<F, T, Vec<T>>(count, in, 0, &narrow, params);
  const E extreme = static_cast<E>(narrow);
  if (*position >= 0 && !any(F::beats(S(extreme), S(*best)))) return;
  int64_t i = 0;
  // NaN does not equal itself, so a NaN extreme is searched for by x != x.
  while (extreme == extreme ? static_cast<E>(source[i]) != extreme : source[i] == source[i]) ++i;
  *best = extreme;
  *position = before + i;
}

template <class F, class T, class S>
void position_across(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                     const Parameter*) {
  using E = typename S::Element;
  const T* source = static_cast<const T*>(in);
  E* best = static_cast<E*>(state);
  int64_t* positions = static_cast<int64_t*>(state) + width;
  const VL here(before);
  int64_t j = 0;
  for (; j + S::kSize <= count; j += S::kSize) {
    const S candidate = load_as<S, T>(source + j);
    const S old = S::load(best + j);
    const VL position = VL::load(positions + j);
    const Mask<int64_t> better{F::beats(candidate, old).v | (position < VL(0)).v};
    select(Mask<E>{better.v}, candidate, old).store(best + j);
    select(better, here, position).store(positions + j);
  }
  for (; j < count; ++j) {
    const E candidate = static_cast<E>(source[j]);
    if (positions[j] < 0 || any(F::beats(S(candidate), S(best[j])))) {
      best[j] = candidate;
      positions[j] = before;
    }
  }
}

template <class F, class T, class S>
struct PositionLoops {
  using States = PositionLoops<F, typename S::Element, S>;
  struct State {
    typename S::Element value;
    int64_t position;  // -1: no element yet
  };

  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    position_along<F, T, S>(count, in, before, state, params);
  }
  static void across_row(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                         const Parameter* params) {
    position_across<F, T, S>(count, in, before, state, width, params);
  }
  static State start() { return {F::template start<typename S::Element>(), -1}; }
  static State merge(State a, int64_t, State b, int64_t) {
    if (b.position < 0) return a;
    return a.position < 0 || F::beats(b.value, a.value) ? b : a;
  }
  static int64_t finish(State state, int64_t, double) { return state.position; }
};

// ---- Variance: mean and sum of squared deviations ----

// Two passes over a run that is in the cache; the result is then merged into the state.
template <class T>
void variance_along(int64_t count, const void* in, int64_t before, void* state, const Parameter*) {
  const T* source = static_cast<const T*>(in);
  const auto n = static_cast<double>(count);
  const double mean = sum_of<T>(count, in) / n;
  double squares = 0;
  double rest = 0;
  int64_t i = 0;
  VD total(0.0);
  for (; i + VD::kSize <= count; i += VD::kSize) {
    const VD delta = load_as<VD, T>(source + i) - VD(mean);
    total = fma(delta, delta, total);
  }
  squares = merge_lanes<math::Sum>(total);
  for (; i < count; ++i) {
    const double delta = static_cast<double>(source[i]) - mean;
    rest += delta * delta;
  }
  squares += rest;
  auto* words = static_cast<double*>(state);
  const math::Var::State joined =
      math::Var::merge({words[0], words[1]}, static_cast<double>(before), {mean, squares}, n);
  words[0] = joined.mean;
  words[1] = joined.squares;
}

// Welford's update (1962).
template <class T>
void variance_across(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                     const Parameter*) {
  const T* source = static_cast<const T*>(in);
  auto* means = static_cast<double*>(state);
  double* squares = means + width;
  const double weight = 1.0 / static_cast<double>(before + 1);
  int64_t j = 0;
  for (; j + VD::kSize <= count; j += VD::kSize) {
    const VD x = load_as<VD, T>(source + j);
    const VD old = VD::load(means + j);
    const VD delta = x - old;
    const VD mean = fma(delta, VD(weight), old);
    mean.store(means + j);
    fma(delta, x - mean, VD::load(squares + j)).store(squares + j);
  }
  for (; j < count; ++j) {
    const double x = static_cast<double>(source[j]);
    const double delta = x - means[j];
    means[j] += delta * weight;
    squares[j] += delta * (x - means[j]);
  }
}

template <class T>
struct VarianceLoops : math::Var {
  using States = VarianceLoops<double>;
  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    variance_along<T>(count, in, before, state, params);
  }
  static void across_row(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                         const Parameter* params) {
    variance_across<T>(count, in, before, state, width, params);
  }
  static State merge(State a, int64_t n, State b, int64_t m) {
    return math::Var::merge(a, static_cast<double>(n), b, static_cast<double>(m));
  }
};

// ---- Log-sum-exp: maximum and sum of exp(x - maximum) ----

// Logsumexp::pivot for vectors.
template <class V>
[[gnu::always_inline]] inline V finite_or_zero(V maximum) {
  return select(abs(maximum) < V(kInfinity), maximum, V(0.0));
}

[[gnu::always_inline]] inline VD add_wide(VD total, VF terms) {
  const VDPair wide = widen(terms);
  return total + (wide.low + wide.high);
}
[[gnu::always_inline]] inline VD add_wide(VD total, VD terms) {
  return total + terms;
}

template <class T, class V>
void logsumexp_along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
  const T* source = static_cast<const T*>(in);
  auto* words = static_cast<double*>(state);
  double maximum = words[0];
  extremum_along<math::Max, T>(count, in, 0, &maximum, params);
  const double pivot = math::Logsumexp::pivot(maximum);
  double sum = math::Logsumexp::rescaled({words[0], words[1]}, pivot);
  VD total(0.0);
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) {
    total = add_wide(total, exp_of_score(V::load(source + i) - V(pivot)));
  }
  if (i < count) {
    const V rest = V::load_part(source + i, count - i, T(-kInfinity));
    total = add_wide(total, exp_of_score(rest - V(pivot)));
  }
  sum += merge_lanes<math::Sum>(total);
  words[0] = maximum;
  words[1] = sum;
}

[[gnu::always_inline]] inline VF as_elements(VDPair words) {
  return narrow(words);
}
[[gnu::always_inline]] inline VD as_elements(VD words) {
  return words;
}
[[gnu::always_inline]] inline VDPair as_words(VF elements) {
  return widen(elements);
}
[[gnu::always_inline]] inline VD as_words(VD elements) {
  return elements;
}
// sum * factor; an empty sum stays 0 even if the factor is infinite or NaN.
[[gnu::always_inline]] inline VD scale_sum(VD sum, VD factor) {
  return select(sum == VD(0.0), sum, sum * factor);
}
[[gnu::always_inline]] inline VDPair scale_sum(VDPair sum, VDPair factor) {
  return {scale_sum(sum.low, factor.low), scale_sum(sum.high, factor.high)};
}

// One more element from each of `rows` rows, at(0), at(1), ..., for each of V::kSize results.
template <class V, class At>
[[gnu::always_inline]] inline void logsumexp_rows(int64_t rows, const At& at, double* maxima,
                                                  double* sums) {
  const V old = as_elements(load_words(maxima, V()));
  auto sum = load_words(sums, V());
  V maximum = old;
  for (int64_t r = 0; r < rows; ++r) maximum = math::Max::merge(maximum, at(r));
  const V pivot = finite_or_zero(maximum);
  // Maxima rarely grow. If none does, every sum keeps its factor of 1.
  if (any(maximum != old)) {
    sum = scale_sum(sum, as_words(exp(finite_or_zero(old) - pivot)));
    store_words(as_words(maximum), maxima);
  }
  for (int64_t r = 0; r < rows; ++r) sum = sum + as_words(exp_of_score(at(r) - pivot));
  store_words(sum, sums);
}

template <class T, class V>
void logsumexp_across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t width,
                      const Parameter*) {
  auto* maxima = static_cast<double*>(state);
  double* sums = maxima + width;
  int64_t j = 0;
  for (; j + V::kSize <= count; j += V::kSize) {
    const auto at = [&](int64_t r) { return V::load(row_at<T>(rows, r, j)); };
    logsumexp_rows<V>(rows.count, at, maxima + j, sums + j);
  }
  if (j == count) return;
  const size_t rest = static_cast<size_t>(count - j) * sizeof(double);
  double tops[V::kSize] = {};
  double totals[V::kSize] = {};
  __builtin_memcpy(tops, maxima + j, rest);
  __builtin_memcpy(totals, sums + j, rest);
  const auto at = [&](int64_t r) { return V::load_part(row_at<T>(rows, r, j), count - j, T(0)); };
  logsumexp_rows<V>(rows.count, at, tops, totals);
  __builtin_memcpy(maxima + j, tops, rest);
  __builtin_memcpy(sums + j, totals, rest);
}

template <class T>
struct LogsumexpLoops : math::Logsumexp {
  using States = LogsumexpLoops<double>;
  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    logsumexp_along<T, Vec<T>>(count, in, before, state, params);
  }
  static void across(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                     const Parameter* params) {
    logsumexp_across<T, Vec<T>>(count, rows, before, state, width, params);
  }
  static State merge(State a, int64_t, State b, int64_t) { return math::Logsumexp::merge(a, b); }
};

}  // namespace tsr::cpu::TSR_ISA
