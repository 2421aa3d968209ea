// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The indexing and sorting entries of the kernel table.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cuda {

kernel::Status index(const kernel::IndexPlan& plan);
kernel::Status nonzero(const kernel::NonzeroPlan& plan);
kernel::Status sort(const kernel::SortPlan& plan);

}  // namespace tsr::cuda
