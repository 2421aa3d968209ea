// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of extrema of integers that are narrower than the state: they are compared in their own
// type, and only the extremum of a run or of a group of rows is widened.
#pragma once

#include "backend/cpu/isa/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {

template <class F>
inline constexpr bool kHasNarrowLoops =
    std::is_same_v<F, math::Max> || std::is_same_v<F, math::Min>;

template <class F, class T>
struct NarrowExtremum : OneNumber<F, int64_t, VL> {
  template <class V>
  [[gnu::always_inline]] static V better(V a, V b) {
    if constexpr (std::is_same_v<F, math::Max>)
      return b > a ? b : a;
    else
      return b < a ? b : a;
  }

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const T* source = static_cast<const T*>(in);
    auto* total = static_cast<int64_t*>(state);
    T best = source[0];
    if constexpr (std::is_same_v<F, math::Max>) {
#pragma omp simd reduction(max : best)
      for (int64_t i = 0; i < count; ++i) best = better(best, source[i]);
    } else {
#pragma omp simd reduction(min : best)
      for (int64_t i = 0; i < count; ++i) best = better(best, source[i]);
    }
    *total = better<int64_t>(*total, best);
  }

  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter*) {
    auto* totals = static_cast<int64_t*>(state);
    int64_t j = 0;
    for (; j + kBlock <= count; j += kBlock) fold_block(kBlock, rows, j, totals + j);
    if (j < count) fold_block(count - j, rows, j, totals + j);
  }

 private:
  static constexpr int64_t kBlock = 64;

  [[gnu::always_inline]] static void fold_block(int64_t width, const AcrossRows& rows, int64_t j,
                                                int64_t* totals) {
    T best[kBlock];
    const T* first = row_at<T>(rows, 0, j);
    for (int64_t k = 0; k < width; ++k) best[k] = first[k];
    for (int64_t r = 1; r < rows.count; ++r) {
      const T* row = row_at<T>(rows, r, j);
#pragma omp simd
      for (int64_t k = 0; k < width; ++k) best[k] = better(best[k], row[k]);
    }
#pragma omp simd
    for (int64_t k = 0; k < width; ++k) totals[k] = better<int64_t>(totals[k], best[k]);
  }
};

}  // namespace tsr::cpu::TSR_ISA
