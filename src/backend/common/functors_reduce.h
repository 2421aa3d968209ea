// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Folds: the start state of a reduction, what an element adds, how states merge, and the result.
//
// Note [Folds]
// A fold works on states S. A state is a number or a vector of numbers: float64 for real elements,
// int64 or uint64, Complex<float64>. It may also be a struct of two 8-byte words; each backend then
// has separate loops for that fold. p is the plan's first parameter as a float64, n counts
// elements.
//   kTypes           the element types (functor_types.h); with kBools alone elements are cast to
//                    bool and the state is the int64 count of true ones
//   kOfMagnitudes    complex elements are replaced by their absolute values
//   start<E>()       the state before any element
//   prepare(x, p)    what an element adds; without it the element itself
//   merge(a, b)      the state of what went into a and then into b
//   finish(s, n, p)  the result; without it the state. Its type is that of the result
// A fold is named like its op. Everything is inlined, so that sources compiled for several
// instruction sets can share this file.
#pragma once

#include <math.h>

#include <cstdint>
#include <limits>

#include "backend/common/functor_types.h"

namespace tsr::math {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// ---- Sums and products ----

struct Sum {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  template <class E>
  [[gnu::always_inline]] TSR_HD static E start() {
    return E(0);
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static S merge(S a, S b) {
    return a + b;
  }
};
struct Nansum : Sum {
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double) {
    return select(x == x, x, S(0));
  }
};
struct Prod {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  template <class E>
  [[gnu::always_inline]] TSR_HD static E start() {
    return E(1);
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static S merge(S a, S b) {
    return a * b;
  }
};
struct Mean : Sum {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class S>
  [[gnu::always_inline]] TSR_HD static S finish(S total, int64_t n, double) {
    return total / static_cast<double>(n);
  }
};

// ---- Extrema: a NaN beats every number ----

struct Max {
  static constexpr unsigned kTypes = kReal | kIntegers;
  template <class E>
  [[gnu::always_inline]] TSR_HD static E start() {
    using Limits = std::numeric_limits<E>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static S merge(S a, S b) {
    return select((b > a) | (b != b), b, a);
  }
  // As merge, but NaNs are passed over.
  template <class S>
  [[gnu::always_inline]] static S merge_numbers(S a, S b) {
    return greater_of(b, a);
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static auto beats(S candidate, S best) {
    return (candidate > best) | ((candidate != candidate) & (best == best));
  }
};
struct Min {
  static constexpr unsigned kTypes = kReal | kIntegers;
  template <class E>
  [[gnu::always_inline]] TSR_HD static E start() {
    using Limits = std::numeric_limits<E>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static S merge(S a, S b) {
    return select((b < a) | (b != b), b, a);
  }
  template <class S>
  [[gnu::always_inline]] static S merge_numbers(S a, S b) {
    return less_of(b, a);
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static auto beats(S candidate, S best) {
    return (candidate < best) | ((candidate != candidate) & (best == best));
  }
};
// The first position of the extremum; the backend keeps it beside the value.
struct Argmax {
  using PositionOf = Max;
  static constexpr unsigned kTypes = Max::kTypes;
};
struct Argmin {
  using PositionOf = Min;
  static constexpr unsigned kTypes = Min::kTypes;
};

// ---- Logic ----

struct Any {
  static constexpr unsigned kTypes = kBools;
  [[gnu::always_inline]] TSR_HD static bool finish(int64_t count, int64_t, double) {
    return count > 0;
  }
};
struct All {
  static constexpr unsigned kTypes = kBools;
  [[gnu::always_inline]] TSR_HD static bool finish(int64_t count, int64_t n, double) {
    return count == n;
  }
};
struct CountNonzero {
  static constexpr unsigned kTypes = kBools;
  [[gnu::always_inline]] TSR_HD static int64_t finish(int64_t count, int64_t, double) {
    return count;
  }
};

// ---- Norms ----

struct SumOfMagnitudes : Sum {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kOfMagnitudes = true;
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double) {
    return abs(x);
  }
};
struct EuclideanNorm : Sum {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kOfMagnitudes = true;
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double) {
    return x * x;
  }
  [[gnu::always_inline]] TSR_HD static double finish(double total, int64_t, double) {
    return ::sqrt(total);
  }
};
struct LargestMagnitude : Max {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kOfMagnitudes = true;
  template <class E>
  [[gnu::always_inline]] TSR_HD static E start() {
    return E(0);
  }
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double) {
    return abs(x);
  }
};
struct SmallestMagnitude : Min {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kOfMagnitudes = true;
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double) {
    return abs(x);
  }
};
struct PowerNorm : Sum {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kOfMagnitudes = true;
  template <class S>
  [[gnu::always_inline]] TSR_HD static S prepare(S x, double p) {
    return pow(abs(x), S(p));
  }
  [[gnu::always_inline]] TSR_HD static double finish(double total, int64_t, double p) {
    return ::pow(total, 1.0 / p);
  }
};

// ---- Folds with a state of two numbers ----

struct Var {
  static constexpr unsigned kTypes = kReal;
  struct State {
    double mean, squares;  // squares: the sum of squared deviations from the mean
  };
  [[gnu::always_inline]] TSR_HD static State start() { return {0.0, 0.0}; }
  // Merges the states of n and m elements (Chan, Golub, LeVeque 1983). The count comes before the
  // second factor: with n = 0 the square alone could overflow, and infinity times 0 is NaN.
  [[gnu::always_inline]] TSR_HD static State merge(State a, double n, State b, double m) {
    const double shift = b.mean - a.mean;
    return {a.mean + shift * m / (n + m), a.squares + b.squares + shift * n * shift * m / (n + m)};
  }
  [[gnu::always_inline]] TSR_HD static double finish(State s, int64_t n, double correction) {
    const double divisor = static_cast<double>(n) - correction;
    return s.squares / (divisor > 0 ? divisor : 0.0);
  }
};

struct Logsumexp {
  static constexpr unsigned kTypes = kReal;
  struct State {
    double maximum, sum;  // sum: of exp(x - pivot(maximum))
  };
  [[gnu::always_inline]] TSR_HD static State start() { return {-kUnbounded, 0.0}; }
  // The number that is subtracted before exp: 0 for an infinite maximum, because inf - inf is NaN.
  [[gnu::always_inline]] TSR_HD static double pivot(double maximum) {
    return ::fabs(maximum) < kUnbounded ? maximum : 0.0;
  }
  [[gnu::always_inline]] TSR_HD static double rescaled(State s, double base) {
    const double own = pivot(s.maximum);
    return own == base || s.sum == 0 ? s.sum : s.sum * ::exp(own - base);
  }
  [[gnu::always_inline]] TSR_HD static State merge(State a, State b) {
    const bool larger = b.maximum > a.maximum || b.maximum != b.maximum;
    const double maximum = larger ? b.maximum : a.maximum;
    const double base = pivot(maximum);
    return {maximum, rescaled(a, base) + rescaled(b, base)};
  }
  [[gnu::always_inline]] TSR_HD static double finish(State s, int64_t, double) {
    return pivot(s.maximum) + ::log(s.sum);
  }
};

}  // namespace tsr::math
