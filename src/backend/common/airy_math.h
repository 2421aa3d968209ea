// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The Airy function Ai and its derivative, of one double at a time (see special_math.h): the power
// series (DLMF 9.4.1 and 9.4.3) up to 2 on both sides of 0, and beyond that sums of Chebyshev
// polynomials for the slowly varying factors of the asymptotic forms (DLMF 9.7), whose coefficients
// are the cosine transforms of values with 50 digits. z is 2/3 |x|**1.5. The parts, whose V may be
// a vector, serve math_airy.h too.
#pragma once

#include "backend/common/bessel_more_math.h"

namespace tsr::math {

inline constexpr double kAiryEdge = 2;
inline constexpr double kAiryEdgeZ = 1.8856180831641267;  // z at the edge
inline constexpr double kInvSqrtPi = 0.5641895835477563;

// 2 sqrt(pi) x**(1/4) e**z Ai(x), and -2 sqrt(pi) x**(-1/4) e**z Ai'(x), for t = 2 edge / z - 1.
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_far(V t) {
  constexpr double kCoefficients[] = {
      1.9688106098343103,      -0.014792784850104199,   0.0007327177465426715,
      -6.12595423417825e-05,   6.83476697557269e-06,    -9.237229735403982e-07,
      1.436225340438052e-07,   -2.489319422322096e-08,  4.709793440054328e-09,
      -9.583863708112733e-10,  2.0745855483677591e-10,  -4.737267332192277e-11,
      1.1336099808224236e-11,  -2.827706782319351e-12,  7.320712095125598e-13,
      -1.9599793911089723e-13, 5.4101162570683925e-14,  -1.5356466802223836e-14,
      4.472340393300025e-15,   -1.3338094674756681e-15, 4.066582046456231e-16,
      -1.265583225645289e-16,  4.015126334015871e-17};
  return chebyshev_sum(t, kCoefficients);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_prime_far(V t) {
  constexpr double kCoefficients[] = {
      2.0447834877907134,      0.021419543172417697,    -0.0008929320864098833,
      7.04386560665416e-05,    -7.629019563020457e-06,  1.0124594126717678e-06,
      -1.5547836430438127e-07, 2.670534777173515e-08,   -5.017799973983537e-09,
      1.015476324864757e-09,   -2.1883687800953883e-10, 4.97854884096185e-11,
      -1.1876037266305446e-11, 2.9543896474165515e-12,  -7.630714992633907e-13,
      2.038758045182824e-13,   -5.617262461082948e-14,  1.5918346754340464e-14,
      -4.629150125159948e-15,  1.3787341769318453e-15,  -4.198446246812051e-16,
      1.3051699130322144e-16,  -4.1364905599761646e-17};
  return chebyshev_sum(t, kCoefficients);
}
// With p = z + pi/4 and t = 2 (edge / z)**2 - 1: Ai(-x) = (sin(p) F - cos(p) G / z) / (sqrt(pi)
// x**(1/4)), Ai'(-x) = -(cos(p) R + sin(p) S / z) x**(1/4) / sqrt(pi).
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_wave_f(V t) {
  constexpr double kCoefficients[] = {
      1.9914821429442322,      -0.004010035109646775,   0.00021749797850221077,
      -2.559707367991953e-05,  4.446236506870234e-06,   -9.821561055116752e-07,
      2.560803263173486e-07,   -7.548234203090785e-08,  2.44721348245912e-08,
      -8.565475755185287e-09,  3.19367525949986e-09,    -1.255987021394502e-09,
      5.170550836252221e-10,   -2.214905097401196e-10,  9.825674760236318e-11,
      -4.4963784985101346e-11, 2.1156885271609226e-11,  -1.0208220646676312e-11,
      5.039149368950948e-12,   -2.5398941297245256e-12, 1.3049189702193968e-12,
      -6.823616992325794e-13,  3.6269500487027506e-13,  -1.9573262188645112e-13,
      1.071357332800642e-13,   -5.942337970626365e-14,  3.3371473537659826e-14,
      -1.896124271647578e-14,  1.0892823441519966e-14,  -6.323126775057816e-15,
      3.7068065540543276e-15,  -2.1934309222221593e-15, 1.3094880664782518e-15,
      -7.883992873950606e-16,  4.785040202214489e-16,   -2.9265723346902013e-16,
      1.803085728354554e-16,   -1.1186950624262489e-16, 6.987124507293882e-17,
      -4.3915009719953e-17,    2.776137174758753e-17};
  return chebyshev_sum(t, kCoefficients);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_wave_g(V t) {
  constexpr double kCoefficients[] = {
      0.13140181768118436,     -0.0033671650461869046,  0.00031318668306176705,
      -4.909474711434696e-05,  1.0313853228014992e-05,  -2.6227031443554174e-06,
      7.642834030899704e-07,   -2.4692182109787845e-07, 8.654323471404369e-08,
      -3.241259251109288e-08,  1.2830030202968905e-08,  -5.323264824289494e-09,
      2.3002631954787923e-09,  -1.02994806579835e-09,   4.758870680397784e-10,
      -2.261382410117157e-10,  1.102049059874138e-10,   -5.4947920141292804e-11,
      2.7973298258364373e-11,  -1.4515080315314647e-11, 7.665136033486201e-12,
      -4.114042807635782e-12,  2.241604145875723e-12,   -1.238627509880547e-12,
      6.934477742834752e-13,   -3.930243562468168e-13,  2.2533843917710873e-13,
      -1.3060800672017983e-13, 7.648190899939478e-14,   -4.522321494611541e-14,
      2.6987220920955878e-14,  -1.6246039136161018e-14, 9.861528491457169e-15,
      -6.033613705434322e-15,  3.7195372440455045e-15,  -2.309567211258711e-15,
      1.4439849787307e-15,     -9.087595213672047e-16,  5.755049736244707e-16,
      -3.666076170366764e-16,  2.347939228885123e-16,   -1.5105887904668303e-16,
      9.747573787493343e-17,   -6.287893632010473e-17,  4.0250677478225734e-17,
      -2.5124054734200115e-17};
  return chebyshev_sum(t, kCoefficients);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_wave_r(V t) {
  constexpr double kCoefficients[] = {
      2.0102211820810396,      0.004834571180224758,    -0.00024209120250460455,
      2.7744480374265367e-05,  -4.7538408727584944e-06, 1.0411826624294532e-06,
      -2.6986243583092185e-07, 7.919298248699238e-08,   -2.558630187762232e-08,
      8.930344093519263e-09,   -3.3219612939822168e-09, 1.3038570480231614e-09,
      -5.358474234756699e-10,  2.2919887542090511e-10,  -1.0154255923453342e-10,
      4.641289811989402e-11,   -2.1815693098626987e-11, 1.0516035686304449e-11,
      -5.1865766178596234e-12, 2.6121158394097213e-12,  -1.3410380652339422e-12,
      7.007723805344258e-13,   -3.7224582599581814e-13, 2.0076876160521242e-13,
      -1.0983193297470082e-13, 6.088746969154863e-14,   -3.417713870683034e-14,
      1.941015481939019e-14,   -1.1145910903113897e-14, 6.467402980804732e-15,
      -3.789920049496079e-15,  2.241788195336554e-15,   -1.3378898850913082e-15,
      8.052307912930799e-16,   -4.885642058459915e-16,  2.987193276221724e-16,
      -1.839899581097864e-16,  1.1412176071642254e-16,  -7.125891991922897e-17,
      4.477571700708156e-17,   -2.829853974539314e-17};
  return chebyshev_sum(t, kCoefficients);
}
template <class V>
[[maybe_unused]] TSR_HD_CALL static V airy_wave_s(V t) {
  constexpr double kCoefficients[] = {
      -0.18596064463668566,    0.0038323320922960444,   -0.00034198333176482153,
      5.2660552018745385e-05,  -1.0950616027912936e-05, 2.765890701625421e-06,
      -8.020926288759321e-07,  2.581737190364019e-07,   -9.021893586684305e-08,
      3.370709893810708e-08,   -1.3315195253616558e-08, 5.514910818592168e-09,
      -2.379460642816416e-09,  1.063987781896042e-09,   -4.910326141996061e-10,
      2.3308754882626934e-10,  -1.1348263674513421e-10, 5.653288148306611e-11,
      -2.8757253157086875e-11, 1.491094253714928e-11,   -7.868861416414758e-12,
      4.2207406259877744e-12,  -2.2983996879846456e-12, 1.2693195302173226e-12,
      -7.102686475695435e-13,  4.0236527693434735e-13,  -2.3059008480003763e-13,
      1.3359508745006573e-13,  -7.819964224225286e-14,  4.6221281278262765e-14,
      -2.757284484256047e-14,  1.65928678495906e-14,    -1.0068755890796259e-14,
      6.158475655193426e-15,   -3.795376254393309e-15,  2.3559840440732807e-15,
      -1.472602284412686e-15,  9.26526271299488e-16,    -5.866086578497949e-16,
      3.7359063041046194e-16,  -2.3921085936163604e-16, 1.5386663966108407e-16,
      -9.926681204607524e-17,  6.402186217379212e-17,   -4.0975095464570434e-17,
      2.5572373689831757e-17};
  return chebyshev_sum(t, kCoefficients);
}

// Ai(x), or with kPrime Ai'(x), for |x| <= 2: c1 f(x) - c2 g(x), both power series in x**3.
template <bool kPrime, class V>
[[gnu::always_inline]] TSR_HD inline V airy_near(V x) {
  constexpr double kAtZero = 0.355028053887817239;
  constexpr double kSlopeAtZero = 0.258819403792806798;
  const V cube = x * x * x;
  V even(1.0);  // the terms of f, or of f' over x**2 / 2
  V odd(1.0);   // the terms of g over x, or of g'
  V f(1.0);
  V g(1.0);
  for (int k = 1; k < 16; ++k) {
    const double m = 3.0 * k;
    even = even * (cube * V(1 / (kPrime ? m * (m + 2) : m * (m - 1))));
    odd = odd * (cube * V(1 / (kPrime ? m * (m - 2) : m * (m + 1))));
    f = f + even;
    g = g + odd;
  }
  if constexpr (kPrime)
    return V(0.5 * kAtZero) * x * x * f - V(kSlopeAtZero) * g;
  else
    return V(kAtZero) * f - V(kSlopeAtZero) * x * g;
}

// Ai(x), or with kPrime Ai'(x); 0 at infinity, NaN at minus infinity. Below about -4e205, where the
// phase overflows, Ai is below 1e-51 and given as 0; Ai' is NaN.
template <bool kPrime>
[[gnu::always_inline]] TSR_HD inline double airy(double x) {
  const double a = ::fabs(x);
  if (!(a > kAiryEdge)) return airy_near<kPrime>(x);
  if (a == kSpecialInfinity) return x > 0 ? 0 : kSpecialNaN;
  const double root = ::sqrt(a);
  const double z = 2.0 / 3.0 * a * root;
  if (!kPrime && z == kSpecialInfinity) return 0;
  const double quarter = ::sqrt(root);
  const double ratio = kAiryEdgeZ / z;
  if (x > 0) {
    const double t = 2 * ratio - 1;
    const double fall = 0.5 * kInvSqrtPi * ::exp(-z);
    return kPrime ? -fall * quarter * airy_prime_far(t) : fall / quarter * airy_far(t);
  }
  const double t = 2 * ratio * ratio - 1;
  constexpr double kEighth = 0.78539816339744831;
  const double sine = ::sin(z + kEighth);
  const double cosine = ::cos(z + kEighth);
  if (kPrime) return -kInvSqrtPi * quarter * (cosine * airy_wave_r(t) + sine * airy_wave_s(t) / z);
  return kInvSqrtPi / quarter * (sine * airy_wave_f(t) - cosine * airy_wave_g(t) / z);
}

}  // namespace tsr::math
