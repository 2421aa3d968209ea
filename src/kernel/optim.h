// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer family: one call updates a whole list of parameters.
#pragma once

#include <cmath>

#include "kernel/contract.h"

namespace tsr::kernel {

enum class OptimOp : int32_t {
  kSgd,
  kAdam,
  kAdamW,
  kRmsprop,
  kAdagrad,
  kAdadelta,
  kAdamax,
  kNadam,
  kRadam,
  kLion,
  kRprop,
  kAsgd,
  kLamb,     // writes the direction of the step to state2 and does not change the parameter
  kNorm,     // norm[0] = the `norm_type`-norm of all gradients together
  kClip,     // every parameter *= max_norm / (norm[0] + 1e-6) if that is below 1 or NaN
  kUnscale,  // every parameter *= factor[0]; found[0] becomes 1 if an element was not finite
  kCount
};

// One parameter: contiguous blocks of numel elements of the plan's dtype, a real floating dtype.
struct OptimSlot {
  int64_t numel;
  void* parameter;
  const void* gradient;
  void* state0;  // the meaning is in backend/common/optim_step.h; null if unused
  void* state1;
  void* state2;
};

struct OptimPlan {
  OptimOp op;
  int64_t count;
  const OptimSlot* slots;
  Place place;
  DType dtype;
  double learning_rate, beta1, beta2, eps, weight_decay;
  double momentum, dampening;
  double smoothing;         // of the mean square: alpha of RMSprop, rho of Adadelta
  double lr_decay;          // Adagrad
  double momentum_decay;    // NAdam
  double momentum_product;  // NAdam: of nadam_momentum of all steps up to this one
  double etaminus, etaplus, step_size_min, step_size_max;  // Rprop
  double asgd_decay, average_rate, average_weight;         // ASGD: the last two of this step
  int64_t step;                                            // 1 at the first call
  int32_t nesterov, maximize;
  int32_t decoupled;       // NAdam, RAdam: weight decay as in AdamW
  int32_t first_momentum;  // 1: state0 is not read; it becomes the gradient
  double norm_type;        // any p, also 0 and infinity
  int32_t joins;           // 1: norm[0] holds a norm of other gradients, and the result includes it
  double max_norm;
  double* norm;         // in device memory, so that the host need not wait
  const float* factor;  // these two as well
  float* found;
};

inline const char* name_of(const OptimPlan& plan) noexcept {
  return name_in({"sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "adamax", "nadam",
                  "radam", "lion", "rprop", "asgd", "lamb", "grad_norm", "clip_grad", "unscale"},
                 plan.op);
}

// NAdam's momentum at a step.
inline double nadam_momentum(double beta1, double decay, int64_t step) {
  return beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(step) * decay));
}

}  // namespace tsr::kernel
