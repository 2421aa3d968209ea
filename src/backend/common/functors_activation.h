// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of activations and of pointwise losses, each with its fused derivative: g is the
// upstream gradient, x what the forward was given (see Note [Functors]). NaN stays NaN.
#pragma once

#include "backend/common/functor_types.h"

namespace tsr::math {

// ---- Exponential units ----

// x, and alpha (e**(rate x) - 1) left of 0.
struct Elu {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V alpha, V rate) const {
    return select(x > V(0), x, alpha * expm1(rate * x));
  }
};
struct EluGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V alpha, V rate) const {
    return select(x > V(0), g, g * (alpha * rate) * exp(rate * x));
  }
};
// With the scales that keep mean 0 and variance 1 (Klambauer et al., Self-Normalizing Neural
// Networks, 2017).
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
struct Selu {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return select(x > V(0), V(kSeluScale) * x, V(kSeluScale * kSeluAlpha) * expm1(x));
  }
};
struct SeluGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * select(x > V(0), V(kSeluScale), V(kSeluScale * kSeluAlpha) * exp(x));
  }
};

// log(1 + e**(beta x)) / beta, and x where beta x is above the threshold.
struct Softplus {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V beta, V threshold) const {
    const V scaled = beta * x;
    const V larger = select(scaled > V(0), scaled, V(0));
    return select(scaled > threshold, x, (larger + log1p(exp(-abs(scaled)))) / beta);
  }
};
struct SoftplusGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V beta, V threshold) const {
    const V scaled = beta * x;
    return select(scaled > threshold, g, g * sigmoid(scaled));
  }
};
// log σ(x) = min(x, 0) - log(1 + e**-|x|)
struct Logsigmoid {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return select(x > V(0), V(0), x) - log1p(exp(-abs(x)));
  }
};
struct LogsigmoidGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return g * sigmoid(-x);
  }
};
// x tanh(log(1 + e)) = x n / (n + 2) for e = e**x and n = e (e + 2); from 20 on it is x.
struct Mish {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    const V e = exp(select(x > V(20), V(20), x));
    const V n = e * (e + V(2));
    return select(x > V(20), x, x * (n / (n + V(2))));
  }
};
// w + 4 x e (1 + e) / (n + 2)² with w = n / (n + 2)
struct MishGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V e = exp(select(x > V(20), V(20), x));
    const V n = e * (e + V(2));
    const V bottom = n + V(2);
    const V slope = n / bottom + V(4) * x * (e / bottom) * ((V(1) + e) / bottom);
    return select(x > V(20), g, g * slope);
  }
};

// ---- Pieces of straight lines; the derivative at a kink is PyTorch's ----

// x limited to [low, high].
struct Hardtanh {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V low, V high) const {
    return select(x < low, low, select(x > high, high, x));
  }
};
struct HardtanhGrad {  // 0 at both limits
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V low, V high) const {
    return select((x <= low) | (x >= high), V(0), g);
  }
};
// x + 3 limited to [0, 6], over 6.
struct Hardsigmoid {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    const V raised = x + V(3);
    return select(raised < V(0), V(0), select(raised > V(6), V(6), raised)) / V(6);
  }
};
struct HardsigmoidGrad {  // 0 at -3 and 3
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    return select(abs(x) >= V(3), V(0), g / V(6));
  }
};
struct Hardswish {
  static constexpr unsigned kTypes = kReal;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V x) const {
    const V raised = x + V(3);
    const V limited = select(raised < V(0), V(0), select(raised > V(6), V(6), raised));
    return select(x < V(-3), V(0), x * limited / V(6));
  }
};
struct HardswishGrad {  // 0 at -3, 1 at 3
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V slope = fma(x, V(1.0 / 3), V(0.5));
    return select(x <= V(-3), V(0), select(x >= V(3), g, g * slope));
  }
};
// x above the threshold, else the value.
struct Threshold {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V threshold, V value) const {
    return select(x <= threshold, value, x);
  }
};
struct ThresholdGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V threshold) const {
    return select(x <= threshold, V(0), g);
  }
};
struct Hardshrink {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V lambda) const {
    return select(abs(x) <= lambda, V(0), x);
  }
};
struct Softshrink {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V lambda) const {
    return select(abs(x) <= lambda, V(0), select(x > V(0), x - lambda, x + lambda));
  }
};
struct ShrinkGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x, V lambda) const {
    return select(abs(x) <= lambda, V(0), g);
  }
};

// ---- Quotients and gates ----

struct Softsign {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x / (V(1) + abs(x));
  }
};
struct SoftsignGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V bottom = V(1) + abs(x);
    return g / (bottom * bottom);
  }
};
// tanh² of what tanhshrink, x - tanh x, was given.
struct TanhshrinkGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V x) const {
    const V t = tanh(x);
    return g * (t * t);
  }
};
struct Tanhshrink {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x) const {
    return x - tanh(x);
  }
};
// Two operands: a σ(b), also the derivative of glu towards a.
struct Gate {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b) const {
    return a * sigmoid(b);
  }
};
// Three operands: the derivative of a σ(b) towards b.
struct GateGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V a, V b) const {
    const V s = sigmoid(b);
    return g * a * s * (V(1) - s);
  }
};
// Two operands: x, and weight x left of 0.
struct Prelu {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V weight) const {
    return select(x > V(0), x, weight * x);
  }
};

// ---- Losses of a difference or of a probability ----

// Two operands: d² / 2 for the difference d up to delta, a straight line beyond, times the scale.
// An infinite delta gives squares.
struct HuberOfPair {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V a, V b, V delta, V scale) const {
    const V x = a - b;
    const V size = abs(x);
    const V bowl = V(0.5) * x * x;
    return scale * select(size <= delta, bowl, delta * (size - V(0.5) * delta));
  }
};
// Three operands: its derivative towards a.
struct HuberOfPairGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V a, V b, V delta, V scale) const {
    const V x = a - b;
    const V slope = select(x < -delta, -delta, select(x > delta, delta, x));
    return g * (scale * slope);
  }
};
// Two operands: -(t log p + (1 - t) log(1 - p)), each logarithm at least -100.
struct CrossEntropyOfPair {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V p, V t) const {
    const V yes = log(p);
    const V no = log1p(-p);
    const V low(-100);
    return (t - V(1)) * select(no < low, low, no) - t * select(yes < low, low, yes);
  }
};
// Two operands: -(t log σ(x) + (1 - t) log(1 - σ(x))) = (1 - t) x + log(1 + e**-|x|) + max(-x, 0).
struct CrossEntropyOfLogits {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V t) const {
    const V soft = log1p(exp(-abs(x))) + select(x < V(0), -x, V(0));
    return (V(1) - t) * x + soft;
  }
};
// Three operands: the derivative of cross_entropy_of_pair towards p.
struct CrossEntropyOfPairGrad {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V g, V p, V t) const {
    const V spread = (V(1) - p) * p;
    return g * (p - t) / select(spread < V(1e-12), V(1e-12), spread);
  }
};

}  // namespace tsr::math
