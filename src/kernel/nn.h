// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Neural-network family: convolution, pooling, normalisation, classification losses. Images are
// (batch, channels, spatial...).
//
// A plan's dtype is the storage dtype. Kernels compute in opmath(dtype), float32 for 16-bit floats,
// and round once, when they write. Fields marked opmath are stored in that dtype. A backend without
// a kernel for a 16-bit dtype answers kNotImplemented, and the op layer then computes in float32.
#pragma once

#include "kernel/contract.h"
#include "kernel/precision.h"

namespace tsr::kernel {

inline constexpr int kMaxSpatial = 3;

enum class ConvPass : int32_t { kForward, kBackwardInput, kBackwardWeight, kCount };

// The parameters of a convolution besides its tensors. The padding behind the last element follows
// from the sizes; it may differ from `padding` and may be negative.
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

// Cross-correlation of dense tensors. Strides in ELEMENTS give the layout of each tensor: row-major
// or channels last. Forward: output = input * weight (+ bias). BackwardInput: writes `input` from
// output and weight (+ bias). BackwardWeight: writes `weight` (and `bias` if not null) from input
// and output. weight is (out, in / groups, kernel...). A backend may round before it adds the bias.
struct ConvPlan : ConvGeometry {
  ConvPass pass;
  int64_t batch, in_channels, out_channels;
  int64_t input_strides[kMaxSpatial + 2];
  int64_t weight_strides[kMaxSpatial + 2];
  int64_t output_strides[kMaxSpatial + 2];
  Place place;
  DType dtype;
  Precision precision;  // as in GemmPlan
  void* input;
  void* weight;
  void* bias;
  void* output;
};
inline const char* name_of(const ConvPlan& plan) noexcept {
  return name_in({"conv", "conv_backward_input", "conv_backward_weight"}, plan.pass);
}

enum class PoolOp : int32_t {
  kMax,  // forward only; its backward is kPick's backward
  kAverage,
  kPick,  // output = input at `positions`, each within its output's window of kMax
  kCount
};

// Pooling of dense tensors, row-major or channels last, all of one layout. kMax writes values and,
// if positions is not null, the position of each maximum within its input plane: of equal values
// the first, of NaNs the last. A window that lies in the padding alone has maximum -inf and
// position -1, which kPick reads as an element of value 0. `positions` has the layout of `output`.
// Backward reads the upstream gradient from `output` and writes all of `input`.
struct PoolPlan {
  PoolOp op;
  int32_t backward;
  int32_t adaptive;  // the windows follow from the two sizes and cover the input evenly
  int32_t spatial;
  int32_t count_include_pad;
  int32_t channels_last;
  int64_t divisor;  // replaces the number of elements in the window; 0: none
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
    return name_in({"none", "average_pool_backward", "max_pool_backward"}, plan.op);
  return name_in({"max_pool", "average_pool", "max_pool_pick"}, plan.op);
}

enum class NormKind : int32_t {
  kRows,      // over the `inner` elements of each of `outer` rows (layer_norm); channels = 1
  kRms,       // as kRows, but divides by the root of the mean square: no mean, which is null
  kChannels,  // for each channel over (outer, inner), channels in the middle (batch_norm); channels
              // last has inner = 1
  kGroups,    // for each of `outer` images and `groups` groups of neighbouring channels, over the
              // group's channels and `inner` (group_norm)
  kCount
};

// Normalises over groups of elements. Statistics (mean, rstd, running mean and variance) are
// opmath: one for each row, channel or (image, group). Weight and bias, each with its gradient, may
// have the plan's dtype or opmath. Forward with `use_statistics` (kChannels only) reads mean and
// rstd. Forward without it computes and writes them, and updates the running statistics if those
// are not null (kChannels only): running += momentum (batch - running), with the unbiased variance.
// Backward reads input, mean, rstd, weight and the upstream gradient in `output`; with
// `use_statistics` the statistics are constants. It writes grad_input, grad_weight and grad_bias
// (each may be null).
// If `tangent_output` is not null, forward also writes the derivative of the output in the
// direction of the tangents of input, weight and bias; those of weight and bias may be null, which
// means zero. Only the CPU's backend does that, and the op asks no other for it.
struct NormPlan {
  NormKind kind;
  int32_t backward;
  int32_t use_statistics;  // evaluation mode
  int32_t channels_last;   // kGroups: an image is `inner` rows of `channels` numbers
  int64_t groups;          // kGroups
  int64_t outer, channels, inner;
  double eps;
  double momentum;
  Place place;
  DType dtype;         // of input, output, their tangents and grad_input
  DType weight_dtype;  // also set if only the gradient is asked for
  DType bias_dtype;
  const void* input;
  const void* weight;  // null: ones; per channel, or per inner element of a row
  const void* bias;
  void* mean;
  void* rstd;
  void* running_mean;
  void* running_var;
  void* output;
  void* grad_input;
  void* grad_weight;
  void* grad_bias;
  const void* tangent_input;
  const void* tangent_weight;
  const void* tangent_bias;
  void* tangent_output;
};

// For each position (n, i): the negative log-likelihood of one class out of `classes`, from a
// row-major block (batch, classes, inner) of logits or, with `log_probabilities`, of their
// log_softmax.
//   nll(n, i) = w[t] (lse(n, i) - x(n, t, i))
//   smooth(n, i) = Σ_c w[c] (lse(n, i) - x(n, c, i))
//   loss(n, i) = (1 - smoothing) nll + smoothing / classes smooth, 0 where t == ignore
// `lse` is the log of the sum of exponentials along the classes (0 for log-probabilities: neither
// read nor written). A target outside [0, classes) that is not `ignore` fails with kIndex.
// Forward writes lse, and either `loss` at every position or one number, their sum or mean. The
// mean divides by the sum of w[t] over the positions that are not ignored, and writes that sum to
// `weights` (one element). Backward writes grad_input = the derivative times g, which is one number
// for a reduced loss; for the mean it reads `weights`. Backward may ignore an invalid target
// instead of failing, so that it need not wait for the device.
enum class ClassReduction : int32_t { kNone, kSum, kMean };

struct ClassLossPlan {
  int32_t backward;
  int32_t log_probabilities;
  ClassReduction reduction;
  int64_t batch, classes, inner;
  int64_t ignore;
  double smoothing;
  Place place;
  DType dtype;  // of everything but the targets and the opmath fields
  const void* input;
  const int64_t* target;  // (batch, inner)
  const void* weight;     // (classes); null: ones
  void* lse;              // (batch, inner), opmath
  void* loss;
  void* weights;     // opmath, one element; null: not wanted (never for the mean)
  const void* grad;  // backward: g
  void* grad_input;
};

}  // namespace tsr::kernel
