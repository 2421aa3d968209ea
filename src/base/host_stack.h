// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The call stack of the host's language. One source serves all threads and all who ask: anomaly
// mode, recordings of memory, profilers, programs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tsr {

// Gives the stack of the thread that calls it: "file:line in function" in each line, innermost
// frame first. Must be safe on several threads at a time.
using HostStackSource = std::function<std::string()>;

// From now on this source serves; null: none. Returns the one before, which other threads may still
// be inside of.
std::shared_ptr<const HostStackSource> set_host_stack(
    std::shared_ptr<const HostStackSource> source);

// The stack of the calling thread, without a line break at its end. Empty without a source, and
// while this thread is inside the source. Throws what the source throws. Not under a lock.
[[nodiscard]] std::string host_stack();
// The same, empty after a failure.
[[nodiscard]] std::string host_stack_or_none() noexcept;

// The stack with the text of its line below each frame whose file can be read; for messages.
[[nodiscard]] std::string with_source_lines(std::string_view stack);

}  // namespace tsr
