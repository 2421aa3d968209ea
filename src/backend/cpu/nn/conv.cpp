// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chooses how to convolve: our own depthwise kernels, oneDNN where it has the dtype, else im2col
// and matrix products. 16-bit floats that oneDNN lacks are computed in float32.
#include "backend/cpu/nn/onednn/conv.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/nn/nn.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

// input += bias, per channel.
Status add_input_bias(const ConvPlan& plan) {
  int64_t points = 1;
  for (int d = 0; d < plan.spatial; ++d) points *= plan.input_size[d];
  const int64_t channels = plan.in_channels;
  const int64_t size = itemsize(plan.dtype);
  const bool last = channels != 1 && plan.input_strides[1] == 1;
  kernel::ElementwisePlan sum;
  sum.ndim = 3;
  sum.operands = 3;
  sum.host_operands = 0;
  sum.numel = plan.batch * channels * points;
  sum.place = plan.place;
  sum.data[0] = sum.data[1] = plan.input;
  sum.data[2] = plan.bias;
  for (int k = 0; k < 3; ++k) sum.dtypes[k] = plan.dtype;
  const int64_t sizes[] = {plan.batch, last ? points : channels, last ? channels : points};
  int64_t stride = size;
  for (int d = 2; d >= 0; --d) {
    sum.sizes[d] = sizes[d];
    sum.strides[0][d] = sum.strides[1][d] = stride;
    sum.strides[2][d] = d == (last ? 2 : 1) ? size : 0;
    stride *= sizes[d];
  }
  return binary(kernel::BinaryOp::kAdd, sum);
}

Status conv_in_opmath(const ConvPlan& plan) {
  if (prefers_depthwise(plan)) return depthwise(plan);
  if (plan.dtype == DType::kFloat32) {
    const std::optional<Status> done = onednn::conv(plan);
    if (done.has_value()) return *done;
  }
  return conv_by_columns(plan);
}

// True if 16-bit floats are converted to float32 in blocks: oneDNN has bfloat16 only on some
// machines, and depthwise kernels are faster in float32.
bool prefers_blocks(const ConvPlan& plan) {
  ConvPlan wide = plan;
  wide.dtype = DType::kFloat32;
  return plan.dtype != DType::kBFloat16 || prefers_depthwise(wide);
}

Status conv_any(const ConvPlan& plan) {
  if (itemsize(plan.dtype) != 2) return conv_in_opmath(plan);
  if (!prefers_blocks(plan)) {
    const std::optional<Status> done = onednn::conv(plan);
    if (done.has_value()) return *done;
  }
  return conv_by_blocks(plan);
}

}  // namespace

Status conv(const ConvPlan& plan) {
  const bool adds_later = plan.pass == ConvPass::kBackwardInput && plan.bias != nullptr &&
                          (itemsize(plan.dtype) != 2 || !prefers_blocks(plan));
  if (!adds_later) return conv_any(plan);
  ConvPlan bare = plan;
  bare.bias = nullptr;
  const Status status = conv_any(bare);
  if (status != kernel::kOk) return status;
  return add_input_bias(plan);
}

}  // namespace tsr::cpu
