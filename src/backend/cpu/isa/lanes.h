// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One number from all lanes of a register.
#pragma once

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

// The upper half joins the lower one, until one lane is left: the chain of operations is as long as
// the logarithm of the number of lanes.
template <class T, class Join, int kHalf = Vec<T>::kSize / 2>
[[gnu::always_inline]] inline T join_lanes(Vec<T> a, const Join& join) {
  if constexpr (kHalf == 0)
    return first_lane(a);
  else
    return join_lanes<T, Join, kHalf / 2>(join(a, rotate_lanes<kHalf>(a)), join);
}

// Of a register without NaNs.
template <class T>
[[gnu::always_inline]] inline T largest_lane(Vec<T> a) {
  return join_lanes(a, [](Vec<T> b, Vec<T> c) { return greater_of(b, c); });
}
template <class T>
[[gnu::always_inline]] inline T sum_of_lanes(Vec<T> a) {
  return join_lanes(a, [](Vec<T> b, Vec<T> c) { return b + c; });
}

}  // namespace tsr::cpu::TSR_ISA
