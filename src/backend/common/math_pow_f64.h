// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Powers and hypot for vectors of float64. y log x needs ten bits more than a double has, so
// the logarithm is computed in two parts (Muller, Elementary Functions, 3rd edition, chapter 11).
#pragma once

#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// factor * (high + rest) for a constant in two parts.
[[gnu::always_inline]] inline Parts<double> times(Parts<double> factor, double high, double rest) {
  const VD product = factor.high * VD(high);
  return {product, product_error(factor.high, VD(high), product) +
                       fma(factor.high, VD(rest), factor.low * VD(high))};
}
[[gnu::always_inline]] inline Parts<double> operator*(Parts<double> a, Parts<double> b) {
  const VD product = a.high * b.high;
  return {product, product_error(a.high, b.high, product) + fma(a.high, b.low, a.low * b.high)};
}

// log x for a positive, finite x, to 65 bits: e ln 2 + 2 s + 2/3 s**3 + 2/5 s**5 + ... with
// s = f / (2 + f). The first three terms are kept in two parts each; the later ones are small
// enough for one.
[[gnu::always_inline]] inline Parts<double> log_wide(VD x) {
  const WideLogArgument a = split_positive(x);
  const VD bottom = VD(2.0) + a.f;
  const VD bottom_low = sum_error(VD(2.0), a.f, bottom);
  const VD quotient = a.f / bottom;
  const VD product = quotient * bottom;
  const VD remainder =
      ((a.f - product) - product_error(quotient, bottom, product)) - quotient * bottom_low;
  // 1 / (2 + f) = (1 - s) / 2
  const Parts<double> s = {quotient, remainder * fma(quotient, VD(-0.5), VD(0.5))};

  const Parts<double> z = s * s;
  const Parts<double> cube = s * z;
  const Parts<double> fifth_power = cube * z;
  const Parts<double> third = times(cube, 0.6666666666666666, 3.700743415417188e-17);
  const Parts<double> fifth = times(fifth_power, 0.4, -2.220446049250313e-17);
  // minimax.py: log_wide_f64
  const VD seventh =
      fifth_power.high * z.high *
      polynomial(z.high, 0.28571428571438634, 0.22222222217849716, 0.18181818937085958,
                 0.1538454728105515, 0.13336825158054991, 0.11662465406867924, 0.12104362249185835);

  const VD whole = a.e * VD(kLn2High32);
  const VD twice = quotient + quotient;
  const VD first = whole + twice;
  const VD second = first + third.high;
  const VD sum = second + fifth.high;
  const VD errors = sum_error(whole, twice, first) + sum_error(first, third.high, second) +
                    sum_error(second, fifth.high, sum);
  const VD low =
      fma(a.e, VD(kLn2Low32), seventh) + (third.low + fifth.low + (s.low + s.low)) + errors;
  const VD high = sum + low;
  return {high, sum_error(sum, low, high)};
}

[[gnu::always_inline]] inline VD pow(VD x, VD y) {
  const VD a = abs(x);
  const Parts<double> logarithm = log_wide(a);
  const VD product = y * logarithm.high;
  const VD product_low = fma(y, logarithm.low, product_error(y, logarithm.high, product));
  // For a larger y only x = 1 keeps the product in range, and splitting y could overflow.
  const Mask<double> in_range = (abs(product) < VD(800.0)) & (abs(y) < VD(0x1p900));
  const VD high = at_most(at_least(product, VD(-800.0)), VD(800.0));
  const WideExpArgument power = reduce_exp({high, select(in_range, product_low, VD(0.0))});
  const VD r = power.r;
  VD result = scale_by_power(VD(1.0) + (r + fma(r * r, exp_series(r), power.rest)), power.n);

  const Mask<double> whole = round_even(y) == y;
  const VD half = y * VD(0.5);
  const Mask<double> odd = whole & (round_even(half) != half);
  result = select((x < VD(0.0)) & odd, -result, result);
  result = select((x < VD(0.0)) & !whole, VD(kNaN), result);
  // Zero, infinity and NaN follow the C library lane by lane.
  const Mask<double> special = !((a > VD(0.0)) & (a < VD(kInfinity)) & (abs(y) < VD(kInfinity)));
  return patch_lanes(special, result, x, y, [](double b, double e) { return __builtin_pow(b, e); });
}

// Scales the arguments if a square would leave the range of normal numbers.
[[gnu::always_inline]] inline VD hypot(VD x, VD y) {
  const VD ax = abs(x);
  const VD ay = abs(y);
  const VD larger = at_least(ax, ay);
  const Mask<double> huge = larger > VD(0x1p500);
  const Mask<double> tiny = larger < VD(0x1p-400);
  const VD scale = select(huge, VD(0x1p-600), select(tiny, VD(0x1p600), VD(1.0)));
  const VD back = select(huge, VD(0x1p600), select(tiny, VD(0x1p-600), VD(1.0)));
  const VD sx = ax * scale;
  const VD sy = ay * scale;
  const VD result = sqrt(fma(sx, sx, sy * sy)) * back;
  const Mask<double> infinite = (ax == VD(kInfinity)) | (ay == VD(kInfinity));
  return select(infinite, VD(kInfinity), result);
}

}  // namespace tsr::cpu::TSR_ISA
