// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps: what one element of a parameter becomes, and what it adds to a norm. Always
// inlined, so that a loop of them becomes vectors and sources of several instruction sets can share
// them.
#pragma once

#include <cmath>

#include "base/host_device.h"
#include "kernel/optim.h"

namespace tsr::math {

// ---- Adam ----

// p -= step_size m / (sqrt(v) root_correction + eps)
template <class T>
struct AdamStep {
  T beta1, beta2, step_size, root_correction, eps;
  T decay;   // added to the gradient, times p
  T shrink;  // p is multiplied by it first (decoupled weight decay)
  T sign;    // -1: maximize

  // `largest` is the maximum of v so far, where that bounds the step.
  template <bool kMaximum>
  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& m, T& v,
                                          [[maybe_unused]] T& largest) const {
    const T parameter = p * shrink;
    const T slope = g * sign + decay * p;
    const T first = m * beta1 + slope * (T{1} - beta1);
    const T second = v * beta2 + slope * slope * (T{1} - beta2);
    T bound = second;
    if constexpr (kMaximum) {
      bound = largest < second ? second : largest;
      largest = bound;
    }
    m = first;
    v = second;
    p = parameter - step_size * first / (std::sqrt(bound) * root_correction + eps);
  }
};

template <class T>
AdamStep<T> adam_step(const kernel::OptimPlan& plan) {
  const double steps = static_cast<double>(plan.step);
  const double correction1 = 1 - std::pow(plan.beta1, steps);
  const double correction2 = 1 - std::pow(plan.beta2, steps);
  const bool decoupled = plan.op == kernel::OptimOp::kAdamW;
  return {
      .beta1 = static_cast<T>(plan.beta1),
      .beta2 = static_cast<T>(plan.beta2),
      .step_size = static_cast<T>(plan.learning_rate / correction1),
      .root_correction = static_cast<T>(1 / std::sqrt(correction2)),
      .eps = static_cast<T>(plan.eps),
      .decay = decoupled ? T{0} : static_cast<T>(plan.weight_decay),
      .shrink = decoupled ? static_cast<T>(1 - plan.learning_rate * plan.weight_decay) : T{1},
      .sign = plan.maximize != 0 ? T{-1} : T{1},
  };
}

// ---- SGD ----

template <class T>
struct SgdStep {
  T rate, decay, sign;
  T carry, fresh;  // buffer = carry buffer + fresh slope
  T look, direct;  // p -= rate (direct slope + look buffer)
  bool first;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g) const { p -= rate * (g * sign + decay * p); }
  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& buffer) const {
    const T slope = g * sign + decay * p;
    // A buffer that starts now may hold anything, also NaN.
    const T moved = (first ? T{0} : buffer * carry) + slope * fresh;
    buffer = moved;
    p -= rate * (direct * slope + look * moved);
  }
};

template <class T>
SgdStep<T> sgd_step(const kernel::OptimPlan& plan) {
  const bool first = plan.first_momentum != 0;
  const bool nesterov = plan.nesterov != 0;
  const T momentum = static_cast<T>(plan.momentum);
  return {
      .rate = static_cast<T>(plan.learning_rate),
      .decay = static_cast<T>(plan.weight_decay),
      .sign = plan.maximize != 0 ? T{-1} : T{1},
      .carry = first ? T{0} : momentum,
      .fresh = first ? T{1} : static_cast<T>(1 - plan.dampening),
      .look = nesterov ? momentum : T{1},
      .direct = nesterov ? T{1} : T{0},
      .first = first,
  };
}

// ---- The p-norm of all elements: p may be 0 or infinite ----

// What one number adds; the largest counts for infinity.
[[gnu::always_inline]] TSR_HD inline double norm_term(double magnitude, double p) {
  if (p == 0) return magnitude != 0 ? 1 : 0;
  if (p == 1 || std::isinf(p)) return magnitude;
  return p == 2 ? magnitude * magnitude : std::pow(magnitude, p);
}
[[gnu::always_inline]] TSR_HD inline double joined_norms(double a, double b, double p) {
  if (!std::isinf(p)) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return p > 0 ? (a < b ? b : a) : (b < a ? b : a);
}
[[gnu::always_inline]] TSR_HD inline double norm_start(double p) {
  return std::isinf(p) && p < 0 ? -p : 0;
}
TSR_HD inline double finished_norm(double total, double p) {
  if (p == 0 || p == 1 || std::isinf(p)) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}
// Back from a finished norm to what it adds to that of more numbers.
[[gnu::always_inline]] TSR_HD inline double started_norm(double norm, double p) {
  return p == 0 ? norm : norm_term(norm, p);
}
// What gradients of this norm are multiplied with, unless it is at least 1.
[[gnu::always_inline]] TSR_HD inline double clip_factor(double max_norm, double norm) {
  return max_norm / (norm + 1e-6);
}

}  // namespace tsr::math
