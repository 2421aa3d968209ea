// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chooses how to convolve: our own depthwise kernels, oneDNN where it has the dtype, else im2col
// and matrix products. 16-bit floats that oneDNN lacks are computed in float32.
#include "backend/cpu/nn/onednn/conv.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/nn.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

int64_t points_of(const ConvPlan& plan) {
  int64_t points = 1;
  for (int d = 0; d < plan.spatial; ++d) points *= plan.input_size[d];
  return points;
}

// input = image + bias, per channel. The image is dense, and has the dtype of the bias.
Status add_input_bias(const ConvPlan& plan, const void* image, const void* bias, DType dtype) {
  const int64_t points = points_of(plan);
  const int64_t channels = plan.in_channels;
  const int64_t size = itemsize(dtype);
  const bool last = channels != 1 && plan.input_strides[1] == 1;
  kernel::ElementwisePlan sum;
  sum.ndim = 3;
  sum.operands = 3;
  sum.host_operands = 0;
  sum.numel = plan.batch * channels * points;
  sum.place = plan.place;
  sum.data[0] = plan.input;
  sum.data[1] = const_cast<void*>(image);
  sum.data[2] = const_cast<void*>(bias);
  sum.dtypes[0] = plan.dtype;
  sum.dtypes[1] = sum.dtypes[2] = dtype;
  const int64_t sizes[] = {plan.batch, last ? points : channels, last ? channels : points};
  int64_t stride = 1;
  for (int d = 2; d >= 0; --d) {
    sum.sizes[d] = sizes[d];
    sum.strides[0][d] = stride * itemsize(plan.dtype);
    sum.strides[1][d] = stride * size;
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

// The gradient of an input of bfloat16 plus a bias: oneDNN writes float32, some images at a time,
// which are rounded once, with the bias. nullopt if oneDNN has no implementation.
std::optional<Status> wide_input(const ConvPlan& plan) {
  const int64_t size = plan.in_channels * points_of(plan);
  int64_t output_size = plan.out_channels;
  for (int d = 0; d < plan.spatial; ++d) output_size *= plan.output_size[d];
  const int64_t images = images_of_block(plan.batch, size);
  const Workspace space((images * size + plan.in_channels) * static_cast<int64_t>(sizeof(float)));
  auto* const image = static_cast<float*>(space.data());
  if (image == nullptr)
    return failure(Code::kOutOfMemory, "expected memory for images in float32, got none");
  float* const bias = image + images * size;
  rows_of<CopyRows>().cast(plan.dtype, DType::kFloat32)(plan.in_channels, bias, plan.bias);
  for (int64_t first = 0; first < plan.batch; first += images) {
    // Images are contiguous. Set the batch strides: those of a batch of one may be anything.
    ConvPlan part = plan;
    part.batch = std::min(images, plan.batch - first);
    part.input_strides[0] = size;
    part.output_strides[0] = output_size;
    part.input = static_cast<std::byte*>(plan.input) + first * size * 2;
    part.output = static_cast<std::byte*>(plan.output) + first * output_size * 2;
    ConvPlan wide = part;
    wide.input = image;
    const std::optional<Status> done = onednn::conv(wide);
    if (!done.has_value() || *done != kernel::kOk) return done;
    const Status status = add_input_bias(part, image, bias, DType::kFloat32);
    if (status != kernel::kOk) return status;
  }
  return kernel::kOk;
}

// No implementation of the gradient of an input adds a bias itself.
Status conv_with_input_bias(const ConvPlan& plan) {
  if (itemsize(plan.dtype) == 2) {
    if (!prefers_blocks(plan)) {
      const std::optional<Status> done = wide_input(plan);
      if (done.has_value()) return *done;
    }
    return conv_by_blocks(plan);
  }
  ConvPlan bare = plan;
  bare.bias = nullptr;
  const Status status = conv_in_opmath(bare);
  if (status != kernel::kOk) return status;
  return add_input_bias(plan, plan.input, plan.bias, plan.dtype);
}

}  // namespace

Status conv(const ConvPlan& plan) {
  const bool adds_bias = plan.pass == ConvPass::kBackwardInput && plan.bias != nullptr;
  return adds_bias ? conv_with_input_bias(plan) : conv_any(plan);
}

}  // namespace tsr::cpu
