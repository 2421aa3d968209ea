// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Powers and hypot for vectors of float32. They run in double: y log2 x needs more bits than
// a float has.
#pragma once

#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// log2 of a positive number of the float range: 2 atanh(s) / ln 2 + e for s = f / (2 + f)
// (minimax.py: log2_f64).
[[gnu::always_inline]] inline VD log2_wide(VD x) {
  const WideLogArgument a = split_log(x);
  const VD s = a.f / (VD(2.0) + a.f);
  const VD p = polynomial(s * s, 2.8853900817778491, 0.96179669411511215, 0.57707794183475059,
                          0.41220930749897355, 0.3199033741268667, 0.28293420776012429);
  return fma(s, p, a.e);
}

// 2**t for t between -1000 and 1000, by the Taylor series of 2**r, |r| <= 1/2.
[[gnu::always_inline]] inline VD exp2_wide(VD t) {
  const VD magic(kWholeMagic);
  const VD shifted = t + magic;
  const VD r = (t - (shifted - magic)) * VD(kLn2);
  const VD p = polynomial(r, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                          1.0 / 40320);
  return bit_cast_to<double>(bit_cast_to<int64_t>(p) +
                             shift_left<52>(bit_cast_to<int64_t>(shifted)));
}

[[gnu::always_inline]] inline VF pow(VF x, VF y) {
  const VF a = abs(x);
  const VDPair power = each_half(widen(a), widen(y), [](VD base, VD exponent) {
    const VD t = log2_wide(base) * exponent;
    return exp2_wide(at_most(at_least(t, VD(-200.0)), VD(200.0)));
  });
  VF result = narrow(power);
  const Mask<float> whole = round_even(y) == y;
  const VF half = y * VF(0.5);
  const Mask<float> odd = whole & (round_even(half) != half);
  result = select((x < VF(0.0)) & odd, -result, result);
  result = select((x < VF(0.0)) & !whole, VF(kNaN), result);
  // Zero, infinity and NaN follow the C library lane by lane.
  const Mask<float> special = !((a > VF(0.0)) & (a < VF(kInfinity)) & (abs(y) < VF(kInfinity)));
  return patch_lanes(special, result, x, y, [](float b, float e) { return __builtin_powf(b, e); });
}

[[gnu::always_inline]] inline VF hypot(VF x, VF y) {
  const VF result =
      narrow(each_half(widen(x), widen(y), [](VD a, VD b) { return sqrt(a * a + b * b); }));
  const Mask<float> infinite = (abs(x) == VF(kInfinity)) | (abs(y) == VF(kInfinity));
  return select(infinite, VF(kInfinity), result);
}

}  // namespace tsr::cpu::TSR_ISA
