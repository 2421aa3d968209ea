// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of attention, a register at a time.
#pragma once

#include <limits>

#include "backend/cpu/isa/softmax.h"
#include "backend/cpu/nn/attention_rows.h"

namespace tsr::cpu::TSR_ISA {

template <class T>
void add_mask(int64_t count, const T* mask, T* scores) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) scores[i] += mask[i];
}

template <class T>
void hide_scores(int64_t count, const uint8_t* taken, T* scores) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) scores[i] = taken[i] != 0 ? scores[i] : kHidden;
}

template <class T>
T largest_score(int64_t count, const T* scores) {
  return row_max(count, scores);
}

template <class T>
T score_exponentials(int64_t count, T shift, T* scores) {
  return row_exp_sum<true>(count, scores, shift, scores);
}

template <class T>
void scale_row(int64_t count, T factor, T* row) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) row[i] *= factor;
}

template <class T>
void multiply_row(int64_t count, const T* factors, T* row) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) row[i] *= factors[i];
}

template <class T>
T dot_of_rows(int64_t count, const T* a, const T* b) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
T weigh_slopes(int64_t count, const T* probabilities, T* slopes) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) {
    slopes[i] *= probabilities[i];
    sum += slopes[i];
  }
  return sum;
}

template <class T>
void finish_tangent(int64_t count, T scale, T total, const T* value, T* tangent) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) tangent[i] = tangent[i] * scale - total * value[i];
}

template <class T>
void score_slopes(int64_t count, const T* probabilities, T total, T* slopes) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) slopes[i] = probabilities[i] * (slopes[i] - total);
}

template <class T>
inline constexpr AttentionRows<T> kAttentionRows{
    .add = add_mask<T>,
    .hide = hide_scores<T>,
    .largest = largest_score<T>,
    .exponentials = score_exponentials<T>,
    .scale = scale_row<T>,
    .multiply = multiply_row<T>,
    .dot = dot_of_rows<T>,
    .weigh = weigh_slopes<T>,
    .finish_tangent = finish_tangent<T>,
    .slopes = score_slopes<T>,
};

}  // namespace tsr::cpu::TSR_ISA
