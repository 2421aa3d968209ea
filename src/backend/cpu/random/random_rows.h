// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the random family.
#pragma once

#include <cstdint>

#include "kernel/random.h"

namespace tsr::cpu {

// Writes elements [begin, end) of the plan's output.
using RandomRow = void (*)(const kernel::RandomPlan& plan, int64_t begin, int64_t end);

struct RandomRows {
  // Null for an op and dtype that are not implemented together.
  RandomRow (*find)(kernel::RandomOp op, DType dtype);
};

}  // namespace tsr::cpu
