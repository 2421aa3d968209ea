// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sizes of memory in whole units.
#pragma once

#include <cstdint>

namespace tsr {

// The smallest multiple of `unit` that is at least `value`.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace tsr
