// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Powers, erfc, hypot and atan2 for vectors of float32. They run in double: y log2 x and x**2 in an
// exponent need more bits than a float has.
#pragma once

#include "backend/common/math_trig_f32.h"

namespace tsr::cpu::TSR_ISA {

// log2 of a positive number of the float range: 2 atanh((m - 1) / (m + 1)) / ln 2 + e (minimax.py:
// log2_f64).
[[gnu::always_inline]] inline VD log2_wide(VD x) {
  const VL bits = bit_cast_to<int64_t>(x);
  const VL root = bit_cast_to<int64_t>(VD(kSqrtHalf));
  // Biased by 1024 so that a logical shift will do: AVX2 has no arithmetic one for 64 bits.
  const Vec<uint64_t> biased = bit_cast_to<uint64_t>(bits - root + VL(int64_t{1024} << 52));
  const VL exponent = bit_cast_to<int64_t>(shift_right<52>(biased));
  const VD mantissa = bit_cast_to<double>(bits - shift_left<52>(exponent - VL(1024)));
  // 2**52 + exponent as a double has the exponent in its low bits.
  const VD magic(4503599627370496.0);
  const VD e = bit_cast_to<double>(exponent | bit_cast_to<int64_t>(magic)) - (magic + VD(1024.0));
  const VD s = (mantissa - VD(1.0)) / (mantissa + VD(1.0));
  const VD p = polynomial(s * s, 2.8853900817778491, 0.96179669411511215, 0.57707794183475059,
                          0.41220930749897355, 0.3199033741268667, 0.28293420776012429);
  return fma(s, p, e);
}

// 2**t for t between -1000 and 1000, by the Taylor series of 2**r, |r| <= 1/2.
[[gnu::always_inline]] inline VD exp2_wide(VD t) {
  const VD magic(6755399441055744.0);  // 1.5 * 2**52
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
  if (__builtin_expect(any(special), 0)) {
    return select(special, by_lane(x, y, [](float b, float e) { return __builtin_powf(b, e); }),
                  result);
  }
  return result;
}

// erfc |x| = exp(-x**2) P(q) / (1 + 2 |x|) with q = (|x| - 2) / (|x| + 2); the tail below the
// smallest float rounds to 0 (minimax.py: erfc_f64).
[[gnu::always_inline]] inline VF erfc(VF x) {
  const VF result = narrow(each_half(widen(x), [](VD value) {
    const VD a = at_most(abs(value), VD(10.25));
    const VD q = (a - VD(2.0)) / (a + VD(2.0));
    const VD p =
        polynomial(q, 1.276978382692501, -0.09276382036468217, -0.16603052255464046,
                   0.16405103076837518, -0.054217821689404609, -0.0080307917700935209,
                   0.0087091201081535719, 0.0012524755186653668, -0.0014210105178526838,
                   -0.00040057676649017556, 0.00016971537481938616, 7.9546980712512041e-05);
    const VD tail = exp2_wide(a * a * VD(-kLog2E)) * p / fma(a, VD(2.0), VD(1.0));
    return select(value < VD(0.0), VD(2.0) - tail, tail);
  }));
  return select(x != x, x, result);
}

[[gnu::always_inline]] inline VF hypot(VF x, VF y) {
  const VF result =
      narrow(each_half(widen(x), widen(y), [](VD a, VD b) { return sqrt(a * a + b * b); }));
  const Mask<float> infinite = (abs(x) == VF(kInfinity)) | (abs(y) == VF(kInfinity));
  return select(infinite, VF(kInfinity), result);
}

// atan(|y| / |x|) with the smaller over the larger, then moved to its octant.
[[gnu::always_inline]] inline VF atan2(VF y, VF x) {
  const VF ax = abs(x);
  const VF ay = abs(y);
  const Mask<float> steep = ay > ax;
  VF ratio = select(steep, ax, ay) / select(steep, ay, ax);
  ratio = select((ax == VF(0.0)) & (ay == VF(0.0)), VF(0.0), ratio);
  const Mask<float> both_infinite = (ax == VF(kInfinity)) & (ay == VF(kInfinity));
  ratio = select(both_infinite, VF(1.0), ratio);
  VF angle = atan(ratio);
  angle = select(steep, VF(kHalfPi) - (angle - VF(kHalfPiRest)), angle);
  const Mask<float> left = {bit_cast_to<int32_t>(x).v < 0};  // also -0
  angle = select(left, VF(2 * kHalfPi) - (angle - VF(2 * kHalfPiRest)), angle);
  return with_sign(abs(angle), y);
}

}  // namespace tsr::cpu::TSR_ISA
