// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of two operands: arithmetic, comparisons, logic, and the fused derivatives (see Note
// [Functors]).
#pragma once

#include "backend/common/functors_unary.h"

namespace tsr::math {

// ---- Arithmetic ----

struct Add {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a + b;
  }
};
struct Subtract {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a - b;
  }
};
struct Multiply {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a * b;
  }
};
struct Divide {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a / b;
  }
};

// Python's: the sign of a nonzero remainder is that of the divisor.
struct Remainder {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return floor_remainder(a, b);
  }
};
struct FloorDivide {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return floor_divide(a, b);
  }
};
struct Pow {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return pow(a, b);
  }
};
struct Maximum {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a > b) | (a != a), a, b);
  }
};
struct Minimum {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return select((a < b) | (a != a), a, b);
  }
};
struct Atan2 {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return atan2(a, b);
  }
};
struct Hypot {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return hypot(a, b);
  }
};

// ---- Bits ----

struct BitwiseAnd {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a & b;
  }
};
struct BitwiseOr {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a | b;
  }
};
struct BitwiseXor {
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a ^ b;
  }
};

// ---- Comparisons and logic ----

struct Equal {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a != b;
  }
};
struct Less {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a <= b;
  }
};
struct Greater {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return a >= b;
  }
};
struct LogicalAnd {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) & (b != V(0));
  }
};
struct LogicalOr {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) | (b != V(0));
  }
};
struct LogicalXor {
  template <class V>
  TSR_HD auto operator()(V a, V b) const {
    return (a != V(0)) ^ (b != V(0));
  }
};

// ---- Fused derivatives: g is the upstream gradient, y what the forward returned, x what it was
// given ----

struct TanhGrad {
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * (V(1) - y * y);
  }
};
struct SigmoidGrad {
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return g * y * (V(1) - y);
  }
};
struct ReluGrad {
  template <class V>
  TSR_HD V operator()(V g, V y) const {
    return select(y > V(0), g, V(0));
  }
};
struct LeakyReluGrad {
  template <class V>
  TSR_HD V operator()(V g, V x, V slope) const {
    return select(x > V(0), g, slope * g);
  }
};
// Φ(x) + x φ(x), with the normal distribution function and its density.
struct GeluGrad {
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V distribution = V(0.5) * (V(1) + erf(x * V(0.70710678118654752)));
    const V density = V(0.39894228040143268) * exp(V(-0.5) * x * x);
    return g * fma(x, density, distribution);
  }
};
// d/dx of x/2 (1 + t), t = tanh(u): (1 + t) / 2 + x/2 (1 - t²) u'.
struct GeluTanhGrad {
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V t = tanh(gelu_tanh_argument(x));
    const V slope = V(0.79788456080286536) * fma(V(0.134145) * x, x, V(1));
    return g * V(0.5) * fma(x * (V(1) - t * t), slope, V(1) + t);
  }
};
// σ(x) (1 + x (1 - σ(x))).
struct SiluGrad {
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V s = sigmoid(x);
    return g * s * fma(x, V(1) - s, V(1));
  }
};

}  // namespace tsr::math
