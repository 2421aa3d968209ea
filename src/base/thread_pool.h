// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The threads of our own kernels: one pool for the process, whose idle threads sleep.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace tsr {

// Calls part(0) to part(parts - 1), each once, on the calling thread and at most `threads` - 1
// others. Returns false and calls nothing if another thread is using the pool or if no thread can
// be started. A part must not throw.
bool run_parts(int64_t parts, int32_t threads, FunctionRef<void(int64_t)> part);

// True inside a part.
bool in_pool_part() noexcept;

}  // namespace tsr
