// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions and their inverses for vectors of float32; polynomials from
// tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f32.h"

namespace tsr::cpu::TSR_ISA {

// x = quadrant * pi/2 + r with |r| <= pi/4. The reduction runs in double, which makes r right to
// its last bit.
struct Angle {
  VF r;
  VI quadrant;
};

// Above this the product quadrant * kHalfPiHigh is no longer exact, and lanes go to the scalar
// functions.
inline constexpr double kLargestAngle = 1e6;

[[gnu::always_inline]] inline Angle reduce_angle(VF x) {
  constexpr double kHalfPiHigh = 1.5707963267341256;  // pi/2 to 33 bits
  constexpr double kHalfPiLow = 6.077100506506192e-11;
  const VDPair wide = widen(x);
  const auto to_whole = [](VD a) { return round_even(a * VD(0.6366197723675814)); };
  const VDPair n = each_half(wide, to_whole);
  const auto rest = [](VD a, VD whole) {
    return (a - whole * VD(kHalfPiHigh)) - whole * VD(kHalfPiLow);
  };
  return {narrow(each_half(wide, n, rest)), round_to_int(n)};
}

// minimax.py: sin, cos; for |r| <= pi/4.
[[gnu::always_inline]] inline VF sin_reduced(VF r) {
  const VF z = r * r;
  const VF p = polynomial(z, -0.166666672, 0.00833337847, -0.000198525624, 2.82634505e-06);
  return fma(r * z, p, r);
}
[[gnu::always_inline]] inline VF cos_reduced(VF r) {
  const VF z = r * r;
  const VF p = polynomial(z, 0.0416666679, -0.001388898, 2.48219076e-05, -2.88584943e-07);
  return fma(z * z, p, fma(z, VF(-0.5), VF(1.0)));
}

[[gnu::always_inline]] inline Mask<float> odd_lanes(VI quadrant) {
  return {(quadrant & VI(1)).v != 0};
}
// Turns bit 1 of the quadrant into a sign.
[[gnu::always_inline]] inline VF flip_by_quadrant(VF value, VI quadrant) {
  return bit_cast_to<float>(bit_cast_to<int32_t>(value) ^ shift_left<30>(quadrant & VI(2)));
}

// Replaces the lanes of `result` whose argument is too large (or not finite) by fn of that lane.
template <class Fn>
[[gnu::always_inline]] inline VF patch_large(VF result, VF x, Fn fn) {
  const Mask<float> large = !(abs(x) <= VF(kLargestAngle));
  if (__builtin_expect(any(large), 0)) return select(large, by_lane(x, fn), result);
  return result;
}

[[gnu::always_inline]] inline VF sin(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select(odd_lanes(angle.quadrant), cos_reduced(angle.r), sin_reduced(angle.r));
  const VF result = select(x == VF(0.0), x, flip_by_quadrant(value, angle.quadrant));
  return patch_large(result, x, [](float a) { return static_cast<float>(__builtin_sin(a)); });
}

[[gnu::always_inline]] inline VF cos(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select(odd_lanes(angle.quadrant), sin_reduced(angle.r), cos_reduced(angle.r));
  const VF result = flip_by_quadrant(value, angle.quadrant + VI(1));
  // cos has quadrant signs + - - +: those of sin one quadrant later
  return patch_large(result, x, [](float a) { return static_cast<float>(__builtin_cos(a)); });
}

[[gnu::always_inline]] inline VF tan(VF x) {
  const Angle angle = reduce_angle(x);
  const VF sine = sin_reduced(angle.r);
  const VF cosine = cos_reduced(angle.r);
  const Mask<float> odd = odd_lanes(angle.quadrant);
  const VF ratio = select(odd, VF(0.0) - cosine, sine) / select(odd, sine, cosine);
  const VF result = select(x == VF(0.0), x, ratio);
  return patch_large(result, x, [](float a) { return static_cast<float>(__builtin_tan(a)); });
}

inline constexpr double kHalfPi = 1.5707963267948966;
inline constexpr double kHalfPiRest = -4.371138828673793e-08;  // pi/2 - float(pi/2)

// asin y - y over y for y = sqrt(z) <= 1/2 (minimax.py: asin).
[[gnu::always_inline]] inline VF asin_rest(VF z) {
  return z * polynomial(z, 0.166667521, 0.0749530941, 0.0454691537, 0.0241847429, 0.0421583876);
}

// asin |x| = pi/2 - 2 asin sqrt((1 - |x|) / 2) for |x| > 1/2.
[[gnu::always_inline]] inline VF asin(VF x) {
  const VF a = abs(x);
  const Mask<float> large = a > VF(0.5);
  const VF z = select(large, fma(a, VF(-0.5), VF(0.5)), a * a);
  const VF y = select(large, sqrt(z), a);
  const VF value = fma(y, asin_rest(z), y);
  const VF complement = VF(kHalfPi) - (value + value - VF(kHalfPiRest));
  return with_sign(abs(select(large, complement, value)), x);
}

[[gnu::always_inline]] inline VF acos(VF x) {
  const VF a = abs(x);
  const Mask<float> large = a > VF(0.5);
  const VF z = select(large, fma(a, VF(-0.5), VF(0.5)), a * a);
  const VF y = with_sign(select(large, sqrt(z), a), x);
  const VF value = fma(y, asin_rest(z), y);
  const VF twice = value + value;
  const VF near_one = select(x > VF(0.0), twice, VF(2 * kHalfPi) + (twice + VF(2 * kHalfPiRest)));
  return select(large, near_one, VF(kHalfPi) - (value - VF(kHalfPiRest)));
}

// Reduced by pi/2 above tan(3 pi/8) and by pi/4 above tan(pi/8) (minimax.py: atan).
[[gnu::always_inline]] inline VF atan(VF x) {
  const VF a = abs(x);
  const Mask<float> large = a > VF(2.414213562373095);
  const Mask<float> middle = a > VF(0.4142135623730950);
  const VF top = select(large, VF(-1.0), select(middle, a - VF(1.0), a));
  const VF bottom = select(large, a, select(middle, a + VF(1.0), VF(1.0)));
  const VF base = select(large, VF(kHalfPi), select(middle, VF(kHalfPi / 2), VF(0.0)));
  const VF rest = select(large, VF(kHalfPiRest), select(middle, VF(kHalfPiRest / 2), VF(0.0)));
  const VF t = top / bottom;
  const VF z = t * t;
  const VF p = polynomial(z, -0.333333164, 0.199985266, -0.142443448, 0.105987281, -0.0608873554);
  return with_sign(abs(base + (fma(t * z, p, t) + rest)), x);
}

}  // namespace tsr::cpu::TSR_ISA
