// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Threads of the CPU: their number, parallel loops of our own kernels, and the number of OpenMP
// threads for OpenBLAS and oneDNN. A forked child runs serially.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace tsr {

// The number of threads that parallel regions may use; thread-safe; at least 1.
int32_t num_threads() noexcept;
// Sets it for all later regions of the process, on every thread.
void set_num_threads(int32_t count);
// While this object lives, OpenBLAS and oneDNN use the configured number of threads in calls from
// the calling thread. They use one thread if `serial` is true, in deterministic mode, inside a
// parallel region, or if the system has not enough threads.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(bool serial = false) noexcept;
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;
  ~OpenMpThreads();

  [[nodiscard]] int32_t count() const noexcept { return count_; }

 private:
  int32_t before_;
  int32_t count_ = 1;
};
// True inside a parallel region; a region inside it runs serially.
bool in_parallel_region() noexcept;

// Runs body(begin, end) over [0, count) in chunks that are multiples of `grain`, on as many threads
// as are worth it. If the pool is in use, there is one chunk; otherwise the chunks depend on count,
// grain and the thread count only. Body must not throw.
void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace tsr
