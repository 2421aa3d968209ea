// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The reduction entries of the kernel table.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cuda {

kernel::Status reduce(const kernel::ReducePlan& plan);
kernel::Status scan(const kernel::ScanPlan& plan);
kernel::Status softmax(const kernel::SoftmaxPlan& plan);
kernel::Status softmax_backward(const kernel::SoftmaxPlan& plan);

}  // namespace tsr::cuda
