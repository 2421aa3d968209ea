// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bessel functions of the first and second kind for vectors of float32, computed in float64, and
// modified ones of the second kind for vectors; orders 0 and 1. The numbers at formulas are those
// of Abramowitz and Stegun, Handbook of Mathematical Functions; polynomials come from minimax.py.
#pragma once

#include "backend/common/bessel_more_math.h"
#include "backend/common/math_trig_f64.h"

namespace tsr::cpu::TSR_ISA {

// ---- Oscillating ones ----

// J(x), of order 1 over x, for x**2 = 32 (1 + t) (minimax.py: j0_near, j1_near).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_j_near(VD t) {
  if constexpr (kOrder == 0)
    return polynomial(t, 0.045829664859813768, 0.93030124729585717, -0.64846928308718366,
                      -0.80808880766968716, 1.0383794611437211, -0.50746804584710004,
                      0.14598884856759259, -0.028472718610882044, 0.0040580789891411714,
                      -0.00044354592243115115, 3.8473197855557915e-05, -2.7177492236309038e-06,
                      1.595610915025777e-07, -7.9153230837910556e-09, 3.3634447638993307e-10,
                      -1.2433011478546109e-11, 4.0044674835616576e-13);
  else
    return polynomial(t, -0.058143827955991073, 0.081058660385897957, 0.15151665143806634,
                      -0.25959486528593029, 0.15858376432721938, -0.054745818212847221,
                      0.012456814392255437, -0.0020290394945705996, 0.0002494945813909148,
                      -2.404574865968697e-05, 1.8684525371846969e-06, -1.1967081867873945e-07,
                      6.4312688106172994e-09, -2.9430137982850256e-10, 1.1610582607334649e-11,
                      -4.0045727640377102e-13, 1.209744135496963e-14);
}
// What Y(x), of order 1 over x, has beside 2 log(x) J(x) / pi and -2 / (pi x) (y0_near, y1_near).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_y_near(VD t) {
  if constexpr (kOrder == 0)
    return polynomial(t, -0.38225065445942502, -0.82843589036045873, 1.6470964788745466,
                      0.14412632369302475, -1.0775477338215995, 0.67217707834316787,
                      -0.21895747096171619, 0.046367047681375125, -0.0070257410572713832,
                      0.00080615860596163782, -7.2795418823658328e-05, 5.3213188103971928e-06,
                      -3.2185078550354767e-07, 1.6390875015854304e-08, -7.1304550348306208e-10,
                      2.6926937557209389e-11, -8.8417208100849986e-13);
  else
    return polynomial(t, 0.070759858821180049, -0.24337743079193114, 0.023367571720993584,
                      0.23507209206669755, -0.19639839859930425, 0.078547869222425321,
                      -0.01962875683309942, 0.0034224907399188495, -0.00044381734351150992,
                      4.4674330126463715e-05, -3.6009998743338933e-06, 2.3804930420505363e-07,
                      -1.3153322579421749e-08, 6.1696880296823032e-10, -2.4887492478485799e-11,
                      8.760000973125887e-13, -2.6955748729057008e-14);
}
// P and x Q of Hankel's expansions (9.2.5 and 9.2.6) for x**2 = 128 / (1 + u).
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_p_far(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, 0.99945727578816557, -0.00053636732218533695, 6.1374182210709524e-06,
                      -2.0525094828776447e-07, 1.2794989684539854e-08, -1.258266682365715e-09,
                      1.6678861886493248e-10);
  else
    return polynomial(u, 1.0009070262781756, 0.00089880494491598921, -7.9596970162558357e-06,
                      2.4534196282275404e-07, -1.4699014598151373e-08, 1.4107165269741135e-09,
                      -1.8407480345350017e-10);
}
template <int kOrder>
[[gnu::always_inline]] inline VD bessel_q_far(VD u) {
  if constexpr (kOrder == 0)
    return polynomial(u, -0.12444091103557534, 0.0005466519445062267, -1.1817123845268627e-05,
                      5.6836634629667184e-07, -4.5295854781713516e-08, 5.4018287447152359e-09,
                      -8.2960818371612312e-10);
  else
    return polynomial(u, 0.37421499221901744, -0.00076971672374907634, 1.456962902451172e-05,
                      -6.6321472461843189e-07, 5.130296399348377e-08, -5.9986240077335843e-09,
                      9.0925253146781208e-10);
}

// J(a), or with kSecond Y(a), for a > 8, by the sine and the cosine of a - (2 kOrder + 1) pi / 4.
template <int kOrder, bool kSecond>
[[gnu::always_inline]] inline VD oscillating_beyond(VD a) {
  const VD inverse = VD(1.0) / at_least(a, VD(8.0));
  const VD u = fma(VD(128.0) * inverse, inverse, VD(-1.0));
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
[[gnu::noinline]] VD oscillating_short(VD x) {
  const VD a = abs(x);
  const Mask<double> far = a > VD(8.0);
  const VD low = at_most(a, VD(8.0));
  const VD t = fma(low, low * VD(0.03125), VD(-1.0));
  const VD factor = kOrder == 0 ? VD(1.0) : low;
  VD value = bessel_j_near<kOrder>(t) * factor;
  if constexpr (kSecond) {
    const VD pole = kOrder == 0 ? VD(0.0) : VD(1.0) / low;
    const VD rest = bessel_y_near<kOrder>(t) * factor;
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
[[gnu::noinline]] inline VD spherical_short(VD x) {
  const VD value = select(abs(x) == VD(kInfinity), VD(0.0), sin(x) / x);
  return select(x == VD(0.0), VD(1.0), value);
}

// ---- By their names; the long functions above are called, not copied ----

[[gnu::always_inline]] inline VF bessel_j0(VF x) {
  return narrow(each_half(widen(x), oscillating_short<0, false>));
}
[[gnu::always_inline]] inline VF bessel_j1(VF x) {
  return narrow(each_half(widen(x), oscillating_short<1, false>));
}
[[gnu::always_inline]] inline VF bessel_y0(VF x) {
  return narrow(each_half(widen(x), oscillating_short<0, true>));
}
[[gnu::always_inline]] inline VF bessel_y1(VF x) {
  return narrow(each_half(widen(x), oscillating_short<1, true>));
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
  return narrow(each_half(widen(x), spherical_short));
}

}  // namespace tsr::cpu::TSR_ISA
