// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps over contiguous elements.
#pragma once

#include "backend/cpu/optim/optim_rows.h"

namespace tsr::cpu::TSR_ISA {

template <class Step, class T>
void step_row(int64_t count, const void* numbers, T* p, const T* g, T* a, T* b, T* c) {
  constexpr bool kA = (Step::kStates & 1) != 0;
  constexpr bool kB = (Step::kStates & 2) != 0;
  constexpr bool kC = (Step::kStates & 4) != 0;
  const Step step = *static_cast<const Step*>(numbers);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    T first{}, second{}, third{};
    if constexpr (kA) first = a[i];
    if constexpr (kB) second = b[i];
    if constexpr (kC) third = c[i];
    step.take(p[i], g[i], first, second, third);
    if constexpr (kA) a[i] = first;
    if constexpr (kB) b[i] = second;
    if constexpr (kC) c[i] = third;
  }
}

template <class T, class... Steps>
constexpr StepRows<T> step_rows(math::StepList<Steps...> /*all*/) {
  return {{step_row<Steps, T>...}};
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
bool unscale(int64_t count, T factor, T* p) {
  T nothing = 0;  // a NaN as soon as an element is not finite
#pragma omp simd reduction(+ : nothing)
  for (int64_t i = 0; i < count; ++i) {
    nothing += p[i] * T{0};
    p[i] *= factor;
  }
  return nothing == T{0};
}

template <class T>
inline constexpr OptimRows<T> kOptimRows{
    .steps = step_rows<T>(math::AllSteps<T>()),
    .sum_of_squares = sum_of_squares<T>,
    .scale = scale<T>,
    .unscale = unscale<T>,
};

}  // namespace tsr::cpu::TSR_ISA
