// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps over contiguous elements.
#pragma once

#include "backend/cpu/optim/optim_rows.h"

namespace tsr::cpu::TSR_ISA {

template <bool kMaximum, class T>
inline void adam_loop(int64_t count, const AdamStep<T>& step, T* p, const T* g, T* m, T* v,
                      [[maybe_unused]] T* v_max) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    T largest{};
    if constexpr (kMaximum) largest = v_max[i];
    step.template take<kMaximum>(p[i], g[i], m[i], v[i], largest);
    if constexpr (kMaximum) v_max[i] = largest;
  }
}

template <class T>
void adam(int64_t count, const AdamStep<T>& step, T* p, const T* g, T* m, T* v, T* v_max) {
  if (v_max == nullptr)
    adam_loop<false>(count, step, p, g, m, v, v_max);
  else
    adam_loop<true>(count, step, p, g, m, v, v_max);
}

template <class T>
void sgd(int64_t count, const SgdStep<T>& step, T* p, const T* g, T* buffer) {
  if (buffer == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) step.take(p[i], g[i]);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) step.take(p[i], g[i], buffer[i]);
}

template <class T>
double sum_of_squares(int64_t count, const T* g) {
  double total = 0;
  constexpr int64_t kBlock = 4096;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t stop = start + kBlock < count ? start + kBlock : count;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < stop; ++i) sum += g[i] * g[i];
    total += static_cast<double>(sum);
  }
  return total;
}

template <class T>
void scale(int64_t count, T factor, T* p) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) p[i] *= factor;
}

template <class T>
inline constexpr OptimRows<T> kOptimRows{
    .adam = adam<T>,
    .sgd = sgd<T>,
    .sum_of_squares = sum_of_squares<T>,
    .scale = scale<T>,
};

}  // namespace tsr::cpu::TSR_ISA
