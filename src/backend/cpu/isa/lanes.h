// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One number from all lanes of a register.
#pragma once

#include "backend/common/vec_arch.h"

namespace tsr::cpu::TSR_ISA {

// The largest lane of a register without NaNs: the upper half joins the lower one, until one lane
// is left.
template <class T, int kHalf = Vec<T>::kSize / 2>
[[gnu::always_inline]] inline T largest_lane(Vec<T> a) {
  if constexpr (kHalf == 0)
    return first_lane(a);
  else
    return largest_lane<T, kHalf / 2>(greater_of(a, rotate_lanes<kHalf>(a)));
}

}  // namespace tsr::cpu::TSR_ISA
