// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer family: one call updates a whole list of parameters.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

enum class OptimOp : int32_t {
  kSgd,
  kAdam,
  kAdamW,
  kNorm,  // norm[0] = the `norm_type`-norm of all gradients together
  kClip,  // every parameter *= max_norm / (norm[0] + 1e-6), unless that is at least 1
  kCount
};

// One parameter: contiguous blocks of numel elements of the plan's dtype, which is a real floating
// one.
struct OptimSlot {
  int64_t numel;
  void* parameter;
  const void* gradient;
  void* state0;  // momentum buffer, or first moment; null where unused
  void* state1;  // second moment
  void* state2;  // maximum of the second moment (amsgrad)
};

struct OptimPlan {
  OptimOp op;
  int64_t count;
  const OptimSlot* slots;
  Place place;
  DType dtype;
  double learning_rate, beta1, beta2, eps, weight_decay;
  double momentum, dampening;
  int64_t step;  // 1 at the first call
  int32_t nesterov, maximize;
  int32_t first_momentum;  // 1: state0 is not read but starts as the gradient
  double norm_type;        // any p, also 0 and infinity
  int32_t joins;           // 1: norm[0] holds a norm of other gradients, which counts too
  double max_norm;
  double* norm;  // in the device's memory, so that nobody waits for it
};

}  // namespace tsr::kernel
