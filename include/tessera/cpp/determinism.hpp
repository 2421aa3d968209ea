// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Deterministic mode of the process: results with the same bits, whatever the number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/cpp/error.hpp"
#include "tessera/determinism.h"

namespace tessera {

enum class DeterministicMode : int32_t {
  kOff = TSR_DETERMINISTIC_OFF,
  kOn = TSR_DETERMINISTIC_ON,      // an error where there is no deterministic kernel
  kWarn = TSR_DETERMINISTIC_WARN,  // a warning in the log there
};

inline DeterministicMode deterministic_mode() noexcept {
  return static_cast<DeterministicMode>(tsr_deterministic_get());
}
// Returns the mode before.
inline DeterministicMode set_deterministic_mode(DeterministicMode mode) {
  int32_t before = 0;
  check(tsr_deterministic_set(static_cast<tsr_deterministic_mode>(mode), &before));
  return static_cast<DeterministicMode>(before);
}

// Whether empty() and its like fill their memory in deterministic mode.
inline bool deterministic_fill() noexcept {
  return tsr_deterministic_fill() != 0;
}
// Returns the setting before.
inline bool set_deterministic_fill(bool enabled) {
  int32_t before = 0;
  check(tsr_deterministic_set_fill(enabled, &before));
  return before != 0;
}

// For operations outside the library whose results may differ from run to run: fails in
// deterministic mode.
inline void require_deterministic(std::string_view operation) {
  check(tsr_deterministic_require(operation.data(), static_cast<int64_t>(operation.size())));
}

// The kernels whose results depend on more than their inputs while the mode is off, as JSON.
inline std::string nondeterministic_kernels() {
  const char* text = nullptr;
  int64_t size = 0;
  check(tsr_deterministic_list(&text, &size));
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace tessera
