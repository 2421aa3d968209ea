// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "base/determinism.h"
#include "base/openmp_team.h"
#include "base/thread_pool.h"

namespace tsr {
namespace {

// No pool survives a fork, neither OpenMP's nor ours: a region in the child would wait for threads
// that do not exist there. Therefore the child runs serially.
std::atomic<bool> g_forked_child{false};

// OpenMP has a setting for each calling thread; ours holds for the whole process. 0: not known yet;
// the first thread that asks sets it to OpenMP's default.
std::atomic<int32_t> g_threads{0};

// More parts than threads, so that other threads take the share of a thread that starts late.
constexpr int64_t kPartsPerThread = 4;

// Does not call OpenMP: the run time may not have restored its own locks yet. OpenMpThreads passes
// the new count on before anything of OpenMP runs.
void note_fork_in_child() {
  g_forked_child.store(true, std::memory_order_relaxed);
}

// Registered when the library is loaded, not before the first region: the host may have run regions
// of its own before.
[[maybe_unused]] const int kForkHandler = pthread_atfork(nullptr, nullptr, note_fork_in_child);

}  // namespace

int32_t num_threads() noexcept {
  if (g_forked_child.load(std::memory_order_relaxed)) return 1;
  int32_t chosen = g_threads.load(std::memory_order_relaxed);
  if (chosen > 0) [[likely]]
    return chosen;
  const int32_t standard = std::clamp(omp_get_max_threads(), 1, processors());
  return g_threads.compare_exchange_strong(chosen, standard) ? standard : chosen;
}

void set_num_threads(int32_t count) {
  g_threads.store(std::max(1, count), std::memory_order_relaxed);
}

OpenMpThreads::OpenMpThreads(bool serial) noexcept : before_(omp_get_max_threads()) {
  const int32_t wanted = serial || deterministic() || in_parallel_region() ? 1 : num_threads();
  // All threads or one: at every other number OpenBLAS changes its team, for all threads at once.
  count_ = ready_team(wanted) == wanted ? wanted : 1;
  if (count_ != before_) omp_set_num_threads(count_);
}

OpenMpThreads::~OpenMpThreads() {
  if (count_ != before_) omp_set_num_threads(before_);
}

bool in_parallel_region() noexcept {
  return in_pool_part() || omp_in_parallel() != 0;
}

void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  const int64_t step = std::max<int64_t>(grain, 1);
  // Waking a thread costs some microseconds, so a rest smaller than a grain gets no thread of its
  // own.
  const int64_t paying = std::min<int64_t>(count / step, num_threads());
  if (paying > 1 && !in_parallel_region()) {
    const int64_t grains = (count + step - 1) / step;
    const int64_t parts = std::min(grains, paying * kPartsPerThread);
    const auto run = [&](int64_t part) {
      const int64_t begin = grains * part / parts * step;
      const int64_t end = std::min(count, grains * (part + 1) / parts * step);
      if (begin < end) body(begin, end);
    };
    if (run_parts(parts, static_cast<int32_t>(paying), run)) return;
  }
  body(0, count);
}

}  // namespace tsr
