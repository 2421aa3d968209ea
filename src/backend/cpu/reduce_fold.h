// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops behind rows_reduce.cpp: folding along a run of elements, and across neighbouring
// results.
#pragma once

#include "backend/cpu/row_loop.h"

namespace tsr::cpu::TSR_ISA {

// ---- Folds with one word ----
// `start` is the state before any element, `step` takes one in, `merge` joins two states.

struct Plain {
  template <class S>
  static S prepare(S x, const Parameter*) {
    return x;
  }
};
struct Absolute {
  template <class S>
  static S prepare(S x, const Parameter*) {
    return abs(x);
  }
};
struct Squared {
  template <class S>
  static S prepare(S x, const Parameter*) {
    return x * x;
  }
};
struct Powered {
  template <class S>
  static S prepare(S x, const Parameter* params) {
    return pow(abs(x), Access<S>::parameter(params[0]));
  }
};

template <class Prepare>
struct Summing : Prepare {
  template <class S>
  static S merge(S a, S b) {
    return a + b;
  }
  template <class E>
  static E start() {
    return E(0);
  }
};
// The larger of two, where a NaN of either stays.
template <class Prepare>
struct Largest : Prepare {
  template <class S>
  static S merge(S a, S b) {
    return select((b > a) | (b != b), b, a);
  }
};
template <class Prepare>
struct Smallest : Prepare {
  template <class S>
  static S merge(S a, S b) {
    return select((b < a) | (b != b), b, a);
  }
};
struct ProdFold : Plain {
  template <class S>
  static S merge(S a, S b) {
    return a * b;
  }
  template <class E>
  static E start() {
    return E(1);
  }
};
using SumFold = Summing<Plain>;
using SumAbsFold = Summing<Absolute>;
using SumSquaresFold = Summing<Squared>;
using SumPowersFold = Summing<Powered>;
using MaxFold = Largest<Plain>;
using MinFold = Smallest<Plain>;
using MaxAbsFold = Largest<Absolute>;
using MinAbsFold = Smallest<Absolute>;

// ---- Loading ----

// A vector of state numbers made from elements of T.
template <class S, class T>
[[gnu::always_inline]] inline S load_as(const T* source) {
  if constexpr (std::is_same_v<T, typename S::Element>) {
    return S::load(source);
  } else {
    typedef T Narrow __attribute__((vector_size(S::kSize * sizeof(T))));
    Narrow narrow;
    __builtin_memcpy(&narrow, source, sizeof(narrow));
    return S(__builtin_convertvector(narrow, typename S::Native));
  }
}

// Joins the lanes of a vector state: halves are merged until one lane is left.
template <class F, class S>
[[gnu::always_inline]] inline typename S::Element merge_lanes(S state) {
  typename S::Element lanes[2 * S::kSize] = {};
  for (int half = S::kSize / 2; half > 0; half /= 2) {
    state.store(lanes);
    state = F::merge(state, S::load(lanes + half));
  }
  state.store(lanes);
  return lanes[0];
}

// ---- Along and across ----

template <class F, class T, class S>
void fold_along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
  using E = typename S::Element;
  constexpr int kChains = 4;  // hide the latency of the merge
  constexpr int64_t kStep = kChains * S::kSize;
  const T* source = static_cast<const T*>(in);
  E* total = static_cast<E*>(state);
  int64_t i = 0;
  if (count >= kStep) {
    S chains[kChains];
    for (int c = 0; c < kChains; ++c)
      chains[c] = F::prepare(load_as<S>(source + c * S::kSize), params);
    for (i = kStep; i + kStep <= count; i += kStep) {
      for (int c = 0; c < kChains; ++c) {
        chains[c] = F::merge(chains[c], F::prepare(load_as<S>(source + i + c * S::kSize), params));
      }
    }
    const S joined = F::merge(F::merge(chains[0], chains[1]), F::merge(chains[2], chains[3]));
    *total = first_lane(F::merge(S(*total), S(merge_lanes<F>(joined))));
  }
  for (; i < count; ++i)
    *total = first_lane(F::merge(S(*total), F::prepare(S(static_cast<E>(source[i])), params)));
}

template <class F, class T, class S>
void fold_across(int64_t count, const void* in, int64_t, void* state, int64_t,
                 const Parameter* params) {
  using E = typename S::Element;
  const T* source = static_cast<const T*>(in);
  E* totals = static_cast<E*>(state);
  int64_t j = 0;
  for (; j + S::kSize <= count; j += S::kSize) {
    F::merge(S::load(totals + j), F::prepare(load_as<S>(source + j), params)).store(totals + j);
  }
  for (; j < count; ++j) {
    totals[j] =
        first_lane(F::merge(S(totals[j]), F::prepare(S(static_cast<E>(source[j])), params)));
  }
}

// ---- Complex sums and products: two words ----

template <class F>
[[gnu::always_inline]] inline void merge_complex(double* re, double* im, double x, double y) {
  if constexpr (std::is_same_v<F, SumFold>) {
    *re += x;
    *im += y;
  } else {
    const double real = *re * x - *im * y;
    *im = *re * y + *im * x;
    *re = real;
  }
}
template <class F>
void complex_along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
  const auto* source = static_cast<const double*>(in);
  auto* total = static_cast<double*>(state);
  for (int64_t i = 0; i < count; ++i)
    merge_complex<F>(total, total + 1, source[2 * i], source[2 * i + 1]);
}
template <class F>
void complex_across(int64_t count, const void* in, int64_t, void* state, int64_t width,
                    const Parameter*) {
  const auto* source = static_cast<const double*>(in);
  auto* totals = static_cast<double*>(state);
  for (int64_t j = 0; j < count; ++j) {
    merge_complex<F>(totals + j, totals + width + j, source[2 * j], source[2 * j + 1]);
  }
}

// ---- Counting bytes of 0 and 1 ----

inline void count_along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
  const auto* source = static_cast<const uint8_t*>(in);
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += source[i];
  *static_cast<int64_t*>(state) += total;
}
inline void count_across(int64_t count, const void* in, int64_t, void* state, int64_t,
                         const Parameter*) {
  const auto* source = static_cast<const uint8_t*>(in);
  auto* totals = static_cast<int64_t*>(state);
  for (int64_t j = 0; j < count; ++j) totals[j] += source[j];
}

// ---- Positions: the first of the largest (smallest); a NaN beats every number ----

template <bool kLargest, class S>
[[gnu::always_inline]] inline auto beats(S candidate, S best) {
  const auto closer = kLargest ? candidate > best : candidate < best;
  return closer | ((candidate != candidate) & (best == best));
}

template <bool kLargest, class T, class S>
void position_along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
  using E = typename S::Element;
  using F = std::conditional_t<kLargest, MaxFold, MinFold>;
  const T* source = static_cast<const T*>(in);
  E* best = static_cast<E*>(state);
  int64_t* position = static_cast<int64_t*>(state) + 1;
  E extreme = static_cast<E>(source[0]);
  fold_along<F, T, S>(count, in, 0, &extreme, params);
  if (*position >= 0 && !any(beats<kLargest>(S(extreme), S(*best)))) return;
  int64_t i = 0;
  // A NaN extreme equals nothing: it is looked for by being unequal to itself.
  while (extreme == extreme ? static_cast<E>(source[i]) != extreme : source[i] == source[i]) ++i;
  *best = extreme;
  *position = before + i;
}

template <bool kLargest, class T, class S>
void position_across(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                     const Parameter*) {
  using E = typename S::Element;
  const T* source = static_cast<const T*>(in);
  E* best = static_cast<E*>(state);
  int64_t* positions = static_cast<int64_t*>(state) + width;
  const VL here(before);
  int64_t j = 0;
  for (; j + S::kSize <= count; j += S::kSize) {
    const S candidate = load_as<S>(source + j);
    const S old = S::load(best + j);
    const VL position = VL::load(positions + j);
    const Mask<int64_t> better{beats<kLargest>(candidate, old).v | (position < VL(0)).v};
    select(Mask<E>{better.v}, candidate, old).store(best + j);
    select(better, here, position).store(positions + j);
  }
  for (; j < count; ++j) {
    const E candidate = static_cast<E>(source[j]);
    if (positions[j] < 0 || any(beats<kLargest>(S(candidate), S(best[j])))) {
      best[j] = candidate;
      positions[j] = before;
    }
  }
}

// ---- Variance: mean and sum of squared deviations ----

// Two passes over a run that is in the cache, then joined to what came before (Chan, Golub, LeVeque
// 1983).
template <class T>
void variance_along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
  const T* source = static_cast<const T*>(in);
  double sum = 0;
  fold_along<SumFold, T, VD>(count, in, 0, &sum, params);
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  double squares = 0;
  double rest = 0;
  int64_t i = 0;
  VD total(0.0);
  for (; i + VD::kSize <= count; i += VD::kSize) {
    const VD delta = load_as<VD>(source + i) - VD(mean);
    total = fma(delta, delta, total);
  }
  squares = merge_lanes<SumFold>(total);
  for (; i < count; ++i) {
    const double delta = static_cast<double>(source[i]) - mean;
    rest += delta * delta;
  }
  squares += rest;
  auto* words = static_cast<double*>(state);
  const auto old = static_cast<double>(before);
  const double shift = mean - words[0];
  words[0] += shift * n / (old + n);
  words[1] += squares + shift * shift * old * n / (old + n);
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
    const VD x = load_as<VD>(source + j);
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

// ---- Log-sum-exp: maximum and sum of exp(x - maximum) ----

// What is subtracted: infinities are not, since inf - inf is no number.
template <class V>
[[gnu::always_inline]] inline V finite_or_zero(V maximum) {
  return select(abs(maximum) < V(kInfinity), maximum, V(0.0));
}
[[gnu::always_inline]] inline double finite_or_zero(double maximum) {
  return __builtin_fabs(maximum) < kInfinity ? maximum : 0.0;
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
  fold_along<MaxFold, T, VD>(count, in, 0, &maximum, params);
  const double pivot = finite_or_zero(maximum);
  double sum = words[1] == 0 ? 0 : words[1] * __builtin_exp(finite_or_zero(words[0]) - pivot);
  VD total(0.0);
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) {
    total = add_wide(total, exp(V::load(source + i) - V(pivot)));
  }
  if (i < count) {
    const V rest = V::load_part(source + i, count - i, T(-kInfinity));
    total = add_wide(total, exp(rest - V(pivot)));
  }
  sum += merge_lanes<SumFold>(total);
  words[0] = maximum;
  words[1] = sum;
}

template <class T, class V>
void logsumexp_across(int64_t count, const void* in, int64_t, void* state, int64_t width,
                      const Parameter*) {
  const T* source = static_cast<const T*>(in);
  auto* maxima = static_cast<double*>(state);
  double* sums = maxima + width;
  for (int64_t j = 0; j < count; j += V::kSize) {
    const int64_t part = count - j < V::kSize ? count - j : V::kSize;
    T old_lanes[V::kSize];
    T grown[V::kSize];
    T added[V::kSize];
    T top[V::kSize];
    for (int k = 0; k < V::kSize; ++k)
      old_lanes[k] = k < part ? static_cast<T>(maxima[j + k]) : T(0);
    const V x = part == V::kSize ? V::load(source + j) : V::load_part(source + j, part, T(0));
    const V old = V::load(old_lanes);
    const V maximum = MaxFold::merge(old, x);
    const V pivot = finite_or_zero(maximum);
    maximum.store(top);
    exp(x - pivot).store(added);
    exp(finite_or_zero(old) - pivot).store(grown);
    for (int64_t k = 0; k < part; ++k) {
      const double before = sums[j + k];
      sums[j + k] = (before == 0 ? 0 : before * static_cast<double>(grown[k])) +
                    static_cast<double>(added[k]);
      maxima[j + k] = static_cast<double>(top[k]);
    }
  }
}

}  // namespace tsr::cpu::TSR_ISA
