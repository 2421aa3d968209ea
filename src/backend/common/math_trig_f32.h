// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions for vectors of float32; polynomials from tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// x = quadrant * pi/2 + r with |r| <= pi/4. The quadrant is in the low bits of `quadrant`.
struct Angle {
  VF r;
  VI quadrant;
};

inline constexpr double kTwoOverPi = 0.6366197723675814;

// In double, r is exact to float's last bit.
struct WideAngleOfFloat {
  VD r;
  VL quadrant;
};
[[gnu::always_inline]] inline WideAngleOfFloat reduce_angle_of_float(VD x) {
  constexpr double kHalfPiHigh = 1.5707963267341256;  // pi/2 to 33 bits
  constexpr double kHalfPiLow = 6.077100506506192e-11;
  const VD magic(kWholeMagic);
  const VD shifted = fma(x, VD(kTwoOverPi), magic);
  const VD n = shifted - magic;
  return {fma(n, VD(-kHalfPiLow), fma(n, VD(-kHalfPiHigh), x)), bit_cast_to<int64_t>(shifted)};
}

// With a fused multiply-add three floats for pi/2 are enough: the first product leaves a difference
// that a float holds, and the last one is far below the smallest r of an angle in range.
[[gnu::always_inline]] inline Angle reduce_angle(VF x) {
  if constexpr (kFusedMultiplyAdd) {
    constexpr auto kFirst = static_cast<float>(kHalfPi);
    constexpr auto kSecond = static_cast<float>(kHalfPi - kFirst);
    constexpr double kThird = (kHalfPi - kFirst) - kSecond + 6.123233995736766e-17;
    const VF magic(12582912.0);
    const VF shifted = fma(x, VF(kTwoOverPi), magic);
    const VF n = shifted - magic;
    const VF r = fma(n, VF(-kThird), fma(n, VF(-kSecond), fma(n, VF(-kFirst), x)));
    return {r, bit_cast_to<int32_t>(shifted)};
  } else {
    const VDPair wide = widen(x);
    const WideAngleOfFloat low = reduce_angle_of_float(wide.low);
    const WideAngleOfFloat high = reduce_angle_of_float(wide.high);
    const VD magic(kWholeMagic);
    const VDPair n{bit_cast_to<double>(low.quadrant) - magic,
                   bit_cast_to<double>(high.quadrant) - magic};
    return {narrow({low.r, high.r}), round_to_int(n)};
  }
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

// Turns bit 1 of the quadrant into a sign.
[[gnu::always_inline]] inline VF flip_by_quadrant(VF value, VI quadrant) {
  return bit_cast_to<float>(bit_cast_to<int32_t>(value) ^ shift_left<30>(quadrant & VI(2)));
}

// Angles too large for the reduction, infinities and NaN go to the C library lane by lane.

[[gnu::always_inline]] inline VF sin(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select_odd(angle.quadrant, short_cos(angle.r), short_sin(angle.r));
  const VF result = select(x == VF(0.0), x, flip_by_quadrant(value, angle.quadrant));
  return patch_beyond(kLargestAngle, result, x,
                      [](float a) { return static_cast<float>(__builtin_sin(a)); });
}

[[gnu::always_inline]] inline VF cos(VF x) {
  const Angle angle = reduce_angle(x);
  const VF value = select_odd(angle.quadrant, short_sin(angle.r), short_cos(angle.r));
  const VF result = flip_by_quadrant(value, angle.quadrant + VI(1));
  // cos has quadrant signs + - - +: those of sin one quadrant later
  return patch_beyond(kLargestAngle, result, x,
                      [](float a) { return static_cast<float>(__builtin_cos(a)); });
}

// tan r = r / P(r**2), and -1 / tan r in odd quadrants (minimax.py: tan). In double throughout:
// near the poles, rounding errors of r are magnified. -0 goes through all of it with its sign.
[[gnu::always_inline]] inline VF tan_wide(VF x) {
  const VDPair ratio = each_half(widen(x), [](VD a) {
    const auto [r, quadrant] = reduce_angle_of_float(a);
    const VD p =
        polynomial(r * r, 1.0000000000841036, -0.33333334267602299, -0.022222052596587508,
                   -0.002117531712191984, -0.00020825130303777061, -2.5985691019048941e-05);
    return select_odd(quadrant, -p, r) / select_odd(quadrant, r, p);
  });
  return patch_beyond(kLargestAngle, narrow(ratio), x,
                      [](float a) { return static_cast<float>(__builtin_tan(a)); });
}

#if defined(__AVX512F__)
// The same by two floats for r and for P (minimax.py: tan_f32), for |x| <= 1000. The second parts
// are exact but for the last product of r's, and so small that their own products do not count. P
// with the second part of r differs by its derivative, about -0.7 r, times that.
[[gnu::always_inline]] inline VF tan_of_parts(VF x) {
  constexpr float kFirst = 0x1.921fb4p0F;  // below pi/2, so that -0 keeps its sign
  constexpr float kSecond = 0x1.444p-24F;  // short, so that products with n are exact
  constexpr double kThird = (kHalfPi - kFirst) - kSecond + 6.123233995736766e-17;
  const VF magic(12582912.0);
  const VF shifted = fma(x, VF(kTwoOverPi), magic);
  const VF n = shifted - magic;
  const VI quadrant = bit_cast_to<int32_t>(shifted);
  const VF first = fma(n, VF(-kFirst), x);
  const VF second = fma(n, VF(-kSecond), first);
  const VF r = fma(n, VF(-kThird), second);
  const VF r_low = fma(n, VF(-kSecond), first - second) + fma(n, VF(-kThird), second - r);
  const VF z = r * r;
  const VF rest = z * horner(z, -0.333333045, -0.0222265366, -0.00209627999, -0.000248194236);
  const VF p = VF(1.0) + rest;
  const VF p_low = fma(r * VF(-0.7), r_low, sum_error(VF(1.0), rest, p));
  const VF size =
      quick_quotient(Parts<float>{select_odd(quadrant, p, r), select_odd(quadrant, p_low, r_low)},
                     Parts<float>{select_odd(quadrant, r, p), select_odd(quadrant, r_low, p_low)});
  const VF value = with_sign(size, r);  // also of a zero
  return select_odd(quadrant, -value, value);
}
[[gnu::always_inline]] inline VF tan(VF x) {
  constexpr double kLargest = 1000;
  const VF result = tan_of_parts(x);
  if (__builtin_expect(any_beyond(x, kLargest), 0))
    return select(abs(x) <= VF(kLargest), result, tan_wide(x));
  return result;
}
#else
[[gnu::always_inline]] inline VF tan(VF x) {
  return tan_wide(x);
}
#endif

}  // namespace tsr::cpu::TSR_ISA
