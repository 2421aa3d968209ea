// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions for vectors of float32; polynomials from tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f32.h"

namespace tsr::cpu::TSR_ISA {

// x = quadrant * pi/2 + r with |r| <= pi/4. The reduction runs in double, so that r is exact to its
// last bit.
struct Angle {
  VF r;
  VI quadrant;
};

[[gnu::always_inline]] inline VD quadrant_of_float(VD x) {
  return round_even(x * VD(0.6366197723675814));
}
[[gnu::always_inline]] inline VD angle_of_float(VD x, VD quadrant) {
  constexpr double kHalfPiHigh = 1.5707963267341256;  // pi/2 to 33 bits
  constexpr double kHalfPiLow = 6.077100506506192e-11;
  return (x - quadrant * VD(kHalfPiHigh)) - quadrant * VD(kHalfPiLow);
}
[[gnu::always_inline]] inline Angle reduce_angle(VF x) {
  const VDPair wide = widen(x);
  const VDPair n = each_half(wide, quadrant_of_float);
  return {narrow(each_half(wide, n, angle_of_float)), round_to_int(n)};
}

// minimax.py: sin, cos; for |r| <= pi/4. In double they have float's precision too.
template <class V>
[[gnu::always_inline]] inline V short_sin(V r) {
  const V z = r * r;
  const V p = polynomial(z, -0.166666672, 0.00833337847, -0.000198525624, 2.82634505e-06);
  return fma(r * z, p, r);
}
template <class V>
[[gnu::always_inline]] inline V short_cos(V r) {
  const V z = r * r;
  const V p = polynomial(z, 0.0416666679, -0.001388898, 2.48219076e-05, -2.88584943e-07);
  return fma(z * z, p, fma(z, V(-0.5), V(1.0)));
}

[[gnu::always_inline]] inline Mask<float> odd_lanes(VI quadrant) {
  return {(quadrant & VI(1)).v != 0};
}
// Turns bit 1 of the quadrant into a sign.
[[gnu::always_inline]] inline VF flip_by_quadrant(VF value, VI quadrant) {
  return bit_cast_to<float>(bit_cast_to<int32_t>(value) ^ shift_left<30>(quadrant & VI(2)));
}

// True for angles too large for the reduction, and for infinities and NaN.
[[gnu::always_inline]] inline Mask<float> hard_angle(VF x) {
  return !(abs(x) <= VF(kLargestAngle));
}

[[gnu::always_inline]] inline VF sin(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select(odd_lanes(angle.quadrant), short_cos(angle.r), short_sin(angle.r));
  const VF result = select(x == VF(0.0), x, flip_by_quadrant(value, angle.quadrant));
  return patch_lanes(hard_angle(x), result, x,
                     [](float a) { return static_cast<float>(__builtin_sin(a)); });
}

[[gnu::always_inline]] inline VF cos(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select(odd_lanes(angle.quadrant), short_sin(angle.r), short_cos(angle.r));
  const VF result = flip_by_quadrant(value, angle.quadrant + VI(1));
  // cos has quadrant signs + - - +: those of sin one quadrant later
  return patch_lanes(hard_angle(x), result, x,
                     [](float a) { return static_cast<float>(__builtin_cos(a)); });
}

// Computed in double throughout: near the poles, rounding errors of r, sine and cosine are
// magnified.
[[gnu::always_inline]] inline VF tan(VF x) {
  const VDPair ratio = each_half(widen(x), [](VD a) {
    const VD n = quadrant_of_float(a);
    const VD r = angle_of_float(a, n);
    const VD sine = short_sin(r);
    const VD cosine = short_cos(r);
    const VD half = n * VD(0.5);
    const Mask<double> odd = round_even(half) != half;
    return select(odd, -cosine, sine) / select(odd, sine, cosine);
  });
  const VF result = select(x == VF(0.0), x, narrow(ratio));
  return patch_lanes(hard_angle(x), result, x,
                     [](float a) { return static_cast<float>(__builtin_tan(a)); });
}

}  // namespace tsr::cpu::TSR_ISA
