// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The Airy function Ai and its derivative for vectors, by the formulas of airy_math.h.
#pragma once

#include "backend/common/airy_math.h"
#include "backend/common/math_trig_f64.h"

namespace tsr::cpu::TSR_ISA {

// For |x| > 2; z is 2/3 |x|**1.5.
template <bool kPrime>
[[gnu::always_inline]] inline VD airy_beyond(VD x) {
  const VD a = at_least(abs(x), VD(math::kAiryEdge));
  const VD root = sqrt(a);
  const VD z = VD(2.0 / 3.0) * a * root;
  const VD quarter = sqrt(root);
  const VD size = kPrime ? quarter : VD(1.0) / quarter;
  const VD ratio = VD(math::kAiryEdgeZ) / z;
  const Mask<double> right = x > VD(0.0);
  VD value(0.0);
  if (any(right)) {
    const VD t = ratio + ratio - VD(1.0);
    const VD sum = kPrime ? -math::airy_prime_far(t) : math::airy_far(t);
    value = VD(0.5 * math::kInvSqrtPi) * exp(-z) * size * sum;
  }
  if (any(!right)) {
    const VD t = fma(ratio + ratio, ratio, VD(-1.0));
    const VD phase = z + VD(0.5 * kHalfPi);
    const VD sine = sin(phase);
    const VD cosine = cos(phase);
    const VD wave = kPrime
                        ? -fma(cosine, math::airy_wave_r(t), sine * (math::airy_wave_s(t) / z))
                        : fma(sine, math::airy_wave_f(t), -(cosine * (math::airy_wave_g(t) / z)));
    value = select(right, value, VD(math::kInvSqrtPi) * size * wave);
  }
  return value;
}
template <bool kPrime>
[[gnu::noinline]] VD airy_lanes(VD x) {
  constexpr double kLargest = 1e200;  // the phase does not overflow
  const Mask<double> near = abs(x) <= VD(math::kAiryEdge);
  VD value = math::airy_near<kPrime>(select(near, x, VD(0.0)));
  if (any(!near)) value = select(near, value, airy_beyond<kPrime>(x));
  return patch_beyond(kLargest, value, x, [](double lane) { return math::airy<kPrime>(lane); });
}

[[gnu::always_inline]] inline VD airy_ai(VD x) {
  return airy_lanes<false>(x);
}
[[gnu::always_inline]] inline VD airy_ai_prime(VD x) {
  return airy_lanes<true>(x);
}
[[gnu::always_inline]] inline VF airy_ai(VF x) {
  return narrow(each_half(widen(x), airy_lanes<false>));
}
[[gnu::always_inline]] inline VF airy_ai_prime(VF x) {
  return narrow(each_half(widen(x), airy_lanes<true>));
}

}  // namespace tsr::cpu::TSR_ISA
