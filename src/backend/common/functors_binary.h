// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of two operands: arithmetic, comparisons, logic, and the fused derivatives (see Note
// [Functors]).
#pragma once

#include <type_traits>

#include "backend/common/complex.h"
#include "backend/common/functors_polynomial.h"
#include "backend/common/functors_unary.h"  // gelu_tanh_argument

namespace tsr::math {

// ---- Bits ----

struct BitwiseAnd {
  static constexpr unsigned kTypes = kSignless | kBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a & b;
  }
};
struct BitwiseOr {
  static constexpr unsigned kTypes = kSignless | kBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a | b;
  }
};
struct BitwiseXor {
  static constexpr unsigned kTypes = kSignless | kBools;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a ^ b;
  }
};

// ---- Arithmetic ----

struct Add {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  static constexpr bool kByPart = true;
  using OnBools = BitwiseOr;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a + b;
  }
};
struct Subtract {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  static constexpr bool kByPart = true;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a - b;
  }
};
struct Multiply {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  using OnBools = BitwiseAnd;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a * b;
  }
};
struct Divide {
  static constexpr unsigned kTypes = kReal | kComplexes;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a / b;
  }
};

// Python's: the sign of a nonzero remainder is that of the divisor.
struct Remainder : Division {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return floor_remainder(a, b);
  }
};
struct FloorDivide : Division {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return floor_divide(a, b);
  }
};
struct Pow {
  static constexpr unsigned kTypes = kReal | kComplexes | kIntegers;
  static constexpr const char* kRefusal =
      "expected exponents of at least 0 for integers, got a negative one";
  template <class T>
  [[gnu::always_inline]] TSR_HD static bool refuses(T exponent) {
    if constexpr (std::is_signed_v<T>)
      return exponent < T{0};
    else
      return false;
  }
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return pow(a, b);
  }
};
struct Maximum {
  static constexpr unsigned kTypes = kReal | kIntegers;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  using OnBools = BitwiseOr;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a > b) | (a != a), a, b);
  }
};
struct Minimum {
  static constexpr unsigned kTypes = kReal | kIntegers;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  using OnBools = BitwiseAnd;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a < b) | (a != a), a, b);
  }
};
struct JoinParts {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD Complex<V> operator()(V a, V b) const {
    return {a, b};
  }
};
struct Atan2 {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return atan2(a, b);
  }
};
struct Hypot {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return hypot(a, b);
  }
};

// ---- Comparisons and logic ----

struct Equal {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a == b;
  }
};
struct NotEqual {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a != b;
  }
};
struct Less {
  static constexpr unsigned kTypes = kReal | kIntegers | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a < b;
  }
};
struct LessEqual {
  static constexpr unsigned kTypes = kReal | kIntegers | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a <= b;
  }
};
struct Greater {
  static constexpr unsigned kTypes = kReal | kIntegers | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a > b;
  }
};
struct GreaterEqual {
  static constexpr unsigned kTypes = kReal | kIntegers | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a >= b;
  }
};
struct LogicalAnd {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) & (b != V(0));
  }
};
struct LogicalOr {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) | (b != V(0));
  }
};
struct LogicalXor {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) ^ (b != V(0));
  }
};

// ---- Fused derivatives: g is the upstream gradient, x the input of the forward, y its output ----

struct TanhGrad {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * (V(1) - y * y);
  }
};
struct SigmoidGrad {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * y * (V(1) - y);
  }
};
struct ReluGrad {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return select(y > V(0), g, V(0));
  }
};
// Interpolates from the nearer end, so that the weights 0 and 1 give a and b exactly.
struct LerpBy {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V a, V b, V weight) const {
    const V step = b - a;
    return select(is_near_start(weight), fma(weight, step, a), b - step * (V(1) - weight));
  }

 private:
  template <class V>
  [[gnu::always_inline]] TSR_HD static auto is_near_start(V weight) {
    return weight < V(0.5);
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD static auto is_near_start(Complex<V> weight) {
    return weight.re * weight.re + weight.im * weight.im < V(0.25);
  }
};
struct LeakyReluGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V slope) const {
    return select(x > V(0), g, slope * g);
  }
};
// Φ(x) + x φ(x), with the normal distribution function and its density.
struct GeluGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * fma(x, normal_density(x), normal_cdf(x));
  }
};
// d/dx of x/2 (1 + t), t = tanh(u): (1 + t) / 2 + x/2 (1 - t²) u'.
struct GeluTanhGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V t = tanh(gelu_tanh_argument(x));
    const V slope = V(0.79788456080286536) * fma(V(0.134145) * x, x, V(1));
    return g * V(0.5) * fma(x * (V(1) - t * t), slope, V(1) + t);
  }
};
// σ(x) (1 + x (1 - σ(x))).
struct SiluGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V s = sigmoid(x);
    return g * s * fma(x, V(1) - s, V(1));
  }
};
struct AbsGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * sign(x);
  }
};
struct ReciprocalGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return -(g * (y * y));
  }
};
struct SquareGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * (x + x);
  }
};
struct SqrtGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g / (y + y);
  }
};
struct RsqrtGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * (y * y * y * V(-0.5));
  }
};
struct Expm1Grad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * (y + V(1));
  }
};
struct Log1pGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g / (x + V(1));
  }
};
struct SinGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * cos(x);
  }
};
struct CosGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return -(g * sin(x));
  }
};
struct TanGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * fma(y, y, V(1));
  }
};

}  // namespace tsr::math
