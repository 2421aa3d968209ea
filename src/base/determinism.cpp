// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/determinism.h"

namespace tsr {

constinit std::atomic<int32_t> detail::g_deterministic_mode{0};
constinit std::atomic<bool> detail::g_deterministic_fill{true};

DeterministicMode set_deterministic_mode(DeterministicMode mode) noexcept {
  return static_cast<DeterministicMode>(
      detail::g_deterministic_mode.exchange(static_cast<int32_t>(mode)));
}

bool deterministic_fill() noexcept {
  return detail::g_deterministic_fill.load(std::memory_order_relaxed);
}

bool set_deterministic_fill(bool enabled) noexcept {
  return detail::g_deterministic_fill.exchange(enabled);
}

}  // namespace tsr
