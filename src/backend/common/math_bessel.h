// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Modified Bessel functions of the first kind, orders 0 and 1, for vectors: one polynomial up to 8
// and another beyond (minimax.py: i0_near, i0_far, i0_far_f64, i1_near, i1_far, i1_far_f64).
#pragma once

#include "backend/common/math_f32.h"
#include "backend/common/math_f64.h"

namespace tsr::cpu::TSR_ISA {

// e**-a I(a), of order 1 over a, for a = 4 (1 + t); for float32: a float64 with the accuracy of a
// float32.
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_near_short(VD t) {
  if constexpr (kOrder == 0)
    return polynomial(t, 0.20700192134846035, -0.11300433329805104, 0.094515608718711758,
                      -0.089043035045727387, 0.08734390794295567, -0.084970868955121168,
                      0.079270924660684625, -0.069479009582064807, 0.056792689024984432,
                      -0.043263101058642214, 0.030162557554379136, -0.018965057652533836,
                      0.011904488161496616, -0.0078982400484174809, 0.0038096786555975467,
                      -0.00082555216048041196, 0.00061084579878412971, -0.0008349103033062046,
                      0.0003032683378102696);
  else
    return polynomial(t, 0.044687709909083217, -0.061124338347600254, 0.068057593900071101,
                      -0.068482580675334276, 0.063767575399948498, -0.055280598408457962,
                      0.044672747820560577, -0.033666055746324142, 0.023695345598831855,
                      -0.015597538358916604, 0.0095587118699107451, -0.0054605801892046247,
                      0.003041636910726158, -0.0016614543031387118, 0.00072326078362666072,
                      -0.00022459381607842227, 0.00014330732651962741, -0.00011835411456672537,
                      3.6016115532770439e-05);
}
// sqrt(a) e**-a I(a) for a = 16 / (1 + u).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_far_short(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, 0.40217650944411149, 0.0033605519615191354, 0.00013621613610196126,
                      1.1143548343932985e-05, 1.4831817133288926e-06, 2.9390413387463692e-07,
                      9.1217572738456306e-08, 4.9513904617178624e-08, 1.7962156728868783e-08,
                      -7.9492406222047862e-09, -6.5636256039135543e-09);
  else
    return polynomial(u, 0.38939845902673004, -0.0097495771682749102, -0.00021923582324265842,
                      -1.5039122028074265e-05, -1.8342689637021585e-06, -3.4456422210638477e-07,
                      -1.0239498544835578e-07, -5.425265710031424e-08, -2.0083799745849891e-08,
                      8.2092530408478087e-09, 7.0501110759533684e-09);
}
// I(a), of order 1 over a, as the power series in z = a**2 / 4 (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 9.6.10), whose terms have one sign.
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_series(VD z) {
  if constexpr (kOrder == 0)
    return polynomial(z, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111,
                      6.944444444444444e-05, 1.9290123456790124e-06, 3.936759889140842e-08,
                      6.151187326782565e-10, 7.594058428126624e-12, 7.594058428126623e-14,
                      6.276081345559193e-16, 4.358389823304995e-18, 2.5789288895295828e-20,
                      1.3157800456783586e-22, 5.8479113141260385e-25, 2.2843403570804838e-27,
                      7.904291893012054e-30, 2.4395962632753253e-32, 6.757884385804225e-35,
                      1.6894710964510564e-37, 3.8310002187098785e-40);
  else
    return polynomial(z, 0.5, 0.25, 0.041666666666666664, 0.003472222222222222,
                      0.00017361111111111112, 5.787037037037037e-06, 1.3778659611992944e-07,
                      2.460474930713026e-09, 3.417326292656981e-11, 3.7970292140633116e-13,
                      3.451844740057556e-15, 2.615033893982997e-17, 1.676303778194229e-19,
                      9.21046031974851e-22, 4.385933485594529e-24, 1.827472285664387e-26,
                      6.718648109060246e-29, 2.195636636947793e-31, 6.419990166514014e-34,
                      1.6894710964510563e-36, 4.022550229645372e-39, 8.706818678886087e-42);
}
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_far(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, 0.4021765094450081, 0.0033605519836678323, 0.00013621607439202863,
                      1.1143033793819346e-05, 1.4838475591119832e-06, 2.9735977600089864e-07,
                      8.8722360875785349e-08, 3.9326929716096886e-08, 2.1546437744882329e-08,
                      7.546841725509483e-09, -6.7345766478668463e-09, -1.3374489847364819e-08,
                      -5.4592308078920982e-09, 7.4561542236577479e-09, 7.5768613045429382e-09,
                      -3.3297579580814393e-09, -6.212265910142849e-09, 1.310998733299643e-09,
                      3.9364248028691796e-09, -4.1635942536934237e-10, -1.8353324415373404e-09,
                      8.7308848222541002e-11, 5.4711048602032374e-10, -8.2830300439489756e-12,
                      -7.6735385892448126e-11);
  else
    return polynomial(u, 0.38939845902587239, -0.0097495771932356676, -0.00021923576385300599,
                      -1.5038547206497581e-05, -1.8349092243674819e-06, -3.483854249166719e-07,
                      -1.0002979414352937e-07, -4.3130962960043208e-08, -2.3211210827080679e-08,
                      -8.4160173920787146e-09, 5.8104852487571996e-09, 1.3986917515264401e-08,
                      9.3011227061758358e-09, -7.5197968679090007e-09, -1.5773907993836962e-08,
                      3.2177760667100393e-09, 1.8713346415188765e-08, -1.2073922455500979e-09,
                      -1.682214298315528e-08, 3.6823320919481108e-10, 1.0316116992349945e-08,
                      -7.5939496951308077e-11, -3.7612245763853246e-09, 7.4086112843304606e-12,
                      6.1020624365630871e-10);
}

// sqrt(a) e**-a I(a) over sqrt(a) for a > 8, 0 at infinity.
template <int kOrder, bool kShort>
[[gnu::always_inline]] inline VD bessel_beyond(VD a) {
  const VD inverse = VD(1.0) / a;
  const VD u = fma(at_most(inverse, VD(0.125)), VD(16.0), VD(-1.0));
  return (kShort ? bessel_far_short<kOrder>(u) : bessel_far<kOrder>(u)) * sqrt(inverse);
}
// I(x), or with kScaled e**-|x| I(x). Large exponentials are taken in two halves, because they
// overflow earlier.
template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VD bessel_short(VD x) {
  const VD a = abs(x);
  const VD t = fma(at_most(a, VD(8.0)), VD(0.25), VD(-1.0));
  VD near = bessel_near_short<kOrder>(t);
  if constexpr (kOrder == 1) near = near * a;
  VD value = select(a > VD(8.0), bessel_beyond<kOrder, true>(a), near);
  if constexpr (!kScaled) {
    const VD half = exp(a * VD(0.5));
    value = select(a == VD(kInfinity), a, value * half * half);
  }
  return value;
}
template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VD bessel_long(VD x) {
  const VD a = abs(x);
  const Mask<double> far = a > VD(8.0);
  const VD low = at_most(a, VD(8.0));
  VD near = bessel_series<kOrder>(VD(0.25) * low * low);
  if constexpr (kOrder == 1) near = near * low;
  const VD beyond = bessel_beyond<kOrder, false>(a);
  if constexpr (kScaled) return select(far, beyond, near * exp(-low));
  const VD half = exp(a * VD(0.5));
  return select(far, select(a == VD(kInfinity), a, beyond * half * half), near);
}
template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VD bessel_i(VD x) {
  const VD value = bessel_long<kOrder, kScaled>(x);
  return select(x == x, kOrder == 1 ? with_sign(value, x) : value, x);
}
template <int kOrder, bool kScaled>
[[gnu::always_inline]] inline VF bessel_i(VF x) {
  const VF value =
      narrow(each_half(widen(x), [](VD wide) { return bessel_short<kOrder, kScaled>(wide); }));
  return select(x == x, kOrder == 1 ? with_sign(value, x) : value, x);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i0(Vec<T> x) {
  return bessel_i<0, false>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i0e(Vec<T> x) {
  return bessel_i<0, true>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i1(Vec<T> x) {
  return bessel_i<1, false>(x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> bessel_i1e(Vec<T> x) {
  return bessel_i<1, true>(x);
}

}  // namespace tsr::cpu::TSR_ISA
