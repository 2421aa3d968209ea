// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>

#include "base/immortal.h"

namespace tsr {
namespace {

// Note [The pool]
// A job is a number of parts, which threads take one by one. The owner, the thread that brings the
// job, works too, so a thread that wakes up late finds fewer parts or none, and nobody waits for
// it. `door_` counts the threads that are inside the job. When no part is left, the owner closes
// the door and waits only for the threads inside. A thread without work polls for the next job for
// about 30 microseconds, the usual time between two kernels, and then sleeps until it is woken.

constexpr uint32_t kClosed = uint32_t{1} << 31;
constexpr std::chrono::microseconds kLook{30};

constinit thread_local bool t_in_part = false;

void wait_while(std::atomic<uint32_t>& word, uint32_t value) noexcept {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr,
          nullptr, 0);
}
void wake(std::atomic<uint32_t>& word, int32_t count) noexcept {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr,
          nullptr, 0);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The number of times one can call relax() in the time kLook.
int32_t looks_in_time() noexcept {
  constexpr int32_t kTrial = 200;
  const auto begin = std::chrono::steady_clock::now();
  for (int32_t i = 0; i < kTrial; ++i) relax();
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  // If the trial lost its processor, the result is too small rather than too large.
  const int64_t each = taken.count() / kTrial + 1;
  return static_cast<int32_t>(std::chrono::nanoseconds(kLook).count() / each) + 1;
}

// Polls `looks` times. True as soon as the word is no longer `value`.
bool changes_soon(const std::atomic<uint32_t>& word, uint32_t value, int32_t looks) noexcept {
  for (int32_t i = 0; i < looks; ++i) {
    if (word.load(std::memory_order_acquire) != value) return true;
    relax();
  }
  return false;
}

class Pool {
 public:
  bool run(int64_t parts, int32_t threads, FunctionRef<void(int64_t)> part) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    const int32_t helpers = grow(threads - 1);
    if (helpers > 0) {
      open(parts, helpers, part);
      work();
      close();
    }
    taken_.store(false, std::memory_order_release);
    return helpers > 0;
  }

 private:
  // ---- the owner of a job ----

  void open(int64_t parts, int32_t helpers, FunctionRef<void(int64_t)>& part) noexcept {
    part_ = &part;
    parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    seats_.store(helpers, std::memory_order_relaxed);
    door_.fetch_and(~kClosed, std::memory_order_release);
    job_.fetch_add(1);
    if (sleepers_.load() > 0) wake(job_, helpers);
  }
  void close() noexcept {
    uint32_t inside = door_.fetch_or(kClosed, std::memory_order_acq_rel) | kClosed;
    while (inside != kClosed) {
      if (!changes_soon(door_, inside, looks_)) {
        owner_sleeps_.store(true);
        wait_while(door_, inside);
        owner_sleeps_.store(false);
      }
      inside = door_.load(std::memory_order_acquire);
    }
  }
  void work() {
    t_in_part = true;
    for (;;) {
      const int64_t mine = next_.fetch_add(1, std::memory_order_relaxed);
      if (mine >= parts_) break;
      (*part_)(mine);
    }
    t_in_part = false;
  }

  // ---- the helpers ----

  static void* begin(void* argument) {
    omp_set_num_threads(1);  // libraries that a part calls use one thread
    static_cast<Pool*>(argument)->help();
    return nullptr;
  }
  [[noreturn]] void help() {
    uint32_t seen = 0;
    for (;;) {
      seen = next_job(seen);
      const bool open = (door_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0;
      if (open && seats_.fetch_sub(1, std::memory_order_relaxed) > 0) work();
      const uint32_t left = door_.fetch_sub(1) - 1;
      if (left == kClosed && owner_sleeps_.load()) wake(door_, 1);
    }
  }
  uint32_t next_job(uint32_t seen) noexcept {
    if (!changes_soon(job_, seen, looks_)) {
      sleepers_.fetch_add(1);
      while (job_.load() == seen) wait_while(job_, seen);
      sleepers_.fetch_sub(1);
    }
    return job_.load(std::memory_order_acquire);
  }

  // ---- threads ----

  // Makes threads until there are `wanted`; returns how many of those there are.
  int32_t grow(int32_t wanted) noexcept {
    if (wanted <= made_) return wanted;
    if (looks_ == 0) looks_ = looks_in_time();
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return made_;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The process may have more processors than this thread, which the host may have pinned.
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0) {
      pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to threads of the host
    pthread_t thread;
    while (made_ < wanted && pthread_create(&thread, &attributes, begin, this) == 0) {
      pthread_setname_np(thread, "tessera");
      ++made_;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return made_;
  }

  std::atomic<bool> taken_{false};
  int32_t made_ = 0;
  int32_t looks_ = 0;
  FunctionRef<void(int64_t)>* part_ = nullptr;
  int64_t parts_ = 0;
  alignas(64) std::atomic<uint32_t> job_{0};
  std::atomic<int32_t> sleepers_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  std::atomic<int32_t> seats_{0};
  alignas(64) std::atomic<uint32_t> door_{kClosed};
  std::atomic<bool> owner_sleeps_{false};
};

}  // namespace

bool run_parts(int64_t parts, int32_t threads, FunctionRef<void(int64_t)> part) {
  return immortal<Pool>().run(parts, threads, part);
}

bool in_pool_part() noexcept {
  return t_in_part;
}

}  // namespace tsr
