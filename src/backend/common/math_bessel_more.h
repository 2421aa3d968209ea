// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bessel functions of the first and second kind and modified ones of the second kind, orders 0 and
// 1, for vectors of float64; float32 is computed so too. The numbers at formulas are those of
// Abramowitz and Stegun, Handbook of Mathematical Functions; polynomials come from minimax.py.
#pragma once

#include "backend/common/bessel_more_math.h"
#include "backend/common/math_trig_f64.h"

namespace tsr::cpu::TSR_ISA {

// ---- Oscillating ones ----

// J(x), of order 1 over x, over x**2 - (its first zero)**2, for x**2 = 12.5 (1 + t) (minimax.py:
// j0_near, j1_near).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_j_quotient(VD t) {
  if constexpr (kOrder == 0)
    return polynomial(t, -0.057280804216345342, 0.074366304627553226, -0.032777862107890479,
                      0.0073758943041960165, -0.0010134053469850019, 9.4144735807000966e-05,
                      -6.319318618322724e-06, 3.2115623516694564e-07, -1.2795360168633939e-08,
                      4.1056912429924396e-10, -1.0840781230460915e-11, 2.397250881753216e-13,
                      -4.5085169913159153e-15, 7.2348380305761911e-17);
  else
    return polynomial(t, -0.015875954311645481, 0.013090777521810029, -0.0042402259933957218,
                      0.00075525404329511588, -8.5929562320675453e-05, 6.814683895248244e-06,
                      -3.9913811722354005e-07, 1.7995159761333642e-08, -6.4431256636401036e-10,
                      1.8773974921846577e-11, -4.5448412082604118e-13, 9.2087683094183605e-15);
}
// The zero is in two parts, so that all digits of x beside it count.
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_j_near(VD x, VD t) {
  constexpr double kZero = kOrder == 0 ? 2.404825557695773 : 3.8317059702075125;
  constexpr double kRest = kOrder == 0 ? -1.176691651530894e-16 : -1.5269184090088067e-16;
  const VD value = ((x - VD(kZero)) - VD(kRest)) * (x + VD(kZero)) * bessel_j_quotient<kOrder>(t);
  if constexpr (kOrder == 1) return value * x;
  const VD square = x * x;  // near 0 the power series, which is 1 there
  return select(square < VD(0x1p-18), horner(square, 1.0, -0.25, 0.015625), value);
}
// What Y(x), of order 1 over x, has beside 2 log(x) J(x) / pi and -2 / (pi x) (y0_near, y1_near).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_y_near(VD t) {
  if constexpr (kOrder == 0)
    return polynomial(t, 0.4837248578102995, -0.43265582228551253, -0.47057636552972876,
                      0.38851639956570944, -0.11151682184328655, 0.017635345389338763,
                      -0.0018028096665503857, 0.0001299462909208047, -6.9855043740762011e-06,
                      2.9142206892481274e-07, -9.7209552088416017e-09, 2.6539972958999528e-10,
                      -6.0499366754910037e-12, 1.1666748977296548e-13);
  else
    return polynomial(t, 0.13974939033568806, 0.091086508384484441, -0.16312020358118715,
                      0.066346953547791077, -0.013433433740818165, 0.0016688031328635944,
                      -0.00014141835794484215, 8.7330983048482307e-06, -4.1137780795309471e-07,
                      1.5288901826647789e-08, -4.6013010748218807e-10, 1.1448943104734685e-11,
                      -2.3977822480406629e-13, 4.2781349038131334e-15);
}
// P and x Q of Hankel's expansions (9.2.5 and 9.2.6) for x**2 = 50 / (1 + u).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_p_far(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, 0.99863476590919908, -0.0013274931271998189, 3.4917305809197414e-05,
                      -2.4599633493887658e-06, 2.975901350615916e-07, -5.0863932578063746e-08,
                      1.1058037437417489e-08, -2.8729971782518164e-09, 8.5726808396616602e-10,
                      -2.7700428323282182e-10, 9.5033916104326416e-11, -5.0839254144881057e-11,
                      2.7443894388123115e-11, 2.9982311283972187e-12, -5.3564113904647597e-12,
                      -6.0877544502638944e-12, 4.017675847900742e-12);
  else
    return polynomial(u, 1.0022906462560661, 0.0022414632139165754, -4.5782806527728863e-05,
                      2.978621134697593e-06, -3.4667195004513653e-07, 5.7916264812092665e-08,
                      -1.2402422583544249e-08, 3.187556671633551e-09, -9.4331273618487709e-10,
                      3.0311356973343777e-10, -1.0360759766285129e-10, 5.4822360150260496e-11,
                      -2.9392714525516016e-11, -3.0731310305705166e-12, 5.624783581308376e-12,
                      6.4779666812383932e-12, -4.2640011410068474e-12);
}
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_q_far(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, -0.12361496352611884, 0.0013142139729058729, -6.3387154398098156e-05,
                      6.239113374295178e-06, -9.4098815948900081e-07, 1.887002000165177e-07,
                      -4.6392217043496322e-08, 1.3313402988759387e-08, -4.32025579049371e-09,
                      1.4745603987783153e-09, -5.2192041095217873e-10, 3.3103587023468115e-10,
                      -1.9831969331324264e-10, -3.626985931804344e-11, 5.130207828524602e-11,
                      4.7724195131953431e-11, -3.2978608446772925e-11);
  else
    return polynomial(u, 0.3730474331740804, -0.0018648496218366842, 7.89809417509305e-05,
                      -7.3699281643276091e-06, 1.0798860561680131e-06, -2.1266446951391152e-07,
                      5.1635523822389851e-08, -1.4682038740699881e-08, 4.7301137455044957e-09,
                      -1.6073189657225704e-09, 5.6754005198273001e-10, -3.5556216615794014e-10,
                      2.1160105619822664e-10, 3.7749049746831163e-11, -5.3917667910883287e-11,
                      -5.067880567972206e-11, 3.4930989425950425e-11);
}

// J(a), or with kSecond Y(a), for a > 5, by the sine and the cosine of a - (2 kOrder + 1) pi / 4.
template <int kOrder, bool kSecond>
[[gnu::always_inline]] inline VD oscillating_beyond(VD a) {
  const VD inverse = VD(1.0) / at_least(a, VD(5.0));
  const VD u = fma(VD(50.0) * inverse, inverse, VD(-1.0));
  const VD p = bessel_p_far<kOrder>(u);
  const VD q = bessel_q_far<kOrder>(u) * inverse;
  const VD sine = sin(a);
  const VD cosine = cos(a);
  // Both times the root of 2.
  const VD turned_sine = kOrder == 0 ? sine - cosine : -(sine + cosine);
  const VD turned_cosine = kOrder == 0 ? sine + cosine : sine - cosine;
  const VD wave =
      kSecond ? fma(p, turned_sine, q * turned_cosine) : fma(p, turned_cosine, -(q * turned_sine));
  const VD value = sqrt(inverse * VD(0.31830988618379067)) * wave;
  return select(a == VD(kInfinity), VD(0.0), value);
}
template <int kOrder, bool kSecond>
[[gnu::noinline]] VD oscillating(VD x) {
  const VD a = abs(x);
  const Mask<double> far = a > VD(5.0);
  const VD low = at_most(a, VD(5.0));
  const VD t = fma(low, low * VD(0.08), VD(-1.0));
  VD value = bessel_j_near<kOrder>(low, t);
  if constexpr (kSecond) {
    const VD pole = kOrder == 0 ? VD(0.0) : VD(1.0) / low;
    const VD rest = bessel_y_near<kOrder>(t) * (kOrder == 0 ? VD(1.0) : low);
    value = fma(VD(0.63661977236758134), fma(log(low), value, -pole), rest);
  }
  if (any(far)) value = select(far, oscillating_beyond<kOrder, kSecond>(a), value);
  if constexpr (kSecond) {
    value = select(x < VD(0.0), VD(kNaN), value);
    return select(x == VD(0.0), VD(-kInfinity), value);
  } else if constexpr (kOrder == 1) {
    const auto sign = bit_cast_to<int64_t>(sign_bit(x));
    return bit_cast_to<double>(bit_cast_to<int64_t>(value) ^ sign);
  } else {
    return value;
  }
}

// ---- Modified ones of the second kind ----

// K(x) for 0 < x < 1 (9.6.11 and 9.6.13), as bessel_k_near, whose terms are these polynomials'.
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_k_near(VD x) {
  const VD z = VD(0.25) * x * x;
  const VD logarithm = log(VD(0.5) * x);
  if constexpr (kOrder == 0) {
    const VD terms =
        polynomial(z, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111,
                   6.9444444444444444e-05, 1.9290123456790124e-06, 3.9367598891408417e-08,
                   6.151187326782565e-10, 7.594058428126624e-12, 7.594058428126623e-14);
    const VD weighted =
        polynomial(z, -0.57721566490153287, 0.42278433509846713, 0.23069608377461678,
                   0.034892157456438894, 0.0026147876188052093, 0.00011848039364109725,
                   3.6126241031992042e-06, 7.935096521304209e-08, 1.3167486730385647e-09,
                   1.709994072705808e-11, 1.785934656987074e-13);
    return weighted - logarithm * terms;
  } else {
    const VD terms =
        polynomial(z, 1.0, 0.5, 0.083333333333333329, 0.0069444444444444441, 0.00034722222222222224,
                   1.1574074074074073e-05, 2.7557319223985888e-07, 4.9209498614260522e-09,
                   6.834652585313961e-11, 7.594058428126623e-13, 6.903689480115112e-15);
    const VD weighted = polynomial(
        z, -0.15443132980306573, 0.67278433509846713, 0.18157516696085563, 0.019182189839330566,
        0.0011153594919665283, 4.1422476892711435e-05, 1.0715459140911807e-06,
        2.045286003593878e-08, 3.002048746589188e-10, 3.495928729692882e-12, 3.309914735250272e-14);
    return fma(VD(0.5) * x, fma(logarithm, terms, VD(-0.5) * weighted), VD(1.0) / x);
  }
}
template <int kOrder, bool kScaled, int kTerms>
[[gnu::noinline]] VD bessel_k_lanes(VD x) {
  const Mask<double> near = x < VD(1.0);
  const VD high = at_least(x, VD(1.0));
  const VD t = VD(2.0) / high - VD(1.0);
  VD value =
      (kOrder == 0 ? math::bessel_k0_sum<kTerms>(t) : math::bessel_k1_sum<kTerms>(t)) / sqrt(high);
  if constexpr (!kScaled) {
    // In two halves, because the result is small but not 0 where e**-x is 0.
    const VD half = exp(VD(-0.5) * high);
    value = value * half * half;
  }
  if (any(near)) {
    const VD low = at_most(x, VD(1.0));
    VD left = bessel_k_near<kOrder>(low);
    if constexpr (kScaled) left = left * exp(low);
    value = select(near, left, value);
  }
  value = select(x == VD(kInfinity), VD(0.0), value);
  value = select(x == VD(0.0), VD(kInfinity), value);
  return select((x < VD(0.0)) | (x != x), VD(kNaN), value);
}

template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VD bessel_k(VD x) {
  return bessel_k_lanes<kOrder, kScaled, 32>(x);
}
template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VF bessel_k(VF x) {
  constexpr int kEnough = 13;  // for a float32
  return narrow(each_half(widen(x), bessel_k_lanes<kOrder, kScaled, kEnough>));
}

// sin(x) / x
[[gnu::noinline]] inline VD spherical(VD x) {
  const VD value = select(abs(x) == VD(kInfinity), VD(0.0), sin(x) / x);
  return select(x == VD(0.0), VD(1.0), value);
}

// ---- By their names; the long functions above are called, not copied ----

[[gnu::always_inline]] inline VF bessel_j0(VF x) {
  return narrow(each_half(widen(x), oscillating<0, false>));
}
[[gnu::always_inline]] inline VD bessel_j0(VD x) {
  return oscillating<0, false>(x);
}
[[gnu::always_inline]] inline VF bessel_j1(VF x) {
  return narrow(each_half(widen(x), oscillating<1, false>));
}
[[gnu::always_inline]] inline VD bessel_j1(VD x) {
  return oscillating<1, false>(x);
}
[[gnu::always_inline]] inline VF bessel_y0(VF x) {
  return narrow(each_half(widen(x), oscillating<0, true>));
}
[[gnu::always_inline]] inline VD bessel_y0(VD x) {
  return oscillating<0, true>(x);
}
[[gnu::always_inline]] inline VF bessel_y1(VF x) {
  return narrow(each_half(widen(x), oscillating<1, true>));
}
[[gnu::always_inline]] inline VD bessel_y1(VD x) {
  return oscillating<1, true>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> modified_bessel_k0(Vec<T> x) {
  return bessel_k<0, false>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> modified_bessel_k1(Vec<T> x) {
  return bessel_k<1, false>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> scaled_modified_bessel_k0(Vec<T> x) {
  return bessel_k<0, true>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> scaled_modified_bessel_k1(Vec<T> x) {
  return bessel_k<1, true>(x);
}
[[gnu::always_inline]] inline VF spherical_bessel_j0(VF x) {
  return narrow(each_half(widen(x), spherical));
}
[[gnu::always_inline]] inline VD spherical_bessel_j0(VD x) {
  return spherical(x);
}

}  // namespace tsr::cpu::TSR_ISA
