// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/nn/onednn/conv_shares.h"

namespace tsr::cpu::onednn {

using kernel::ConvPass;
using kernel::ConvPlan;

namespace {

// A share of the output's channels is a multiple of the channels in a block of oneDNN.
constexpr int64_t kChannelBlock = 16;
// Sums of larger weights take longer than they save.
constexpr int64_t kMostSummed = int64_t{1} << 16;
// Every share changes the layout of the whole weight for itself, which takes as long as multiplying
// it with some points of the output.
constexpr int64_t kPointsOfShare = 64;

// Moves a pointer that may be null.
void* moved(void* data, int64_t elements, DType dtype) {
  return data == nullptr ? nullptr : static_cast<char*>(data) + elements * itemsize(dtype);
}

}  // namespace

int64_t weight_numel(const ConvPlan& plan) {
  return plan.out_channels * plan.in_channels / plan.groups * product(plan.spatial, plan.kernel);
}

Shares shares_of(const ConvPlan& plan, const Approach& way, int32_t threads) {
  // Winograd's algorithm runs long enough, and each share would transform the weight.
  if (threads < 2 || way.winograd || plan.dtype != DType::kFloat32) return {};
  const bool divisible = plan.batch % threads == 0;
  if (plan.pass != ConvPass::kBackwardWeight) {
    const int64_t points = plan.batch * product(plan.spatial, plan.output_size);
    return {divisible && points >= kPointsOfShare * threads ? threads : 1, true, false};
  }
  if (divisible && weight_numel(plan) <= kMostSummed) return {threads, true, true};
  // A part of the output's channels would have to be made contiguous for the other layouts.
  const bool any = !way.last && !way.plain && plan.groups == 1;
  if (any && plan.out_channels % (threads * kChannelBlock) == 0) return {threads, false, false};
  return {};
}

ConvPlan share_of(const ConvPlan& plan, const Shares& shares, int64_t index) {
  ConvPlan share = plan;
  if (shares.images) {
    share.batch = plan.batch / shares.count;
    const int64_t first = share.batch * index;
    share.input = moved(plan.input, first * plan.input_strides[0], plan.dtype);
    share.output = moved(plan.output, first * plan.output_strides[0], plan.dtype);
    return share;
  }
  share.out_channels = plan.out_channels / shares.count;
  const int64_t first = share.out_channels * index;
  share.output = moved(plan.output, first * plan.output_strides[1], plan.dtype);
  share.weight = moved(plan.weight, weight_numel(share) * index, plan.dtype);
  share.bias = moved(plan.bias, first, plan.dtype);
  return share;
}

}  // namespace tsr::cpu::onednn
