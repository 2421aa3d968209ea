// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Norms of the differences of one vector and many. Components behind the last count as equal.
#pragma once

#include <cmath>

#include "backend/common/math_any.h"
#include "backend/common/math_pow_f32.h"
#include "backend/common/math_pow_f64.h"
#include "backend/cpu/linalg/distance_rows.h"

namespace tsr::cpu::TSR_ISA {

// What is made of the differences: `add` takes the next ones into a vector of partial results,
// `join` makes one of two partial results, and `finish` gives the norms of several vectors.
template <class T>
struct CountNorm {
  explicit CountNorm(double) {}
  static Vec<T> add(Vec<T> sum, Vec<T> d) {
    return sum + select(d != Vec<T>(0), Vec<T>(1), Vec<T>(0));
  }
  static T join(T a, T b) { return a + b; }
  static Vec<T> finish(Vec<T> sums) { return sums; }
};
template <class T>
struct SumNorm {
  explicit SumNorm(double) {}
  static Vec<T> add(Vec<T> sum, Vec<T> d) { return sum + abs(d); }
  static T join(T a, T b) { return a + b; }
  static Vec<T> finish(Vec<T> sums) { return sums; }
};
template <class T>
struct EuclideanNorm {
  explicit EuclideanNorm(double) {}
  static Vec<T> add(Vec<T> sum, Vec<T> d) { return fma(d, d, sum); }
  static T join(T a, T b) { return a + b; }
  static Vec<T> finish(Vec<T> sums) { return sqrt(sums); }
};
template <class T>
struct LargestNorm {
  explicit LargestNorm(double) {}
  static Vec<T> add(Vec<T> best, Vec<T> d) {
    const Vec<T> size = abs(d);
    return select((size > best) | (size != size), size, best);
  }
  static T join(T a, T b) { return b > a || b != b ? b : a; }
  static Vec<T> finish(Vec<T> best) { return best; }
};
template <class T>
struct PowerNorm {
  explicit PowerNorm(double order) : p(static_cast<T>(order)), inverse(static_cast<T>(1 / order)) {}
  Vec<T> add(Vec<T> sum, Vec<T> d) const { return sum + pow(abs(d), p); }
  static T join(T a, T b) { return a + b; }
  [[nodiscard]] Vec<T> finish(Vec<T> sums) const { return pow(sums, inverse); }
  Vec<T> p, inverse;
};

template <class Norm, class T>
inline void distances_by(const Norm& norm, int64_t count, int64_t components, const T* one,
                         const T* others, T* out) {
  using V = Vec<T>;
  const int64_t whole = components / V::kSize * V::kSize;
  const int64_t rest = components - whole;
  const V last = rest == 0 ? V(0) : V::load_part(one + whole, rest, 0);
  for (int64_t j = 0; j < count; ++j, others += components) {
    V result(0);
    for (int64_t i = 0; i < whole; i += V::kSize)
      result = norm.add(result, V::load(one + i) - V::load(others + i));
    if (rest != 0) result = norm.add(result, last - V::load_part(others + whole, rest, 0));
    T lanes[V::kSize];
    result.store(lanes);
    for (int step = V::kSize / 2; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) lanes[i] = norm.join(lanes[i], lanes[i + step]);
    }
    out[j] = lanes[0];
  }
  int64_t j = 0;
  for (; j + V::kSize <= count; j += V::kSize) norm.finish(V::load(out + j)).store(out + j);
  if (j < count) norm.finish(V::load_part(out + j, count - j, 0)).store_part(out + j, count - j);
}

// One vector of the others in each lane, which is for few components. The last register may repeat
// norms of the one before it.
template <class Norm, class T>
inline void distances_across(const Norm& norm, int64_t count, int64_t components, const T* one,
                             const T* turned, int64_t step, T* out) {
  using V = Vec<T>;
  const auto norms = [&](const auto& load) {
    V result(0);
    for (int64_t i = 0; i < components; ++i)
      result = norm.add(result, V(one[i]) - load(turned + i * step));
    return norm.finish(result);
  };
  if (count < V::kSize) {
    if (count > 0)
      norms([&](const T* from) { return V::load_part(from, count, 0); }).store_part(out, count);
    return;
  }
  const auto write = [&](int64_t j) {
    norms([&](const T* from) { return V::load(from + j); }).store(out + j);
  };
  for (int64_t j = 0; j + V::kSize < count; j += V::kSize) write(j);
  write(count - V::kSize);
}

template <class T, class Run>
void with_norm(double p, const Run& run) {
  if (p == 0) return run(CountNorm<T>(p));
  if (p == 1) return run(SumNorm<T>(p));
  if (p == 2) return run(EuclideanNorm<T>(p));
  if (std::isinf(p)) return run(LargestNorm<T>(p));
  run(PowerNorm<T>(p));
}

template <class T>
void distances(int64_t count, int64_t components, double p, const T* one, const T* others, T* out) {
  with_norm<T>(p,
               [&](const auto& norm) { distances_by(norm, count, components, one, others, out); });
}
template <class T>
void distances_across(int64_t count, int64_t components, double p, const T* one, const T* turned,
                      int64_t step, T* out) {
  with_norm<T>(p, [&](const auto& norm) {
    distances_across(norm, count, components, one, turned, step, out);
  });
}

template <class T>
inline constexpr DistanceRows<T> kDistanceRows{
    .distances = distances<T>,
    .across = distances_across<T>,
};

}  // namespace tsr::cpu::TSR_ISA
