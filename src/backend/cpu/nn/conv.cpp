// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution: depthwise kernels by hand, others by oneDNN where it has the type, im2col and matrix
// products elsewhere.
#include "backend/cpu/nn/onednn/conv.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/nn/nn.h"

namespace tsr::cpu {

kernel::Status conv(const kernel::ConvPlan& plan) {
  if (prefers_depthwise(plan)) return depthwise(plan);
  if (plan.dtype == DType::kFloat32 || plan.dtype == DType::kBFloat16) {
    const std::optional<kernel::Status> done = onednn::conv(plan);
    if (done.has_value()) return *done;
  }
  return conv_by_columns(plan);
}

}  // namespace tsr::cpu
