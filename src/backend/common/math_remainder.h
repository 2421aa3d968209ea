// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Remainders and whole quotients for vectors of floats, exact as C's fmod, and of 64-bit integers.
// Included by math_any.h.
#pragma once

#include "backend/common/math_base.h"
#include "backend/common/scalar_math.h"

namespace tsr::cpu::TSR_ISA {

// a - b trunc(a / b), exact, for quotients below 2**28 of numbers with 24 bits: the quotient of two
// such numbers is not within rounding of the next whole number, and its product with b has 52 bits.
[[gnu::always_inline]] inline VD remainder_of_floats(VD a, VD b) {
  return with_sign(abs(a - trunc(a / b) * b), a);
}
[[gnu::always_inline]] inline VF trunc_remainder(VF a, VF b) {
  const VF found = narrow(each_half(widen(a), widen(b), remainder_of_floats));
  const Mask<float> easy = (abs(a) < abs(b) * VF(0x1p28)) & (abs(b) < VF(kInfinity));
  return patch_lanes(!easy, found, a, b,
                     [](float x, float y) { return math::trunc_remainder(x, y); });
}
// The rounded quotient may be the next whole number; the difference then has the other sign. It is
// exact: a - p for the rounded product p of similar size, and what p lost.
[[gnu::always_inline]] inline VD trunc_remainder(VD a, VD b) {
  const VD x = abs(a);
  const VD y = abs(b);
  const VD quotient = trunc(x / y);
  const VD product = quotient * y;
  const VD rest = (x - product) - product_error(quotient, y, product);
  const VD found = with_sign(select(rest < VD(0.0), rest + y, rest), a);
  const Mask<double> easy =
      (quotient < VD(0x1p52)) & (x < VD(0x1p990)) & (y > VD(0x1p-900)) & (y < VD(0x1p990));
  return patch_lanes(!easy, found, a, b,
                     [](double u, double v) { return math::trunc_remainder(u, v); });
}

// math::floor_remainder and math::floor_divide by lane.
template <class T>
[[gnu::always_inline]] inline Vec<T> floor_remainder_of(Vec<T> a, Vec<T> b) {
  const Vec<T> rest = trunc_remainder(a, b);
  const Vec<T> zero(0.0);
  const Vec<T> moved = select((rest < zero) ^ (b < zero), rest + b, rest);
  return select(rest == zero, with_sign(zero, b), moved);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> floor_divide_of(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(0.0);
  const Vec<T> one(1.0);
  const Vec<T> rest = trunc_remainder(a, b);
  const Vec<T> exact = (a - rest) / b;
  const Vec<T> quotient = select((rest != zero) & ((rest < zero) ^ (b < zero)), exact - one, exact);
  const Vec<T> whole = floor(quotient);
  const Vec<T> rounded = select(quotient - whole > Vec<T>(0.5), whole + one, whole);
  const Vec<T> signed_zero = with_sign(zero, a / b);
  return select(b == zero, a / b, select(quotient == zero, signed_zero, rounded));
}

// ---- 64-bit integers ----
// Of numbers below 2**51 in float64: their quotient is not within rounding of the next whole
// number, and its product with the divisor is exact. Adding 1.5 * 2**52 puts a whole number into
// the last bits of a float64.

[[gnu::always_inline]] inline Mask<int64_t> have_exact_quotient(VL a, VL b) {
  const VL shift(int64_t{1} << 51);
  const VU high(reinterpret_cast<VU::Native>(((a + shift) | (b + shift)).v));
  const VL outside(reinterpret_cast<VL::Native>(shift_right<52>(high).v));
  return (outside == VL(0)) & (b != VL(0));
}
[[gnu::always_inline]] inline VD whole_to_double(VL a) {
  const VD magic(0x1.8p52);
  return bit_cast_to<double>(a + bit_cast_to<int64_t>(magic)) - magic;
}
[[gnu::always_inline]] inline VL whole_to_int(VD a) {
  const VD magic(0x1.8p52);
  return bit_cast_to<int64_t>(a + magic) - bit_cast_to<int64_t>(magic);
}
[[gnu::always_inline]] inline VL floor_divide_of(VL a, VL b) {
  const VD quotient = floor(whole_to_double(a) / whole_to_double(b));
  return patch_lanes(!have_exact_quotient(a, b), whole_to_int(quotient), a, b,
                     [](int64_t x, int64_t y) { return math::floor_divide(x, y); });
}
[[gnu::always_inline]] inline VL floor_remainder_of(VL a, VL b) {
  const VD dividend = whole_to_double(a);
  const VD divisor = whole_to_double(b);
  const VD rest = dividend - floor(dividend / divisor) * divisor;
  return patch_lanes(!have_exact_quotient(a, b), whole_to_int(rest), a, b,
                     [](int64_t x, int64_t y) { return math::floor_remainder(x, y); });
}

}  // namespace tsr::cpu::TSR_ISA
