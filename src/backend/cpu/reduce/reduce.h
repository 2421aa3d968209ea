// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The reduction and scan entries of the kernel table.
#pragma once

#include "kernel/reduce.h"

namespace tsr::cpu {

kernel::Status reduce(const kernel::ReducePlan& plan);
kernel::Status scan(const kernel::ScanPlan& plan);

}  // namespace tsr::cpu
