// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The program's call stacks, for anomaly mode, recordings of memory and profilers.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "tessera/cpp/error.hpp"
#include "tessera/profile.h"

namespace tessera {

// The callable gives the call stack of the thread that calls it, "file:line in function" in each
// line, innermost first. C++ has no stack of its own to offer. Empty: no stacks. One callable
// serves all threads, several at a time, and all that ask for stacks. Where it throws there is no
// stack.
inline void set_host_stack(std::function<std::string()> stack) {
  using Callable = std::function<std::string()>;
  if (!stack) return check(tsr_host_stack_set(nullptr, nullptr, nullptr));
  const auto run = [](void* user, char* text, int64_t capacity, int64_t* length) -> tsr_status {
    try {
      const std::string found = (*static_cast<Callable*>(user))();
      *length = std::min(capacity, static_cast<int64_t>(found.size()));
      std::memcpy(text, found.data(), static_cast<size_t>(*length));
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  };
  const auto drop = [](void* user) { delete static_cast<Callable*>(user); };
  // A failure drops it too.
  check(tsr_host_stack_set(run, new Callable(std::move(stack)), drop));
}

}  // namespace tessera
