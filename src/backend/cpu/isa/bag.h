// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of rows of a table.
#pragma once

#include <algorithm>

#include "backend/common/vec.h"
#include "backend/cpu/nn/bag_rows.h"

namespace tsr::cpu::TSR_ISA {

// The rows of a large table are not in the caches: those of the indices this far ahead are fetched.
inline constexpr int64_t kBagAhead = 4;

// What one bag adds up.
template <class T>
struct BagTerms {
  int64_t features, count, skipped;
  const int64_t* index;
  const T* factors;
  const T* table;
};

// The sums of kRegs registers of features from `first` on, kept in registers.
template <int kRegs, bool kFactors, class T>
[[gnu::always_inline]] inline void bag_block(const BagTerms<T>& terms, int64_t first, T* to) {
  using V = Vec<T>;
  V sums[kRegs];
  for (V& sum : sums) sum = V(T{0});
  for (int64_t i = 0; i < terms.count; ++i) {
    if (i + kBagAhead < terms.count) {
      const T* ahead = terms.table + terms.index[i + kBagAhead] * terms.features + first;
#pragma GCC unroll 8
      for (int k = 0; k < kRegs; k += std::max(1, 64 / kVecBytes))
        __builtin_prefetch(ahead + k * V::kSize);
    }
    if (terms.index[i] == terms.skipped) continue;
    const T* row = terms.table + terms.index[i] * terms.features + first;
#pragma GCC unroll 8
    for (int k = 0; k < kRegs; ++k) {
      V value = V::load(row + k * V::kSize);
      if constexpr (kFactors) value = V(terms.factors[i]) * value;
      sums[k] = sums[k] + value;
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kRegs; ++k) sums[k].store(to + first + k * V::kSize);
}

template <bool kFactors, class T>
void bag_sums(const BagTerms<T>& terms, T* to) {
  constexpr int64_t kSize = Vec<T>::kSize;
  constexpr int kWide = 8;
  int64_t f = 0;
  for (; f + kWide * kSize <= terms.features; f += kWide * kSize)
    bag_block<kWide, kFactors>(terms, f, to);
  for (; f + 2 * kSize <= terms.features; f += 2 * kSize) bag_block<2, kFactors>(terms, f, to);
  for (; f + kSize <= terms.features; f += kSize) bag_block<1, kFactors>(terms, f, to);
  for (; f < terms.features; ++f) {
    T sum = 0;
    for (int64_t i = 0; i < terms.count; ++i) {
      if (terms.index[i] == terms.skipped) continue;
      const T value = terms.table[terms.index[i] * terms.features + f];
      sum += kFactors ? terms.factors[i] * value : value;
    }
    to[f] = sum;
  }
}

template <class T>
void bag_sum(int64_t features, int64_t count, const int64_t* index, int64_t skipped,
             const T* factors, const T* table, T* to) {
  const BagTerms<T> terms{features, count, skipped, index, factors, table};
  if (factors != nullptr)
    bag_sums<true>(terms, to);
  else
    bag_sums<false>(terms, to);
}

template <class T>
void bag_add(int64_t features, T factor, const T* from, T* to) {
#pragma omp simd
  for (int64_t f = 0; f < features; ++f) to[f] += factor * from[f];
}

template <class T>
T bag_dot(int64_t features, const T* a, const T* b) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t f = 0; f < features; ++f) sum += a[f] * b[f];
  return sum;
}

template <class T>
void bag_raise(int64_t features, int64_t row, const T* from, T* best, int64_t* chosen) {
#pragma omp simd
  for (int64_t f = 0; f < features; ++f) {
    const T value = from[f];
    const bool wins = value > best[f] || (value != value && best[f] == best[f]);
    best[f] = wins ? value : best[f];
    chosen[f] = wins ? row : chosen[f];
  }
}

template <class T>
inline constexpr BagRows<T> kBagRows{
    .sum = bag_sum<T>, .add = bag_add<T>, .dot = bag_dot<T>, .raise = bag_raise<T>};

}  // namespace tsr::cpu::TSR_ISA
