// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The logistic function and silu for vectors of float32 and float64.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// 1 / (1 + e**-x), written so that the exponential e of -|x| never overflows: e / (1 + e) left of
// zero, 1 / (1 + e) right of it. The rounding errors of e and of the sum are corrected after the
// division as relative errors; estimates of 1 / e and 1 / (1 + e) are enough for that.
template <class T>
[[gnu::always_inline]] inline Vec<T> sigmoid(Vec<T> x) {
  using V = Vec<T>;
  const V left = with_sign(x, V(-0.0));  // -|x|, and a NaN stays one
  const auto argument = reduce_exp(at_least(left, V(sizeof(T) == 4 ? -104.0 : -746.0)));
  const V r = argument.r;
  const V growth = V(1.0) + r;
  const V growth_rest = fma(r * r, exp_series(r), sum_error(V(1.0), r, growth));
  const V mantissa = growth + growth_rest;
  const V e = scale_by_power(mantissa, argument.n);
  const V e_error = sum_error(growth, growth_rest, mantissa) * (V(2.0) - mantissa);

  const V sum = V(1.0) + e;
  const V sum_low = fma(e, e_error, sum_error(V(1.0), e, sum));
  const Mask<T> right = x >= V(0.0);
  const V quotient = select(right, V(1.0), e) / sum;
  const V error = fma(-sum_low, fma(e, V(-0.5), V(1.0)), select(right, V(0.0), e_error));
  return fma(quotient, error, quotient);
}

// x / (1 + e**-x). Far from zero, where the exponential could be out of range, by the function
// above.
[[gnu::always_inline]] inline VF silu(VF x) {
  constexpr double kFar = 80;
  const ExpArgument argument = reduce_exp(-x);
  const VF e = scale_by_power(exp_reduced(argument), argument.n);
  const VF result = with_sign(quick_quotient(x, VF(1.0) + e), x);  // also of a zero
  if (__builtin_expect(any_beyond(x, kFar), 0))
    return select(abs(x) <= VF(kFar), result, x * sigmoid(x));
  return result;
}
[[gnu::always_inline]] inline VD silu(VD x) {
  return x * sigmoid(x);
}

}  // namespace tsr::cpu::TSR_ISA
