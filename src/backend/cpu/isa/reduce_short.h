// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of sums and extrema of 16-bit floats.
#pragma once

#include "backend/cpu/isa/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {

[[gnu::always_inline]] inline bool all_finite(VF a) {
  return !any(!(abs(a) < VF(kInfinity)));
}
// The sum of the lanes, in float64.
[[gnu::always_inline]] inline double sum_lanes(VDPair a) {
  return merge_lanes<math::Sum>(a.low + a.high);
}

// Sums of kTerms elements in float32, which has twice their digits, are added up in float64; where
// such a sum overflows, so are its terms.
template <class Short>
struct ShortSum {
  static constexpr int kTerms = 8;
  static constexpr int64_t kPiece = kTerms * VF::kSize;

  // The sum of terms at(0), at(1), ... behind `total`.
  template <class At>
  [[gnu::always_inline]] static VDPair add_terms(VDPair total, int64_t terms, const At& at) {
    VF sum = at(0);
    for (int64_t k = 1; k < terms; ++k) sum = sum + at(k);
    if (__builtin_expect(all_finite(sum), 1)) return total + widen(sum);
    for (int64_t k = 0; k < terms; ++k) total = total + widen(at(k));
    return total;
  }
  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const auto* source = static_cast<const uint16_t*>(in);
    VDPair total{VD(0.0), VD(0.0)};
    int64_t i = 0;
    for (; i + kPiece <= count; i += kPiece) {
      const auto at = [&](int64_t k) { return Short::load(source + i + k * VF::kSize); };
      total = add_terms(total, kTerms, at);
    }
    for (; i + VF::kSize <= count; i += VF::kSize) total = total + widen(Short::load(source + i));
    double sum = sum_lanes(total);
    for (; i < count; ++i) sum += static_cast<double>(first_lane(load_one<VF, Short>(source + i)));
    *static_cast<double*>(state) += sum;
  }
  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter*) {
    auto* totals = static_cast<double*>(state);
    int64_t j = 0;
    for (; j + VF::kSize <= count; j += VF::kSize) {
      VDPair total = load_words(totals + j, VF());
      for (int64_t r = 0; r < rows.count; r += kTerms) {
        const auto at = [&](int64_t k) { return Short::load(row_at<Short>(rows, r + k, j)); };
        const int64_t left = rows.count - r;
        total = add_terms(total, left < kTerms ? left : kTerms, at);
      }
      store_words(total, totals + j);
    }
    for (; j < count; ++j) {
      for (int64_t r = 0; r < rows.count; ++r)
        totals[j] +=
            static_cast<double>(first_lane(load_one<VF, Short>(row_at<Short>(rows, r, j))));
    }
  }
};

// The loops of sums and extrema.
template <class F, class Short>
struct ShortLoops : OneNumber<F, float, VD> {
  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    if constexpr (kIsExtremum<F>)
      extremum_along<F, Short>(count, in, before, state, params);
    else
      ShortSum<Short>::along(count, in, before, state, params);
  }
  static void across(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                     const Parameter* params) {
    if constexpr (kIsExtremum<F>)
      extremum_across<F, Short>(count, rows, before, state, width, params);
    else
      ShortSum<Short>::across(count, rows, before, state, width, params);
  }
};
template <class F>
inline constexpr bool kHasShortLoops =
    std::is_same_v<F, math::Sum> || std::is_same_v<F, math::Mean> || std::is_same_v<F, math::Max> ||
    std::is_same_v<F, math::Min>;

}  // namespace tsr::cpu::TSR_ISA
