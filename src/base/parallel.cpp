// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

namespace tsr {
namespace {

// libgomp's pool does not survive a fork: a parallel region in the child would wait for threads
// that are not there. The child therefore runs serially.
std::atomic<bool> g_forked_child{false};

// OpenMP keeps its own setting per calling thread; ours holds for the whole process. 0 = OpenMP's
// default.
std::atomic<int32_t> g_threads{0};

// OpenMP itself is not called here: the run time may not have restored its own locks yet, and
// share_thread_setting passes the new count on before anything of OpenMP runs.
void note_fork_in_child() {
  g_forked_child.store(true, std::memory_order_relaxed);
}

[[maybe_unused]] const int kForkHandler = pthread_atfork(nullptr, nullptr, note_fork_in_child);

}  // namespace

int32_t num_threads() noexcept {
  if (g_forked_child.load(std::memory_order_relaxed)) return 1;
  const int32_t chosen = g_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : std::max(1, omp_get_max_threads());
}

void set_num_threads(int32_t count) {
  g_threads.store(std::max(1, count), std::memory_order_relaxed);
  share_thread_setting();
}

void share_thread_setting() noexcept {
  const int32_t wanted = num_threads();
  if (omp_get_max_threads() != wanted) omp_set_num_threads(wanted);
}

bool in_parallel_region() noexcept {
  return omp_in_parallel() != 0;
}

void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  const int64_t step = std::max<int64_t>(grain, 1);
  const int64_t grains = (count + step - 1) / step;
  const int64_t threads = std::min<int64_t>(grains, in_parallel_region() ? 1 : num_threads());
  if (threads <= 1) {
    body(0, count);
    return;
  }
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    // The runtime may give fewer threads than asked for; the loop covers every part all the same.
    const int64_t team = omp_get_num_threads();
    for (int64_t part = omp_get_thread_num(); part < threads; part += team) {
      const int64_t begin = grains * part / threads * step;
      const int64_t end = std::min(count, grains * (part + 1) / threads * step);
      if (begin < end) body(begin, end);
    }
  }
}

}  // namespace tsr
