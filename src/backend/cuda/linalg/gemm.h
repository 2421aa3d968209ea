// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The matrix product of the kernel table.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cuda {

kernel::Status gemm(const kernel::GemmPlan& plan);

}  // namespace tsr::cuda
