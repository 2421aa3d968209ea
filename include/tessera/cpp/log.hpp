// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the library tells about itself: its version, its messages; and plugins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "tessera/cpp/error.hpp"
#include "tessera/device.h"
#include "tessera/status.h"
#include "tessera/version.h"

namespace tessera {

// For example "0.1.0".
inline std::string_view version() noexcept {
  return tsr_version_string();
}

enum class LogLevel : int32_t {
  kDebug = TSR_LOG_DEBUG,
  kInfo = TSR_LOG_INFO,
  kWarning = TSR_LOG_WARNING,
  kError = TSR_LOG_ERROR,
};

// Calls logger(level, component, message), with a LogLevel and two std::string_view, for each
// message of the library, on any thread, several at a time. What it throws is dropped. The library
// prints nothing itself.
template <class Logger>
void set_log(Logger logger) {
  auto owned = std::make_unique<Logger>(std::move(logger));
  const tsr_log_fn log = [](void* user, tsr_log_level level, const char* component,
                            const char* message, int64_t length) {
    try {
      (*static_cast<Logger*>(user))(static_cast<LogLevel>(level), std::string_view(component),
                                    std::string_view(message, static_cast<size_t>(length)));
    } catch (...) {  // nobody could handle it
      return;
    }
  };
  // A failure drops the logger too, so release it first.
  check(tsr_log_set(log, owned.release(), [](void* user) { delete static_cast<Logger*>(user); }));
}
// Ends the messages, as at the start.
inline void set_log(std::nullptr_t /*none*/) {
  check(tsr_log_set(nullptr, nullptr, nullptr));
}

// Loads a backend from a shared library; loading it again does nothing.
inline void load_plugin(std::string_view path) {
  check(tsr_plugin_load(path.data(), static_cast<int64_t>(path.size())));
}

}  // namespace tessera
