// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps: the update of one element of a parameter, and its contribution to a norm. Always
// inlined, so that the compiler vectorises loops of them and sources compiled for several
// instruction sets can share this file.
#pragma once

#include <cmath>
#include <type_traits>

#include "base/host_device.h"
#include "kernel/optim.h"

namespace tsr::math {

// Note [A step]
// take() updates one element p of a parameter with its gradient g, and the states a, b, c. The bits
// 1, 2 and 4 of kStates tell which of the states exist. Values common to all elements are members
// of the step, computed once per call in float64. In all formulas d = sign g + decay p.

// v = weight a + (1 - weight) x
template <class T>
[[gnu::always_inline]] TSR_HD inline T moved(T average, T weight, T x) {
  return average * weight + x * (T{1} - weight);
}

template <class T>
struct StepBase {
  T rate, decay, sign;  // sign -1: maximize
  [[gnu::always_inline]] TSR_HD T slope(T p, T g) const { return g * sign + decay * p; }
};
// Decoupled weight decay (Loshchilov and Hutter 2019): p is multiplied by shrink_of() first, and
// the gradient has no decay.
inline bool is_decoupled(const kernel::OptimPlan& plan) {
  return plan.op == kernel::OptimOp::kAdamW || plan.decoupled != 0;
}
template <class T>
T shrink_of(const kernel::OptimPlan& plan) {
  return is_decoupled(plan) ? static_cast<T>(1 - plan.learning_rate * plan.weight_decay) : T{1};
}

template <class T>
StepBase<T> step_base(const kernel::OptimPlan& plan) {
  return {static_cast<T>(plan.learning_rate),
          is_decoupled(plan) ? T{0} : static_cast<T>(plan.weight_decay),
          plan.maximize != 0 ? T{-1} : T{1}};
}

// 1 - beta^step for the beta that an average of T has, which is rounded: a float of 0.999 moves the
// average by 1 - 0.999f, which is 5e-5 more than 0.001.
template <class T>
double correction(double beta, int64_t step) {
  return 1 - std::pow(static_cast<double>(static_cast<T>(beta)), static_cast<double>(step));
}

// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019). a, b: moments; c: the largest b
// so far, which bounds the step (AMSGrad).
// p -= step_size a / (sqrt(b) root_correction + eps)
template <class T, bool kMaximum>
struct AdamStep {
  static constexpr unsigned kStates = kMaximum ? 7 : 3;
  T beta1, beta2, step_size, root_correction, eps;
  T decay;   // added to the gradient, times p
  T shrink;  // p is multiplied by it first
  T sign;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, [[maybe_unused]] T& c) const {
    const T parameter = p * shrink;
    const T d = g * sign + decay * p;
    a = moved(a, beta1, d);
    b = moved(b, beta2, d * d);
    T bound = b;
    if constexpr (kMaximum) {
      bound = c < b ? b : c;
      c = bound;
    }
    p = parameter - step_size * a / (std::sqrt(bound) * root_correction + eps);
  }
};

template <class T, bool kMaximum>
AdamStep<T, kMaximum> adam_step(const kernel::OptimPlan& plan) {
  return {
      .beta1 = static_cast<T>(plan.beta1),
      .beta2 = static_cast<T>(plan.beta2),
      .step_size = static_cast<T>(plan.learning_rate / correction<T>(plan.beta1, plan.step)),
      .root_correction = static_cast<T>(1 / std::sqrt(correction<T>(plan.beta2, plan.step))),
      .eps = static_cast<T>(plan.eps),
      .decay = step_base<T>(plan).decay,
      .shrink = shrink_of<T>(plan),
      .sign = plan.maximize != 0 ? T{-1} : T{1},
  };
}

// Stochastic gradient descent, with the momentum of Sutskever and others 2013 as PyTorch writes it.
// a: the momentum buffer.
template <class T, bool kMomentum>
struct SgdStep : StepBase<T> {
  static constexpr unsigned kStates = kMomentum ? 1 : 0;
  T carry, fresh;  // buffer = carry buffer + fresh d
  T look, direct;  // p -= rate (direct d + look buffer)
  bool first;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, [[maybe_unused]] T& a, T&, T&) const {
    const T d = this->slope(p, g);
    if constexpr (kMomentum) {
      // On the first step the buffer is uninitialised and may hold NaN.
      a = (first ? T{0} : a * carry) + d * fresh;
      p -= this->rate * (direct * d + look * a);
    } else {
      p -= this->rate * d;
    }
  }
};

template <class T, bool kMomentum>
SgdStep<T, kMomentum> sgd_step(const kernel::OptimPlan& plan) {
  const bool first = plan.first_momentum != 0;
  const bool nesterov = plan.nesterov != 0;
  const T momentum = static_cast<T>(plan.momentum);
  return {
      step_base<T>(plan),
      first ? T{0} : momentum,
      first ? T{1} : static_cast<T>(1 - plan.dampening),
      nesterov ? momentum : T{1},
      nesterov ? T{1} : T{0},
      first,
  };
}

// RMSprop (Hinton's lecture 6e, 2012; centered: Graves 2013). a: mean square; b: momentum buffer;
// c: mean gradient.
template <class T, bool kMomentum, bool kCentered>
struct RmspropStep : StepBase<T> {
  static constexpr unsigned kStates = 1 + (kMomentum ? 2 : 0) + (kCentered ? 4 : 0);
  T smoothing, eps, momentum;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, [[maybe_unused]] T& b,
                                          [[maybe_unused]] T& c) const {
    const T d = this->slope(p, g);
    a = moved(a, smoothing, d * d);
    T variance = a;
    if constexpr (kCentered) {
      c = moved(c, smoothing, d);
      variance = a - c * c;
    }
    const T ratio = d / (std::sqrt(variance) + eps);
    if constexpr (kMomentum) {
      b = b * momentum + ratio;
      p -= this->rate * b;
    } else {
      p -= this->rate * ratio;
    }
  }
};

template <class T, bool kMomentum, bool kCentered>
RmspropStep<T, kMomentum, kCentered> rmsprop_step(const kernel::OptimPlan& plan) {
  return {step_base<T>(plan), static_cast<T>(plan.smoothing), static_cast<T>(plan.eps),
          static_cast<T>(plan.momentum)};
}

// Adagrad (Duchi and others 2011). a: sum of squares.
template <class T>
struct AdagradStep : StepBase<T> {
  static constexpr unsigned kStates = 1;
  T eps;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T&, T&) const {
    const T d = this->slope(p, g);
    a += d * d;
    p -= this->rate * d / (std::sqrt(a) + eps);
  }
};

template <class T>
AdagradStep<T> adagrad_step(const kernel::OptimPlan& plan) {
  StepBase<T> base = step_base<T>(plan);
  const auto before = static_cast<double>(plan.step - 1);
  base.rate = static_cast<T>(plan.learning_rate / (1 + before * plan.lr_decay));
  return {base, static_cast<T>(plan.eps)};
}

// Adadelta (Zeiler 2012). a: mean square of the gradients; b: of the steps.
template <class T>
struct AdadeltaStep : StepBase<T> {
  static constexpr unsigned kStates = 3;
  T smoothing, eps;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T&) const {
    const T d = this->slope(p, g);
    a = moved(a, smoothing, d * d);
    const T delta = std::sqrt(b + eps) / std::sqrt(a + eps) * d;
    b = moved(b, smoothing, delta * delta);
    p -= this->rate * delta;
  }
};

template <class T>
AdadeltaStep<T> adadelta_step(const kernel::OptimPlan& plan) {
  return {step_base<T>(plan), static_cast<T>(plan.smoothing), static_cast<T>(plan.eps)};
}

// Adamax (Kingma and Ba 2015, section 7.1). a: first moment; b: the decayed largest |d|.
template <class T>
struct AdamaxStep : StepBase<T> {
  static constexpr unsigned kStates = 3;
  T beta1, beta2, step_size, eps;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T&) const {
    const T d = this->slope(p, g);
    const T now = (d < 0 ? -d : d) + eps;
    const T before = b * beta2;
    a = moved(a, beta1, d);
    b = before < now ? now : before;
    p -= step_size * a / b;
  }
};

template <class T>
AdamaxStep<T> adamax_step(const kernel::OptimPlan& plan) {
  return {step_base<T>(plan), static_cast<T>(plan.beta1), static_cast<T>(plan.beta2),
          static_cast<T>(plan.learning_rate / correction<T>(plan.beta1, plan.step)),
          static_cast<T>(plan.eps)};
}

// NAdam (Dozat 2016): Adam with Nesterov's momentum. a, b: moments.
template <class T>
struct NadamStep : StepBase<T> {
  static constexpr unsigned kStates = 3;
  T beta1, beta2, root_correction, eps;
  T direct, look;  // p -= (direct d + look a) / (sqrt(b) root_correction + eps)
  T shrink;        // p is multiplied by it first

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T&) const {
    const T d = this->slope(p, g);
    a = moved(a, beta1, d);
    b = moved(b, beta2, d * d);
    p = p * shrink - (direct * d + look * a) / (std::sqrt(b) * root_correction + eps);
  }
};

template <class T>
NadamStep<T> nadam_step(const kernel::OptimPlan& plan) {
  const double now = kernel::nadam_momentum(plan.beta1, plan.momentum_decay, plan.step);
  const double next = kernel::nadam_momentum(plan.beta1, plan.momentum_decay, plan.step + 1);
  const double product = plan.momentum_product;
  return {step_base<T>(plan),
          static_cast<T>(plan.beta1),
          static_cast<T>(plan.beta2),
          static_cast<T>(1 / std::sqrt(correction<T>(plan.beta2, plan.step))),
          static_cast<T>(plan.eps),
          static_cast<T>(plan.learning_rate * (1 - now) / (1 - product)),
          static_cast<T>(plan.learning_rate * next / (1 - product * next)),
          shrink_of<T>(plan)};
}

// RAdam (Liu and others 2020): Adam once the variance can be rectified, momentum before. a, b:
// moments.
template <class T>
struct RadamStep : StepBase<T> {
  static constexpr unsigned kStates = 3;
  T beta1, beta2, step_size, eps;
  T shrink;  // p is multiplied by it first
  bool adaptive;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T&) const {
    const T d = this->slope(p, g);
    a = moved(a, beta1, d);
    b = moved(b, beta2, d * d);
    p = p * shrink - step_size * a / (adaptive ? std::sqrt(b) + eps : T{1});
  }
};

template <class T>
RadamStep<T> radam_step(const kernel::OptimPlan& plan) {
  const double limit = 2 / (1 - plan.beta2) - 1;
  const auto steps = static_cast<double>(plan.step);
  // A small difference of large numbers, which a rounded beta would change.
  const double exact = correction<double>(plan.beta2, plan.step);
  const double length = limit - 2 * steps * (1 - exact) / exact;
  const bool adaptive = length > 5;
  double size = plan.learning_rate / correction<T>(plan.beta1, plan.step);
  if (adaptive) {
    size *= std::sqrt(correction<T>(plan.beta2, plan.step) * (length - 4) * (length - 2) * limit /
                      ((limit - 4) * (limit - 2) * length));
  }
  return {step_base<T>(plan),
          static_cast<T>(plan.beta1),
          static_cast<T>(plan.beta2),
          static_cast<T>(size),
          static_cast<T>(plan.eps),
          shrink_of<T>(plan),
          adaptive};
}

// Lion (Chen and others 2023), with decoupled weight decay. a: first moment.
template <class T>
struct LionStep {
  static constexpr unsigned kStates = 1;
  T rate, beta1, beta2, shrink, sign;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T&, T&) const {
    const T d = g * sign;
    const T direction = moved(a, beta1, d);
    // NaN stays NaN, so that users see it.
    const T turn = direction > 0 ? T{1} : (direction < 0 ? T{-1} : direction);
    a = moved(a, beta2, d);
    p = p * shrink - rate * turn;
  }
};

template <class T>
LionStep<T> lion_step(const kernel::OptimPlan& plan) {
  return {static_cast<T>(plan.learning_rate), static_cast<T>(plan.beta1),
          static_cast<T>(plan.beta2), static_cast<T>(1 - plan.learning_rate * plan.weight_decay),
          plan.maximize != 0 ? T{-1} : T{1}};
}

// Rprop (Riedmiller and Braun 1993), in the form without backtracking: a step of its own for each
// element, longer while the gradient keeps its sign; a gradient that changes it counts as 0. a: the
// gradient before; b: the size of the step.
template <class T>
struct RpropStep {
  static constexpr unsigned kStates = 3;
  T shorter, longer, least, most, sign;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T&) const {
    T d = g * sign;
    const T agreement = d * a;
    const T size = b * (agreement > 0 ? longer : (agreement < 0 ? shorter : T{1}));
    b = size < least ? least : (size > most ? most : size);
    d = agreement < 0 ? T{0} : d;
    p -= (d > 0 ? T{1} : (d < 0 ? T{-1} : d)) * b;
    a = d;
  }
};

template <class T>
RpropStep<T> rprop_step(const kernel::OptimPlan& plan) {
  return {static_cast<T>(plan.etaminus), static_cast<T>(plan.etaplus),
          static_cast<T>(plan.step_size_min), static_cast<T>(plan.step_size_max),
          plan.maximize != 0 ? T{-1} : T{1}};
}

// ASGD (Polyak and Juditsky 1992, "Acceleration of stochastic approximation by averaging"), with
// the schedule of Bottou's sgd. a: the average of the parameter.
template <class T>
struct AsgdStep : StepBase<T> {
  static constexpr unsigned kStates = 1;
  T shrink, weight;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T&, T&) const {
    const T d = this->slope(p, g);
    p = p * shrink - this->rate * d;
    a = weight == T{1} ? p : a + (p - a) * weight;
  }
};

template <class T>
AsgdStep<T> asgd_step(const kernel::OptimPlan& plan) {
  StepBase<T> base = step_base<T>(plan);
  base.rate = static_cast<T>(plan.average_rate);
  return {base, static_cast<T>(1 - plan.asgd_decay * plan.average_rate),
          static_cast<T>(plan.average_weight)};
}

// LAMB (You and others 2020): computes the direction, which src/optim scales by norms. a, b:
// moments; c: the direction (output).
template <class T>
struct LambStep {
  static constexpr unsigned kStates = 7;
  T beta1, beta2, correction1, root_correction, eps, decay, sign;

  [[gnu::always_inline]] TSR_HD void take(T& p, T g, T& a, T& b, T& c) const {
    const T d = g * sign;
    a = moved(a, beta1, d);
    b = moved(b, beta2, d * d);
    c = correction1 * a / (std::sqrt(b) * root_correction + eps) + decay * p;
  }
};

template <class T>
LambStep<T> lamb_step(const kernel::OptimPlan& plan) {
  return {static_cast<T>(plan.beta1),
          static_cast<T>(plan.beta2),
          static_cast<T>(1 / correction<T>(plan.beta1, plan.step)),
          static_cast<T>(1 / std::sqrt(correction<T>(plan.beta2, plan.step))),
          static_cast<T>(plan.eps),
          static_cast<T>(plan.weight_decay),
          plan.maximize != 0 ? T{-1} : T{1}};
}

// ---- All steps ----

template <class... Steps>
struct StepList {
  static constexpr int kCount = sizeof...(Steps);
};
template <class T>
using AllSteps =
    StepList<SgdStep<T, false>, SgdStep<T, true>, AdamStep<T, false>, AdamStep<T, true>,
             RmspropStep<T, false, false>, RmspropStep<T, false, true>, RmspropStep<T, true, false>,
             RmspropStep<T, true, true>, AdagradStep<T>, AdadeltaStep<T>, AdamaxStep<T>,
             NadamStep<T>, RadamStep<T>, LionStep<T>, RpropStep<T>, AsgdStep<T>, LambStep<T>>;

// The index of a step in AllSteps.
template <class Step, class... Steps>
constexpr int step_number(StepList<Steps...> /*all*/) {
  int number = 0;
  static_cast<void>(((std::is_same_v<Step, Steps> ? true : (++number, false)) || ...));
  return number;
}

template <class T, class Visit>
auto with_rmsprop(const kernel::OptimPlan& plan, const Visit& visit) {
  const kernel::OptimSlot& slot = plan.slots[0];
  if (slot.state2 == nullptr) {
    return slot.state1 == nullptr ? visit(rmsprop_step<T, false, false>(plan))
                                  : visit(rmsprop_step<T, true, false>(plan));
  }
  return slot.state1 == nullptr ? visit(rmsprop_step<T, false, true>(plan))
                                : visit(rmsprop_step<T, true, true>(plan));
}

// Calls visit(step) with the step of a plan. All slots of a plan have the same states.
template <class T, class Visit>
auto with_step(const kernel::OptimPlan& plan, const Visit& visit) {
  using kernel::OptimOp;
  const kernel::OptimSlot& slot = plan.slots[0];
  switch (plan.op) {
    case OptimOp::kAdam:
    case OptimOp::kAdamW:
      return slot.state2 == nullptr ? visit(adam_step<T, false>(plan))
                                    : visit(adam_step<T, true>(plan));
    case OptimOp::kRmsprop:
      return with_rmsprop<T>(plan, visit);
    case OptimOp::kAdagrad:
      return visit(adagrad_step<T>(plan));
    case OptimOp::kAdadelta:
      return visit(adadelta_step<T>(plan));
    case OptimOp::kAdamax:
      return visit(adamax_step<T>(plan));
    case OptimOp::kNadam:
      return visit(nadam_step<T>(plan));
    case OptimOp::kRadam:
      return visit(radam_step<T>(plan));
    case OptimOp::kLion:
      return visit(lion_step<T>(plan));
    case OptimOp::kRprop:
      return visit(rprop_step<T>(plan));
    case OptimOp::kAsgd:
      return visit(asgd_step<T>(plan));
    case OptimOp::kLamb:
      return visit(lamb_step<T>(plan));
    default:
      return slot.state0 == nullptr ? visit(sgd_step<T, false>(plan))
                                    : visit(sgd_step<T, true>(plan));
  }
}

// ---- The p-norm of all elements: p may be 0 or infinite ----

// What one number adds to the sum; for p = infinity the sum is a maximum.
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
// The inverse of finished_norm: the sum that continues a finished norm with more numbers.
[[gnu::always_inline]] TSR_HD inline double started_norm(double norm, double p) {
  return p == 0 ? norm : norm_term(norm, p);
}
// The factor for gradients of this norm; a factor of 1 or more is not applied.
[[gnu::always_inline]] TSR_HD inline double clip_factor(double max_norm, double norm) {
  return max_norm / (norm + 1e-6);
}

}  // namespace tsr::math
