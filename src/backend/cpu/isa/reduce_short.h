// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of sums and extrema of 16-bit floats.
#pragma once

#include <algorithm>

#include "backend/cpu/isa/reduce_sum.h"

namespace tsr::cpu::TSR_ISA {

// The loops of extrema.
template <class F, class Short>
struct ShortExtremum : OneNumber<F, float, VD> {
  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    extremum_along<F, Short>(count, in, before, state, params);
  }
  static void across(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                     const Parameter* params) {
    extremum_across<F, Short>(count, rows, before, state, width, params);
  }
};
// Sums without NaNs, which are rare: plain sums, and once more without NaNs where one is a NaN.
template <class Short>
struct ShortNansum : OneNumber<math::Nansum, float, VD> {
  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const auto* source = static_cast<const uint16_t*>(in);
    double sum = GroupSum<Short>::sum(count, source);
    if (__builtin_expect(sum != sum, 0)) {
      constexpr int64_t kBytes = VF::kSize * sizeof(uint16_t);
      const int64_t rows = count / VF::kSize;
      double lanes[VF::kSize] = {};
      add_numbers(VF::kSize, {source, rows, kBytes}, lanes);
      add_numbers(count % VF::kSize, {source + rows * VF::kSize, 1, 0}, lanes);
      sum = 0;
      for (const double lane : lanes) sum += lane;
    }
    *static_cast<double*>(state) += sum;
  }
  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter*) {
    constexpr int64_t kColumns = 512;
    auto* totals = static_cast<double*>(state);
    for (int64_t j = 0; j < count; j += kColumns) {
      const int64_t part = count - j < kColumns ? count - j : kColumns;
      const AcrossRows columns = {row_at<Short>(rows, 0, j), rows.count, rows.step};
      double sums[kColumns];
      std::copy_n(totals + j, part, sums);
      GroupSum<Short>::across(part, columns, sums);
      int nan = 0;
#pragma omp simd reduction(| : nan)
      for (int64_t k = 0; k < part; ++k) nan |= sums[k] != sums[k] ? 1 : 0;
      if (__builtin_expect(nan != 0, 0))
        add_numbers(part, columns, totals + j);
      else
        std::copy_n(sums, part, totals + j);
    }
  }

 private:
  [[gnu::noinline]] static void add_numbers(int64_t count, const AcrossRows& rows, double* totals) {
    for (int64_t j = 0; j < count; j += VF::kSize) {
      const int64_t part = count - j < VF::kSize ? count - j : VF::kSize;
      VDPair sums = {VD(0.0), VD(0.0)};
      for (int64_t r = 0; r < rows.count; ++r) {
        const uint16_t* row = row_at<Short>(rows, r, j);
        const VF x = part == VF::kSize ? Short::load(row) : load_short_part<Short>(row, part);
        sums = sums + widen(select(x == x, x, VF(0.0)));
      }
      double lanes[VF::kSize];
      store_words(sums, lanes);
      for (int64_t k = 0; k < part; ++k) totals[j + k] += lanes[k];
    }
  }
};
template <class F, class Short>
using ShortSum = std::conditional_t<kIsPlainSum<F>, SumLoops<F, Short>, ShortNansum<Short>>;
template <class F>
inline constexpr bool kIsShortSum = kIsPlainSum<F> || std::is_same_v<F, math::Nansum>;
template <class F, class Short>
using ShortLoops = std::conditional_t<kIsShortSum<F>, ShortSum<F, Short>, ShortExtremum<F, Short>>;
template <class F>
inline constexpr bool kHasShortLoops =
    kIsShortSum<F> || std::is_same_v<F, math::Max> || std::is_same_v<F, math::Min>;

}  // namespace tsr::cpu::TSR_ISA
