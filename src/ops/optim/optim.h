// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps: one call updates a whole list of parameters in place, without autograd.
#pragma once

#include <span>

#include "kernel/optim.h"
#include "ops/result.h"

namespace tsr::ops {

using TensorList = std::span<const Tensor>;

// In all functions: item i of every list belongs to parameter i and has its shape, dtype (real
// floating) and device. Lists of states may be empty if the options do not use them. 16-bit numbers
// are computed in float32. `maximize` negates the gradient. Throws kShape, kDType, kDevice, kValue,
// kInvalidArgument. Steps are the only functions that write to leaves that require grad in grad
// mode. Throws kAutograd in grad mode for a computed parameter, and for a state that requires grad.

// d = g + weight_decay p. With momentum: buffer = momentum buffer + (1 - dampening) d (d itself at
// `first_step`); then d = d + momentum buffer if nesterov, else d = buffer. Finally p -=
// learning_rate d.
void sgd_step(TensorList params, TensorList grads, TensorList momentum_buffers,
              double learning_rate, double momentum = 0, double dampening = 0,
              double weight_decay = 0, bool nesterov = false, bool maximize = false,
              bool first_step = false);
// Adam at step number `step` (1 at the first call); weight decay is added to the gradient. With
// max_exp_avg_sqs (amsgrad), the largest second moment so far is the divisor.
void adam_step(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
               TensorList max_exp_avg_sqs, int64_t step, double learning_rate, double beta1 = 0.9,
               double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0,
               bool maximize = false);
// The same with decoupled weight decay: p is first multiplied by 1 - learning_rate weight_decay.
void adamw_step(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                TensorList max_exp_avg_sqs, int64_t step, double learning_rate, double beta1 = 0.9,
                double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0.01,
                bool maximize = false);

// If the common norm of all tensors is larger than max_norm, multiplies them by max_norm / (norm +
// 1e-6). Returns the norm before, 0-dim float32 (float64 if a tensor is float64). norm_type: any p,
// also infinity. error_if_nonfinite: a norm that is NaN or infinite throws kValue and changes
// nothing; otherwise NaN is written into the tensors. Throws kAutograd in grad mode if a tensor
// requires grad.
Tensor clip_norm(TensorList tensors, double max_norm, double norm_type = 2,
                 bool error_if_nonfinite = false);
// The same for the gradients of `params`; nothing is recorded. A parameter without a gradient is
// skipped; a gradient that occurs twice counts once.
Tensor clip_grad_norm(TensorList params, double max_norm, double norm_type = 2,
                      bool error_if_nonfinite = false);
// Clips each element of the gradients of `params` to [-clip_value, clip_value].
void clip_grad_value(TensorList params, double clip_value);

// ---- for src/optim ----

// The three states of a step, each a list with an item per parameter or empty.
struct StepStates {
  TensorList first, second, third;
};
// Any step of the kernel family: the caller sets op and numbers in the plan; this function sets
// slots, dtype and place. `grads` may be empty for kUnscale, which changes `params` alone.
void take_step(const kernel::OptimPlan& plan, TensorList params, TensorList grads,
               const StepStates& states);

}  // namespace tsr::ops
