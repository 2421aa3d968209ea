// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of recurrent gates; T is float or double.
#pragma once

#include <cstdint>

#include "backend/common/gate_step.h"

namespace tsr::cpu {

template <class T>
struct GatesRows {
  // Over the rows [begin, end) of a plan whose first row is given; one function per operation.
  using Rows = void (*)(const math::GateRow<T>& first, int64_t y_step, int64_t begin, int64_t end);
  Rows forward[static_cast<int>(kernel::GatesOp::kCount)];
  Rows backward[static_cast<int>(kernel::GatesOp::kCount)];
};

}  // namespace tsr::cpu
