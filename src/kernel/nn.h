// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Neural-network family: convolution, pooling, normalisation, classification losses. Images are
// (batch, channels, spatial...).
//
// A plan's dtype is the storage dtype. Kernels compute in opmath(dtype), which is float32 for
// 16-bit floats, and round once, when they write; what a plan calls opmath is stored in it. A
// backend that has no kernel for a 16-bit dtype answers kNotImplemented, and the op layer falls
// back on float32.
#pragma once

#include "kernel/contract.h"
#include "kernel/precision.h"

namespace tsr::kernel {

inline constexpr int kMaxSpatial = 3;

enum class ConvPass : int32_t { kForward, kBackwardInput, kBackwardWeight, kCount };

// What a convolution is besides its tensors. The padding behind the last element follows from the
// sizes and may differ from `padding`, also below 0.
struct ConvGeometry {
  int32_t spatial;  // 1..3
  int64_t groups;
  int64_t input_size[kMaxSpatial];
  int64_t output_size[kMaxSpatial];
  int64_t kernel[kMaxSpatial];
  int64_t stride[kMaxSpatial];
  int64_t padding[kMaxSpatial];
  int64_t dilation[kMaxSpatial];
};

// Cross-correlation of dense tensors; strides in ELEMENTS say the layout (row-major or channels
// last, each tensor for itself). Forward: output = input * weight (+ bias). BackwardInput: writes
// `input` from output and weight (+ bias). BackwardWeight: writes `weight` (and `bias` when not
// null) from input and output. weight is (out, in / groups, kernel...). A backend may add the bias
// to what it has rounded.
struct ConvPlan : ConvGeometry {
  ConvPass pass;
  int64_t batch, in_channels, out_channels;
  int64_t input_strides[kMaxSpatial + 2];
  int64_t weight_strides[kMaxSpatial + 2];
  int64_t output_strides[kMaxSpatial + 2];
  Place place;
  DType dtype;
  Precision precision;  // as of GemmPlan
  void* input;
  void* weight;
  void* bias;
  void* output;
};
inline const char* name_of(const ConvPlan& plan) noexcept {
  return name_in({"conv", "conv_backward_input", "conv_backward_weight"}, plan.pass);
}

enum class PoolOp : int32_t {
  kMax,  // forward only; its backward is kPick's
  kAverage,
  kAdaptiveAverage,  // windows follow from the two sizes
  kPick,             // output = input at `positions`, each within its output's window of kMax
  kCount
};

// Pooling of dense tensors, row-major or channels last, both of one layout. kMax writes values and,
// when positions is not null, the position of the maximum within its input plane (of equal ones the
// first, of NaNs the last; -1 where the window lies in the padding alone, whose maximum is -inf and
// whose element is 0 for kPick); positions lie as `output` does. Backward reads the upstream
// gradient from `output` and writes `input`, whole.
struct PoolPlan {
  PoolOp op;
  int32_t backward;
  int32_t spatial;
  int32_t count_include_pad;
  int32_t channels_last;
  int64_t divisor;  // in place of the window's size; 0: none
  int64_t batch, channels;
  int64_t input_size[kMaxSpatial];
  int64_t output_size[kMaxSpatial];
  int64_t kernel[kMaxSpatial];
  int64_t stride[kMaxSpatial];
  int64_t padding[kMaxSpatial];
  int64_t dilation[kMaxSpatial];
  Place place;
  DType dtype;
  void* input;
  void* output;
  int64_t* positions;
};
inline const char* name_of(const PoolPlan& plan) noexcept {
  if (plan.backward != 0)
    return name_in(
        {"none", "average_pool_backward", "adaptive_average_pool_backward", "max_pool_backward"},
        plan.op);
  return name_in({"max_pool", "average_pool", "adaptive_average_pool", "max_pool_pick"}, plan.op);
}

// Normalises over `inner` elements of each of `outer` groups (layer_norm: outer = rows, channels =
// 1), or per channel over (outer, inner) with channels in the middle (batch_norm; channels last has
// inner = 1). Statistics (mean, rstd and the running ones) are opmath; weight and bias, each with
// its gradient, may have the plan's dtype or opmath. Forward with `use_statistics` reads mean and
// rstd, otherwise computes and writes them, and moves the running statistics when those are not
// null: running += momentum (batch - running), with the unbiased variance. Backward reads input,
// mean, rstd, weight and the upstream gradient in `output`; with `use_statistics` the statistics
// are constants. It writes grad_input, grad_weight, grad_bias (each may be null).
struct NormPlan {
  int32_t backward;
  int32_t per_channel;     // 1: batch_norm, 0: layer_norm
  int32_t use_statistics;  // evaluation mode
  int64_t outer, channels, inner;
  double eps;
  double momentum;
  Place place;
  DType dtype;         // of input, output and grad_input
  DType weight_dtype;  // set also where only the gradient is asked for
  DType bias_dtype;
  const void* input;
  const void* weight;  // null: ones; per channel, or per inner element for layer_norm
  const void* bias;
  void* mean;
  void* rstd;
  void* running_mean;
  void* running_var;
  void* output;
  void* grad_input;
  void* grad_weight;
  void* grad_bias;
};

// Per position (n, i): the negative log-likelihood of one class out of `classes`, from a row-major
// block (batch, classes, inner) of logits or, when `log_probabilities`, of their log_softmax.
//   nll(n, i) = w[t] (lse(n, i) - x(n, t, i))
//   smooth(n, i) = Σ_c w[c] (lse(n, i) - x(n, c, i))
//   loss(n, i) = (1 - smoothing) nll + smoothing / classes smooth, 0 where t == ignore
// `lse` is the log of the sum of exponentials along the classes (0 for log-probabilities: neither
// read nor written). A target outside [0, classes) that is not `ignore` fails with kIndex.
// Forward writes lse, and `loss` at every position or as one number, their sum or mean; the mean
// divides by the sum of w[t] over the positions that count, which `weights` (one element) gets.
// Backward writes grad_input = the derivative times g, which is one number when reduced; for the
// mean it reads `weights`. It may take a target that the forward pass would have refused as one
// that does not count, so that a device need not be waited for.
enum class ClassReduction : int32_t { kNone, kSum, kMean };

struct ClassLossPlan {
  int32_t backward;
  int32_t log_probabilities;
  ClassReduction reduction;
  int64_t batch, classes, inner;
  int64_t ignore;
  double smoothing;
  Place place;
  DType dtype;  // of everything but the targets and what is opmath
  const void* input;
  const int64_t* target;  // (batch, inner)
  const void* weight;     // (classes); null: ones
  void* lse;              // (batch, inner), opmath
  void* loss;
  void* weights;     // opmath; null: not asked for (not with the mean)
  const void* grad;  // backward: g
  void* grad_input;
};

}  // namespace tsr::kernel
