// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The neural-network and optimizer entries of the kernel table.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cuda {

kernel::Status class_loss(const kernel::ClassLossPlan& plan);
kernel::Status conv(const kernel::ConvPlan& plan);
kernel::Status norm(const kernel::NormPlan& plan);
kernel::Status optim(const kernel::OptimPlan& plan);
kernel::Status pool(const kernel::PoolPlan& plan);

}  // namespace tsr::cuda
