// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Threads of the CPU: one OpenMP pool, shared with OpenBLAS and oneDNN; serial in a forked child.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace tsr {

// The number of threads parallel regions may use; thread-safe; at least 1.
int32_t num_threads() noexcept;
// Sets it for every later region of the process, whichever thread starts it.
void set_num_threads(int32_t count);
// Hands the setting to OpenMP for the calling thread; call it before entering OpenBLAS or oneDNN,
// whose OpenMP builds ask OpenMP how many threads they may use.
void share_thread_setting() noexcept;
// True inside a parallel region, where a nested one runs serially.
bool in_parallel_region() noexcept;

// Runs body(begin, end) over [0, count) in chunks of whole multiples of `grain`, at least one grain
// each, on as many threads as pay. The split depends on count, grain and the thread count only.
// Body must not throw.
void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace tsr
