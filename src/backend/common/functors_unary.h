// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of one operand: out = f(x), with parameters behind x. See Note [Functors].
//
// Note [Functors]
// A functor is a template over the value type V: a vector of numbers on the CPU, one number on
// CUDA. It uses operators, V(constant), select(mask, yes, no) and functions found by
// argument-dependent lookup (exp(x), abs(x), fma(a, b, c)), so the mathematics of an op is written
// once. Comparisons return V's mask type, which is also the result type of predicates.
//
// A functor declares:
//   kTypes              the element types it is written for (functor_types.h)
//   OnIntegers, OnBools the functor that serves those types in its place
//   OnShorts            the functor that takes the bits of 16-bit floats, as int16_t, in its place:
//                       on the CPU, where to widen and narrow them costs more than the op
//   kLight              costs little beside moving its operands: on the CPU it has rows of its own
//                       for 16-bit floats and, of two operands, for one that is a single element
//   kBrief              is a handful of instructions: on the CPU long rows compute several
//                       registers before they store the first
//   kByPart             does with the two parts of a complex number what it does with a real one
//   kSecondAlone        of three operands: has a row for a second one that is a single element
//   refuses(b), kRefusal integers that its second operand must not be, and what the error says then
// It is named like its op: the schema's `log_softmax` would be LogSoftmax.
#pragma once

#include "backend/common/functor_types.h"
#include "backend/common/functors_activation.h"
#include "backend/common/functors_special.h"

namespace tsr::math {

struct Identity {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x;
  }
};
// Of 16-bit floats by their bits, NaNs among them.
struct ShortAbs {
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x & V(0x7fff);
  }
};
struct ShortNegative {
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x ^ V(-0x8000);
  }
};
struct Abs {
  static constexpr unsigned kTypes = kReal | kComplexes | kIntegers;
  static constexpr bool kBrief = true;
  using OnBools = Identity;
  using OnShorts = ShortAbs;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return abs(x);
  }
};
struct Negative {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kBrief = true;
  static constexpr bool kByPart = true;
  using OnShorts = ShortNegative;
  template <class V>
  TSR_HD V operator()(V x) const {
    return -x;
  }
};
struct Sign {
  static constexpr unsigned kTypes = kReal | kComplexes | kIntegers;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sign(x);
  }
};
struct Reciprocal {
  static constexpr unsigned kTypes = kReal | kComplexes;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(1) / x;
  }
};
struct Square {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x * x;
  }
};
struct Sqrt {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sqrt(x);
  }
};
struct Rsqrt {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(1) / sqrt(x);
  }
};
struct Exp {
  static constexpr unsigned kTypes = kReal | kComplexes;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return exp(x);
  }
};
struct Expm1 {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return expm1(x);
  }
};
struct Log {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return log(x);
  }
};
struct Log1p {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return log1p(x);
  }
};
struct Log2 {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return log2(x);
  }
};
struct Log10 {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return log10(x);
  }
};
struct Sin {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sin(x);
  }
};
struct Cos {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return cos(x);
  }
};
struct Tan {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return tan(x);
  }
};
struct Asin {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return asin(x);
  }
};
struct Acos {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return acos(x);
  }
};
struct Atan {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return atan(x);
  }
};
struct Sinh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sinh(x);
  }
};
struct Cosh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return cosh(x);
  }
};
struct Tanh {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return tanh(x);
  }
};
struct Erf {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return erf(x);
  }
};
struct Erfc {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return erfc(x);
  }
};
struct Sigmoid {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V x) const {
    return sigmoid(x);
  }
};

// ---- Rounding ----

struct Floor {
  static constexpr unsigned kTypes = kReal;
  using OnIntegers = Identity;
  using OnBools = Identity;
  template <class V>
  TSR_HD V operator()(V x) const {
    return floor(x);
  }
};
struct Ceil {
  static constexpr unsigned kTypes = kReal;
  using OnIntegers = Identity;
  using OnBools = Identity;
  template <class V>
  TSR_HD V operator()(V x) const {
    return ceil(x);
  }
};
struct Round {
  static constexpr unsigned kTypes = kReal | kComplexes;
  using OnIntegers = Identity;
  using OnBools = Identity;
  template <class V>
  TSR_HD V operator()(V x) const {
    return round_even(x);
  }
};
struct Trunc {
  static constexpr unsigned kTypes = kReal;
  using OnIntegers = Identity;
  using OnBools = Identity;
  template <class V>
  TSR_HD V operator()(V x) const {
    return trunc(x);
  }
};

// ---- Complex and integer ----

struct Conj {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD V operator()(V x) const {
    return conj(x);
  }
};
struct InvertBool {
  static constexpr unsigned kTypes = kBools;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x ^ V(1);
  }
};
struct BitwiseInvert {
  static constexpr unsigned kTypes = kSignless;
  using OnBools = InvertBool;
  template <class V>
  TSR_HD V operator()(V x) const {
    return ~x;
  }
};

// ---- Activations ----

struct Relu {
  static constexpr unsigned kTypes = kReal | kIntegers;
  static constexpr bool kBrief = true;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    return select(x < V(0), V(0), x);  // a NaN stays
  }
};
struct LeakyRelu {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V x, V slope) const {
    return select(x < V(0), x * slope, x);
  }
};
struct Gelu {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return gelu(x);
  }
};
// The cubic argument of the tanh form: sqrt(2 / pi) (x + 0.044715 x³).
template <class V>
TSR_HD V gelu_tanh_argument(V x) {
  return V(0.79788456080286536) * fma(V(0.044715) * x * x, x, x);
}
struct GeluTanh {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(0.5) * x * (V(1) + tanh(gelu_tanh_argument(x)));
  }
};
struct Silu {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return silu(x);
  }
};

// ---- Predicates ----

struct Isnan {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return x != x;
  }
};
struct Isinf {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_infinite(x);
  }
};
struct Isfinite {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_finite(x);
  }
};
struct LogicalNot {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless | kBools;
  template <class V>
  TSR_HD auto operator()(V x) const {
    return x == V(0);
  }
};

}  // namespace tsr::math
