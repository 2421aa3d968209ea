// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of sums and extrema of 16-bit floats.
#pragma once

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
template <class F, class Short>
using ShortLoops = std::conditional_t<kIsPlainSum<F>, SumLoops<F, Short>, ShortExtremum<F, Short>>;
template <class F>
inline constexpr bool kHasShortLoops =
    kIsPlainSum<F> || std::is_same_v<F, math::Max> || std::is_same_v<F, math::Min>;

}  // namespace tsr::cpu::TSR_ISA
