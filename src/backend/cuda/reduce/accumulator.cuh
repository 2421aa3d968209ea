// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Accumulator: the state of one thread in a reduction, for every kind of fold (see Note [Folds]).
// start(), take(element, position, p), join(the state of later elements), finish(n, p).
#pragma once

#include "backend/common/functors_reduce.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

// The plain number inside a value, for finish().
template <class T>
__device__ T plain(Number<T> value) {
  return value.v;
}
template <class T>
__device__ math::Complex<T> plain(ComplexNumber<T> value) {
  return {value.re.v, value.im.v};
}

// ---- One number ----

template <class F, class V>
struct FoldAccumulator {
  using Value = V;
  V state;

  __device__ void start() {
    if constexpr (requires { typename V::Element; })
      state = V(F::template start<typename V::Element>());
    else
      state = F::template start<V>();
  }
  __device__ void take(V x, int64_t, double p) {
    if constexpr (requires { F::prepare(x, p); })
      state = F::merge(state, F::prepare(x, p));
    else
      state = F::merge(state, x);
  }
  __device__ void join(const FoldAccumulator& later) { state = F::merge(state, later.state); }
  __device__ auto finish(int64_t n, double p) const {
    if constexpr (requires { F::finish(plain(state), n, p); })
      return F::finish(plain(state), n, p);
    else
      return plain(state);
  }
};

// ---- Counts of true elements ----

template <class F>
struct CountAccumulator {
  using Value = Number<int64_t>;
  int64_t count;

  __device__ void start() { count = 0; }
  __device__ void take(Value x, int64_t, double) { count += x.v != 0 ? 1 : 0; }
  __device__ void join(const CountAccumulator& later) { count += later.count; }
  __device__ auto finish(int64_t n, double p) const { return F::finish(count, n, p); }
};

// ---- Positions of extrema: the first of equal ones ----

template <class F, class V>
struct PositionAccumulator {
  using Value = V;
  using Order = typename F::PositionOf;
  V best;
  int64_t position;  // -1: nothing yet

  __device__ void start() {
    best = V(0);
    position = -1;
  }
  __device__ void take(V x, int64_t at, double) {
    if (position < 0 || Order::beats(x, best)) {
      best = x;
      position = at;
    }
  }
  __device__ void join(const PositionAccumulator& other) {
    if (other.position < 0) return;
    const bool better = position < 0 || Order::beats(other.best, best);
    const bool equal = !Order::beats(best, other.best) && other.position < position;
    if (better || equal) *this = other;
  }
  __device__ int64_t finish(int64_t, double) const { return position; }
};

// ---- Two numbers ----

// Elements are taken in tiles: sums of differences from a pivot, so that an element costs no
// division. The pivot is the mean of the elements before, at first the first element; so it is
// never far from all of them, and little cancels.
struct VarAccumulator {
  using Value = Number<double>;
  static constexpr int kTile = 16;
  math::Var::State state;  // of `count` elements; its mean is the pivot
  double count;
  double sum, squares;  // of the differences in the open tile
  int64_t open;

  __device__ void start() {
    state = math::Var::start();
    count = sum = squares = 0;
    open = 0;
  }
  __device__ void take(Value x, int64_t, double) {
    if (open == 0 && count == 0) state.mean = x.v;
    const double d = x.v - state.mean;
    sum += d;
    squares += d * d;
    if (++open == kTile) settle();
  }
  __device__ void join(VarAccumulator later) {
    settle();
    later.settle();
    if (later.count == 0) return;
    state = math::Var::merge(state, count, later.state, later.count);
    count += later.count;
  }
  __device__ double finish(int64_t n, double p) const {
    VarAccumulator whole = *this;
    whole.settle();
    return math::Var::finish(whole.state, n, p);
  }

 private:
  __device__ void settle() {
    if (open == 0) return;
    const double m = static_cast<double>(open);
    const double rest = squares - sum * sum / m;  // rounding may make it negative; NaN stays
    state = math::Var::merge(state, count, {state.mean + sum / m, rest < 0 ? 0.0 : rest}, m);
    count += m;
    sum = squares = 0;
    open = 0;
  }
};

// One exponential per element, whichever of the two is larger.
struct LogsumexpAccumulator {
  using Value = Number<double>;
  math::Logsumexp::State state;

  __device__ void start() { state = math::Logsumexp::start(); }
  __device__ void take(Value x, int64_t, double) {
    if (x.v <= state.maximum) {
      state.sum += std::exp(x.v - math::Logsumexp::pivot(state.maximum));
      return;
    }
    const double base = math::Logsumexp::pivot(x.v);
    const double own = x.v == base ? 1.0 : std::exp(x.v - base);  // of infinity and NaN: themselves
    state = {x.v, math::Logsumexp::rescaled(state, base) + own};
  }
  __device__ void join(const LogsumexpAccumulator& later) {
    state = math::Logsumexp::merge(state, later.state);
  }
  __device__ double finish(int64_t n, double p) const {
    return math::Logsumexp::finish(state, n, p);
  }
};

// ---- From a fold to its accumulator ----

template <class F, class V>
struct AccumulatorOf {
  using type = FoldAccumulator<F, V>;
};
template <class F, class V>
requires requires {
  typename F::PositionOf;
}
struct AccumulatorOf<F, V> {
  using type = PositionAccumulator<F, V>;
};
template <class F, class V>
requires(F::kTypes == math::kBools) struct AccumulatorOf<F, V> {
  using type = CountAccumulator<F>;
};
template <class V>
struct AccumulatorOf<math::Var, V> {
  using type = VarAccumulator;
};
template <class V>
struct AccumulatorOf<math::Logsumexp, V> {
  using type = LogsumexpAccumulator;
};

}  // namespace tsr::cuda
