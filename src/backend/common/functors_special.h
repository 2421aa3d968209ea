// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of special functions, parts of numbers and the rarer arithmetic, of one operand and of
// two (see Note [Functors]).
#pragma once

#include <type_traits>

#include "backend/common/functor_types.h"

namespace tsr::math {

// ---- One operand: inverse hyperbolic functions, gamma, logistic ----

struct Acosh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return acosh(x);
  }
};
struct Asinh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return asinh(x);
  }
};
struct Atanh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return atanh(x);
  }
};
struct Exp2 {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return exp2(x);
  }
};
struct Sinc {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sinc(x);
  }
};
struct Lgamma {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return lgamma(x);
  }
};
struct Digamma {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return digamma(x);
  }
};
struct Polygamma {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V order) const {
    return polygamma(x, order);
  }
};
// NanToNum (functors_ternary.h) with the largest numbers of the dtype for infinities.
struct NanToFinite {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V nan, V largest) const {
    const V limited = select(x > largest, largest, select(x < -largest, -largest, x));
    return select(x != x, nan, limited);
  }
};
struct Erfinv {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return erfinv(x);
  }
};
// Above 1/4 the larger of x and 1 - x less the smaller, over the smaller, is rounded once: zeros
// keep their relative accuracy.
template <class V>
TSR_HD V logit(V x) {
  const V rest = V(1) - x;
  const V excess = x + x - V(1);
  const auto small = x < V(0.25);
  const auto left = (x < V(0.5)) & !small;
  const V top = select(small, x, select(left, -excess, excess));
  const V size = log_plus(top / select(left, x, rest), select(small, V(0), V(1)));
  return select(left, -size, size);
}
struct Logit {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V given, V low, V high) const {
    return logit(select(given < low, low, select(given > high, high, given)));
  }
};

// Two operands: its derivative, in which x outside [low, 1 - low] has the value `outside`.
struct LogitGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V low, V outside) const {
    return select((x >= low) & (x <= V(1) - low), g / (x * (V(1) - x)), outside);
  }
};
// x rounded to decimals for a scale of so many powers of ten. What the scale takes out of range has
// no places to round.
struct RoundDecimals {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V scale) const {
    const V whole = round_even(x * scale);
    return select(is_finite(whole), whole / scale, x);
  }
};

// ---- One operand: normal distribution, Bessel functions, entropy ----

struct Ndtr {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return normal_cdf(x);
  }
};
struct Ndtri {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return ndtri(x);
  }
};
struct LogNdtr {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return log_ndtr(x);
  }
};
struct Erfcx {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return erfcx(x);
  }
};
struct I0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_i0(x);
  }
};
struct I0e {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_i0e(x);
  }
};
struct I1 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_i1(x);
  }
};
struct I1e {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_i1e(x);
  }
};
struct BesselJ0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_j0(x);
  }
};
struct BesselJ1 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_j1(x);
  }
};
struct BesselY0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_y0(x);
  }
};
struct BesselY1 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return bessel_y1(x);
  }
};
struct ModifiedBesselK0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return modified_bessel_k0(x);
  }
};
struct ModifiedBesselK1 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return modified_bessel_k1(x);
  }
};
struct ScaledModifiedBesselK0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return scaled_modified_bessel_k0(x);
  }
};
struct ScaledModifiedBesselK1 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return scaled_modified_bessel_k1(x);
  }
};
struct SphericalBesselJ0 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return spherical_bessel_j0(x);
  }
};
struct AiryAi {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return airy_ai(x);
  }
};
struct AiryAiPrime {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return airy_ai_prime(x);
  }
};
// -x log x, 0 at 0, minus infinity left of it.
struct Entr {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    const V left = select(x < V(0), V(-__builtin_inf()), x);  // 0 and NaN stay
    return select(x > V(0), -x * log(x), left);
  }
};

// ---- One operand: parts of numbers ----

struct Frac {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x - trunc(x);
  }
};
struct ShortSignbit {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return x < V(0);
  }
};
struct Signbit {
  static constexpr unsigned kTypes = kReal | kIntegers | kBools;
  using OnShorts = ShortSignbit;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return has_sign(x);
  }
};
struct Isposinf {
  static constexpr unsigned kTypes = kReal | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_infinite(x) & (x > V(0));
  }
};
struct Isneginf {
  static constexpr unsigned kTypes = kReal | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_infinite(x) & (x < V(0));
  }
};
struct Angle {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD auto operator()(V x) const {
    if constexpr (requires { x.re; })
      return atan2(x.im, x.re);
    else
      return select(x < V(0), V(3.141592653589793), select(x != x, x, V(0)));
  }
};
struct Deg2rad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x * V(0.017453292519943295);
  }
};
struct Rad2deg {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x * V(57.29577951308232);
  }
};

// ---- Two operands: floats ----

struct ShortCopysign {
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return (a & V(0x7fff)) | (b & V(-0x8000));
  }
};
struct Copysign {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kBrief = true;
  using OnShorts = ShortCopysign;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select(has_sign(a) ^ has_sign(b), -a, a);
  }
};
struct Nextafter {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return nextafter(a, b);
  }
};
// The neighbours that 16-bit floats have, computed in float32.
struct NextafterHalf {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return nextafter_short<10, -14>(a, b);
  }
};
struct NextafterBfloat {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return nextafter_short<7, -126>(a, b);
  }
};
struct Logaddexp {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return logaddexp(a, b);
  }
};
struct Logaddexp2 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return logaddexp2(a, b);
  }
};
struct Xlogy {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a == V(0)) & (b == b), V(0), a * log(b));
  }
};
// a log(1 + b), 0 where a is 0 and b no NaN.
struct Xlog1py {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a == V(0)) & (b == b), V(0), a * log1p(b));
  }
};
struct Zeta {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return zeta(a, b);
  }
};
struct Igamma {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return igamma(a, b);
  }
};
struct Igammac {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return igammac(a, b);
  }
};
// The derivative of b, a gamma number of shape a, with respect to a.
struct StandardGammaGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return gamma_slope(a, b);
  }
};
struct Ldexp {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return ldexp(a, b);
  }
};

// ---- Two operands: any real numbers ----

struct EitherBool {
  static constexpr unsigned kTypes = kBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a | b;
  }
};
struct BothBools {
  static constexpr unsigned kTypes = kBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a & b;
  }
};
struct Heaviside {
  static constexpr unsigned kTypes = kReal | kIntegers;
  using OnBools = EitherBool;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    const V step = select(a < V(0), V(0), select(a > V(0), V(1), a));
    return select(a == V(0), b, step);
  }
};
// Divides numbers; integers must not be divided by 0.
struct Division {
  static constexpr unsigned kTypes = kReal | kIntegers;
  static constexpr const char* kRefusal =
      "expected divisors other than 0, got an integer division by zero";
  template <class T>
  [[gnu::always_inline]] TSR_HD static bool refuses(T divisor) {
    return divisor == 0;
  }
};
// C's: the sign of a nonzero remainder is that of the dividend.
struct Fmod : Division {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return trunc_remainder(a, b);
  }
};
struct TruncDivide : Division {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return trunc_divide(a, b);
  }
};
// A number wins over NaN.
struct Fmax {
  static constexpr unsigned kTypes = kReal | kIntegers;
  using OnBools = EitherBool;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a >= b) | (b != b), a, b);
  }
};
struct Fmin {
  static constexpr unsigned kTypes = kReal | kIntegers;
  using OnBools = BothBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a <= b) | (b != b), a, b);
  }
};

// ---- Two operands: integers ----

struct Gcd {
  static constexpr unsigned kTypes = kIntegers;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return gcd(a, b);
  }
};
struct Lcm {
  static constexpr unsigned kTypes = kIntegers;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return lcm(a, b);
  }
};
struct BitwiseLeftShift {
  static constexpr unsigned kTypes = kIntegers;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return shift_left_by(a, b);
  }
};
struct BitwiseRightShift {
  static constexpr unsigned kTypes = kIntegers;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return shift_right_by(a, b);
  }
};

}  // namespace tsr::math
