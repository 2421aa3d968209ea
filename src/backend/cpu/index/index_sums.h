// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums of 16-bit floats at indexed positions.
#pragma once

#include "kernel/index.h"

namespace tsr::cpu {

// kAccumulate into float16 or bfloat16; the indices have been checked.
kernel::Status accumulate_short(const kernel::IndexPlan& plan);

}  // namespace tsr::cpu
