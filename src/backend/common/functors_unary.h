// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of one operand: out = f(x), with parameters behind x. See Note [Functors].
//
// Note [Functors]
// A functor is a template over the value type V: a vector of numbers on the CPU, one number on
// CUDA. It uses operators, V(constant), select(mask, yes, no) and functions found by argument
// (exp(x), abs(x), fma(a, b, c)), so the mathematics of an op stands once. Comparisons give V's
// mask type, which is also the result of predicates.
#pragma once

#include "base/host_device.h"

namespace tsr::math {

struct Abs {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return abs(x);
  }
};
struct Negative {
  template <class V>
  TSR_HD V operator()(V x) const {
    return -x;
  }
};
struct Sign {
  template <class V>
  TSR_HD V operator()(V x) const {
    return sign(x);
  }
};
struct Reciprocal {
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(1) / x;
  }
};
struct Square {
  template <class V>
  TSR_HD V operator()(V x) const {
    return x * x;
  }
};
struct Sqrt {
  template <class V>
  TSR_HD V operator()(V x) const {
    return sqrt(x);
  }
};
struct Rsqrt {
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(1) / sqrt(x);
  }
};
struct Exp {
  template <class V>
  TSR_HD V operator()(V x) const {
    return exp(x);
  }
};
struct Expm1 {
  template <class V>
  TSR_HD V operator()(V x) const {
    return expm1(x);
  }
};
struct Log {
  template <class V>
  TSR_HD V operator()(V x) const {
    return log(x);
  }
};
struct Log1p {
  template <class V>
  TSR_HD V operator()(V x) const {
    return log1p(x);
  }
};
struct Log2 {
  template <class V>
  TSR_HD V operator()(V x) const {
    return log2(x);
  }
};
struct Log10 {
  template <class V>
  TSR_HD V operator()(V x) const {
    return log10(x);
  }
};
struct Sin {
  template <class V>
  TSR_HD V operator()(V x) const {
    return sin(x);
  }
};
struct Cos {
  template <class V>
  TSR_HD V operator()(V x) const {
    return cos(x);
  }
};
struct Tan {
  template <class V>
  TSR_HD V operator()(V x) const {
    return tan(x);
  }
};
struct Asin {
  template <class V>
  TSR_HD V operator()(V x) const {
    return asin(x);
  }
};
struct Acos {
  template <class V>
  TSR_HD V operator()(V x) const {
    return acos(x);
  }
};
struct Atan {
  template <class V>
  TSR_HD V operator()(V x) const {
    return atan(x);
  }
};
struct Sinh {
  template <class V>
  TSR_HD V operator()(V x) const {
    return sinh(x);
  }
};
struct Cosh {
  template <class V>
  TSR_HD V operator()(V x) const {
    return cosh(x);
  }
};
struct Tanh {
  template <class V>
  TSR_HD V operator()(V x) const {
    return tanh(x);
  }
};
struct Erf {
  template <class V>
  TSR_HD V operator()(V x) const {
    return erf(x);
  }
};
struct Sigmoid {
  template <class V>
  TSR_HD V operator()(V x) const {
    return sigmoid(x);
  }
};

// ---- Rounding ----

struct Floor {
  template <class V>
  TSR_HD V operator()(V x) const {
    return floor(x);
  }
};
struct Ceil {
  template <class V>
  TSR_HD V operator()(V x) const {
    return ceil(x);
  }
};
struct Round {
  template <class V>
  TSR_HD V operator()(V x) const {
    return round_even(x);
  }
};
struct Trunc {
  template <class V>
  TSR_HD V operator()(V x) const {
    return trunc(x);
  }
};
struct Identity {
  template <class V>
  TSR_HD V operator()(V x) const {
    return x;
  }
};

// ---- Complex and integer ----

struct Conj {
  template <class V>
  TSR_HD V operator()(V x) const {
    return conj(x);
  }
};
struct BitwiseInvert {
  template <class V>
  TSR_HD V operator()(V x) const {
    return ~x;
  }
};
struct InvertBool {
  template <class V>
  TSR_HD V operator()(V x) const {
    return x ^ V(1);
  }
};

// ---- Activations ----

struct Relu {
  template <class V>
  TSR_HD V operator()(V x) const {
    return select(x < V(0), V(0), x);  // a NaN stays
  }
};
struct LeakyRelu {
  template <class V>
  TSR_HD V operator()(V x, V slope) const {
    return select(x < V(0), x * slope, x);
  }
};
struct Gelu {
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(0.5) * x * (V(1) + erf(x * V(0.70710678118654752)));
  }
};
// The cubic argument of the tanh form: sqrt(2 / pi) (x + 0.044715 x³).
template <class V>
TSR_HD V gelu_tanh_argument(V x) {
  return V(0.79788456080286536) * fma(V(0.044715) * x * x, x, x);
}
struct GeluTanh {
  template <class V>
  TSR_HD V operator()(V x) const {
    return V(0.5) * x * (V(1) + tanh(gelu_tanh_argument(x)));
  }
};
struct Silu {
  template <class V>
  TSR_HD V operator()(V x) const {
    return x * sigmoid(x);
  }
};
struct Clip {
  template <class V>
  TSR_HD V operator()(V x, V low, V high) const {
    const V raised = select(x < low, low, x);
    return select(raised > high, high, raised);
  }
};

// ---- Predicates ----

struct IsNan {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return x != x;
  }
};
struct IsInf {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_infinite(x);
  }
};
struct IsFinite {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return is_finite(x);
  }
};
struct LogicalNot {
  template <class V>
  TSR_HD auto operator()(V x) const {
    return x == V(0);
  }
};

}  // namespace tsr::math
