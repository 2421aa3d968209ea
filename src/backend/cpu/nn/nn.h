// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU's kernel entries of the neural-network and optimizer families.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cpu {

// Contracts stand beside the plans, in src/kernel.
kernel::Status softmax(const kernel::SoftmaxPlan& plan);
kernel::Status softmax_backward(const kernel::SoftmaxPlan& plan);
kernel::Status conv(const kernel::ConvPlan& plan);
kernel::Status pool(const kernel::PoolPlan& plan);
kernel::Status norm(const kernel::NormPlan& plan);
kernel::Status class_loss(const kernel::ClassLossPlan& plan);
kernel::Status optim(const kernel::OptimPlan& plan);

// Convolution with a kernel for every channel, where that does better than oneDNN.
bool prefers_depthwise(const kernel::ConvPlan& plan);
kernel::Status depthwise(const kernel::ConvPlan& plan);

// Convolution by im2col and matrix products, for what oneDNN does not do. Real floating types; the
// weight is row-major.
kernel::Status conv_by_columns(const kernel::ConvPlan& plan);

}  // namespace tsr::cpu
