// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// For the files that hold rows of binary ops: derivatives of several ops.
#pragma once

#include <cstdint>

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// A flag beside BinarySaves in BinaryGrad::saves: several ops of the derivative round, so it gets
// its context in opmath. A gradient of 16-bit floats is then rounded once.
inline constexpr uint8_t kInOpmath = 8;

// The derivative with its context in opmath, as round_once of round_once.h.
Tensor round_once(const BinaryContext& ctx, Tensor (*derivative)(const BinaryContext& ctx));

}  // namespace tsr::ops
