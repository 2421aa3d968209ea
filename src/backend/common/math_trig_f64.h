// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions for vectors of float64; polynomials from tests/tools/minimax.py.
#pragma once

#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// x = quadrant * pi/2 + r + rest with |r| <= pi/4; the quadrant is in the low bits of `quadrant`.
struct WideAngle {
  VD r, rest;
  VL quadrant;
};
[[gnu::always_inline]] inline WideAngle reduce_angle(VD x) {
  const VD magic(kWholeMagic);
  const VD shifted = fma(x, VD(0.6366197723675814), magic);
  const VD n = shifted - magic;
  const VL quadrant = bit_cast_to<int64_t>(shifted);
  if constexpr (kFusedMultiplyAdd) {
    // The product with the first 53 bits of pi/2 leaves a difference that a double holds.
    const VD low(-6.123233995736766e-17);
    const VD first = fma(n, VD(-kHalfPi), x);
    const VD r = fma(n, low, first);
    return {r, fma(n, low, first - r), quadrant};
  } else {
    constexpr double kFirst = 1.5707963267341256;      // pi/2 to 33 bits
    constexpr double kSecond = 6.077100506303966e-11;  // 33 more
    constexpr double kThird = 2.0222662487959506e-21;
    const VD first = x - n * VD(kFirst);
    const VD near = first - n * VD(kSecond);
    const VD tail = (first - near) - n * VD(kSecond) - n * VD(kThird);
    const VD r = near + tail;
    return {r, sum_error(near, tail, r), quadrant};
  }
}
// Lanes out of the range of the reduction: too large, not finite, or so near a multiple of pi/2
// that the bits of pi/2 used here leave r short of bits. They use the C library's long double
// functions, whose reduction is exact; its double functions are eight units off at the worst angle.
template <class Fn>
[[gnu::always_inline]] inline VD patch_hard_angles(VD result, VD x, VD r, Fn fn) {
  const VD a = abs(x);
  const VD least = a * VD(0x1p-33);
#if defined(__AVX512F__)
  const bool hard = _mm512_cmp_pd_mask(abs(r).v, least.v, _CMP_NGE_UQ) != 0;
#else
  const bool hard = any(!(abs(r) >= least));
#endif
  if (__builtin_expect(hard | any_beyond(x, kLargestAngle), 0)) {
    const Mask<double> easy = (a <= VD(kLargestAngle)) & (abs(r) >= least);
    return select(easy, result, by_lane(x, fn));
  }
  return result;
}

// sin r - r (minimax.py: sin_f64) and cos r - 1 + z / 2 (cos_f64), for z = r**2.
[[gnu::always_inline]] inline VD sin_rest(VD r, VD z) {
  return r * z *
         polynomial(z, -0.1666666666666663, 0.0083333333333218407, -0.00019841269829358531,
                    2.7557313538515936e-06, -2.505073438961505e-08, 1.589543331403965e-10);
}
[[gnu::always_inline]] inline VD cos_rest(VD z) {
  return z * z *
         polynomial(z, 0.04166666666666665, -0.001388888888888163, 2.4801587293582857e-05,
                    -2.7557315409479096e-07, 2.087585336454752e-09, -1.1365812514770699e-11);
}
[[gnu::always_inline]] inline VD sin_reduced(VD r, VD rest) {
  return r + (sin_rest(r, r * r) + rest);
}
[[gnu::always_inline]] inline VD cos_reduced(VD r, VD rest) {
  const VD z = r * r;
  const VD high = fma(z, VD(-0.5), VD(1.0));
  return high + (fma(z, VD(-0.5), VD(1.0) - high) + fma(r, -rest, cos_rest(z)));
}

// Turns bit 1 of the quadrant into a sign.
[[gnu::always_inline]] inline VD flip_by_quadrant(VD value, VL quadrant) {
  return bit_cast_to<double>(bit_cast_to<int64_t>(value) ^ shift_left<62>(quadrant & VL(2)));
}

[[gnu::always_inline]] inline VD sin(VD x) {
  const WideAngle angle = reduce_angle(x);
  const VD value = select_odd(angle.quadrant, cos_reduced(angle.r, angle.rest),
                              sin_reduced(angle.r, angle.rest));
  const VD result = select(x == VD(0.0), x, flip_by_quadrant(value, angle.quadrant));
  return patch_hard_angles(result, x, angle.r,
                           [](double a) { return static_cast<double>(__builtin_sinl(a)); });
}

[[gnu::always_inline]] inline VD cos(VD x) {
  const WideAngle angle = reduce_angle(x);
  const VD value = select_odd(angle.quadrant, sin_reduced(angle.r, angle.rest),
                              cos_reduced(angle.r, angle.rest));
  // cos has quadrant signs + - - +: those of sin one quadrant later
  const VD result = flip_by_quadrant(value, angle.quadrant + VL(1));
  return patch_hard_angles(result, x, angle.r,
                           [](double a) { return static_cast<double>(__builtin_cosl(a)); });
}

// r + r**3 P(r**2) (minimax.py: tan_f64) in two parts, or their inverse with the other sign.
[[gnu::always_inline]] inline VD tan(VD x) {
  const WideAngle angle = reduce_angle(x);
  const VD r = angle.r;
  const VD z = r * r;
  const VD p = polynomial(z, 0.33333333333332743, 0.13333333333419389, 0.053968253924392327,
                          0.021869489663509423, 0.0088632183968077975, 0.0035922960001068343,
                          0.0014547159249171868, 0.00059524167399261231, 0.00022185777098051039,
                          0.00013760207476728401, -2.7905650388276653e-05, 9.0850936513645441e-05,
                          -4.5632781516835397e-05, 2.1045425422105918e-05);
  // 1 + r**2 is near enough to the slope of tan for so small a rest.
  const VD rest = fma(r * z, p, fma(angle.rest, z, angle.rest));
  const VD tangent = r + rest;
  const VD low = sum_error(r, rest, tangent);
  const VD inverse = quick_inverse(tangent);
  VD lost;
  if constexpr (kFusedMultiplyAdd) {
    lost = fma(-tangent, inverse, VD(1.0));
  } else {
    const VD product = tangent * inverse;
    lost = (VD(1.0) - product) - product_error(tangent, inverse, product);
  }
  const VD other = fma(fma(low, inverse, -lost), inverse, -inverse);
  const VD result = select(x == VD(0.0), x, select_odd(angle.quadrant, other, tangent));
  return patch_hard_angles(result, x, r,
                           [](double a) { return static_cast<double>(__builtin_tanl(a)); });
}

}  // namespace tsr::cpu::TSR_ISA
