// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps over contiguous elements.
#pragma once

#include <cmath>

#include "backend/cpu/nn_rows.h"

namespace tsr::cpu::TSR_ISA {

template <bool kMaximum, class T>
inline void adam_loop(int64_t count, const AdamStep<T>& step, T* p, const T* g, T* m, T* v,
                      [[maybe_unused]] T* v_max) {
  const T keep1 = T{1} - step.beta1;
  const T keep2 = T{1} - step.beta2;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T parameter = p[i] * step.shrink;
    const T slope = g[i] * step.sign + step.decay * p[i];
    const T first = m[i] * step.beta1 + slope * keep1;
    const T second = v[i] * step.beta2 + slope * slope * keep2;
    T bound = second;
    if constexpr (kMaximum) {
      bound = v_max[i] < second ? second : v_max[i];
      v_max[i] = bound;
    }
    m[i] = first;
    v[i] = second;
    p[i] =
        parameter - step.step_size * first / (std::sqrt(bound) * step.root_correction + step.eps);
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
    for (int64_t i = 0; i < count; ++i) {
      p[i] -= step.rate * (g[i] * step.sign + step.decay * p[i]);
    }
    return;
  }
  const T carry = step.first ? T{0} : step.momentum;
  const T fresh = step.first ? T{1} : step.keep;
  const T look = step.nesterov ? step.momentum : T{1};
  const T direct = step.nesterov ? T{1} : T{0};
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T slope = g[i] * step.sign + step.decay * p[i];
    // A buffer that starts now may hold anything, also NaN.
    const T moved = (step.first ? T{0} : buffer[i] * carry) + slope * fresh;
    buffer[i] = moved;
    p[i] -= step.rate * (direct * slope + look * moved);
  }
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

}  // namespace tsr::cpu::TSR_ISA
