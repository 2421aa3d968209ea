// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums of lines as registers of partial sums. Those of several lines are folded together, which
// takes a few instructions for each line, where each lane sum by itself takes a chain of them.
#pragma once

#include "backend/cpu/isa/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {

// Adds the halves of segments of kSegment lanes, those of `a` first: half as many lanes are left.
template <int kSegment, size_t... kLane>
[[gnu::always_inline]] inline VD add_halves(VD a, VD b, std::index_sequence<kLane...>) {
  constexpr size_t kHalf = kSegment / 2;
  return VD(__builtin_shufflevector(a.v, b.v, (kLane / kHalf * kSegment + kLane % kHalf)...)) +
         VD(__builtin_shufflevector(a.v, b.v,
                                    (kLane / kHalf * kSegment + kHalf + kLane % kHalf)...));
}
// Folds kSegment registers, which have a segment of kSegment lanes for each of VD::kSize lines,
// until kLast registers and lanes are left. A line is added up in the order of merge_lanes.
template <int kSegment, int kLast>
[[gnu::always_inline]] inline void fold_segments(VD* registers) {
  if constexpr (kSegment > kLast) {
#pragma GCC unroll 4
    for (int k = 0; k < kSegment / 2; ++k) {
      registers[k] = add_halves<kSegment>(registers[2 * k], registers[2 * k + 1],
                                          std::make_index_sequence<VD::kSize>());
    }
    fold_segments<kSegment / 2, kLast>(registers);
  }
}

// Adds the sums of up to VD::kSize neighbouring lines, from `first` on, to `totals`. Where some are
// not finite, each is what again(line, sum) gives.
template <class Again>
[[gnu::always_inline]] inline void add_sums(int64_t first, int64_t lines, VD sums, double* totals,
                                            const Again& again) {
  if (__builtin_expect(lines == VD::kSize && !any(!(abs(sums) < VD(kInfinity))), 1)) {
    (VD::load(totals + first) + sums).store(totals + first);
    return;
  }
  double numbers[VD::kSize];
  sums.store(numbers);
  for (int64_t k = 0; k < lines; ++k) totals[first + k] += again(first + k, numbers[k]);
}

// Calls done(first, count, registers) for up to VD::kSize lines at a time, with what is left of
// at(line), a register for each of them, when kLast registers are left.
template <int kLast, class At, class Done>
[[gnu::always_inline]] inline void sum_lines_together(int64_t lines, const At& at,
                                                      const Done& done) {
  for (int64_t l = 0; l < lines; l += VD::kSize) {
    const int64_t part = lines - l < VD::kSize ? lines - l : VD::kSize;
    VD registers[VD::kSize];
#pragma GCC unroll 1
    for (int64_t k = 0; k < VD::kSize; ++k) registers[k] = k < part ? at(l + k) : VD(0.0);
    fold_segments<VD::kSize, kLast>(registers);
    done(l, part, registers);
  }
}

}  // namespace tsr::cpu::TSR_ISA
