// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The sorting family.
#pragma once

#include "kernel/sort.h"

namespace tsr::cpu {

kernel::Status sort(const kernel::SortPlan& plan);

}  // namespace tsr::cpu
