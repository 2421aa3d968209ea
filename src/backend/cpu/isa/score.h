// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Exponentials of scores, the numbers of which a softmax or a log-sum-exp is taken.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// exp(x), also fast where that is 0, as for scores that a mask hides: on its way to 0 a number
// would be subnormal, which processors compute slowly.
template <class T>
[[gnu::always_inline]] inline Vec<T> exp_of_score(Vec<T> x) {
  constexpr T kNothing = std::is_same_v<T, float> ? T{-104} : T{-746};
  const auto hidden = x < Vec<T>(kNothing);
  return select(hidden, Vec<T>(0), exp(select(hidden, Vec<T>(0), x)));
}

}  // namespace tsr::cpu::TSR_ISA
