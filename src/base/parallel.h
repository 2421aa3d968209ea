// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Threads of the CPU: how many, our own kernels' loops over them, and what OpenBLAS and oneDNN,
// which have OpenMP's, may use; serial in a forked child.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace tsr {

// The number of threads parallel regions may use; thread-safe; at least 1.
int32_t num_threads() noexcept;
// Sets it for every later region of the process, whichever thread starts it.
void set_num_threads(int32_t count);
// While it lives OpenBLAS and oneDNN, which ask OpenMP, use so many threads when the calling thread
// enters them: as many as the setting says, or one where it is told so or no more can be had.
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
// True inside a parallel region, where a nested one runs serially.
bool in_parallel_region() noexcept;

// Runs body(begin, end) over [0, count) in chunks of whole multiples of `grain`, at least one grain
// each, on as many threads as pay and are free. What is split depends on count, grain and the
// thread count only. Body must not throw.
void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace tsr
