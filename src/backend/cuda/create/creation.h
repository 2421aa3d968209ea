// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The creation entries of the kernel table.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cuda {

kernel::Status random(const kernel::RandomPlan& plan);
kernel::Status sequence(const kernel::SequencePlan& plan);
kernel::Status triangle(const kernel::TrianglePlan& plan);

}  // namespace tsr::cuda
