// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Deterministic mode of the process: results that depend on the inputs only, and not on the number
// of threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr {

enum class DeterministicMode : int32_t { kOff, kOn, kWarn };

namespace detail {
extern constinit std::atomic<int32_t> g_deterministic_mode;
extern constinit std::atomic<bool> g_deterministic_fill;
}  // namespace detail

[[nodiscard]] inline DeterministicMode deterministic_mode() noexcept {
  return static_cast<DeterministicMode>(
      detail::g_deterministic_mode.load(std::memory_order_relaxed));
}
// The mode before.
DeterministicMode set_deterministic_mode(DeterministicMode mode) noexcept;

// Whether kernels divide their sums independently of the number of threads; also when the mode only
// warns.
[[nodiscard]] inline bool deterministic() noexcept {
  return deterministic_mode() != DeterministicMode::kOff;
}

// Whether new memory is filled with NaN, or the largest integer, while the mode is on or warns.
[[nodiscard]] bool deterministic_fill() noexcept;
// The setting before.
bool set_deterministic_fill(bool enabled) noexcept;
[[nodiscard]] inline bool fills_new_memory() noexcept {
  return deterministic() && deterministic_fill();
}

}  // namespace tsr
