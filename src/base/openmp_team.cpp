// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/openmp_team.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/guarded_mutex.h"
#include "base/immortal.h"

// A function of LLVM's run time. GNU's run time lacks it, and its address is then null.
extern "C" [[gnu::weak]] void kmp_set_blocktime(int milliseconds);

namespace tsr {
namespace {

#ifdef __clang__
constexpr bool kLlvmOpenMp = true;
#else
constexpr bool kLlvmOpenMp = false;
#endif

// The largest team that the calling thread has had; its threads wait for the next region.
constinit thread_local int32_t t_team = 1;

// Threads that were all alive at the same time and have ended.
class Trial {
 public:
  // Returns how many of `count` threads could be started.
  static int32_t run(int32_t count) noexcept {
    Trial trial;
    auto* threads = new (std::nothrow) pthread_t[static_cast<size_t>(count)];
    if (threads == nullptr) return 0;
    int32_t started = 0;
    pthread_mutex_lock(&trial.gate_);
    while (started < count && pthread_create(&threads[started], nullptr, pass_gate, &trial) == 0) {
      ++started;
    }
    pthread_mutex_unlock(&trial.gate_);
    for (int32_t i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
    delete[] threads;
    return started;
  }

 private:
  static void* pass_gate(void* argument) {
    pthread_mutex_t& gate = static_cast<Trial*>(argument)->gate_;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return nullptr;
  }
  pthread_mutex_t gate_ = PTHREAD_MUTEX_INITIALIZER;  // local to this call: no child needs it
};

// New threads inherit this mask, so that signals for the host run on threads of the host.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Note [Waiting threads]
// A waiting thread of GNU's OpenMP spins for milliseconds before it sleeps, and other threads
// cannot use that processor. The environment variables that change this are read before any code of
// ours runs. But if the run time manages more threads than there are processors, a thread spins
// only a hundred times, about a microsecond. So a thread starts one team as large as the machine,
// once, and then sleeps for ever. The threads of this team use no processor, and from then on there
// are always more threads than processors. If OMP_WAIT_POLICY or GOMP_SPINCOUNT is set, the user
// has decided, and nothing is done. docs/adr/0011-waiting-threads.md has the figures.

struct Parked {
  int32_t team;
  sem_t ready;
};

void* park(void* argument) {
  auto* parked = static_cast<Parked*>(argument);
#pragma omp parallel num_threads(parked->team)
  {
    asm volatile("");  // these threads only need to have started
  }
  sem_post(&parked->ready);
  for (;;) pause();
}

void park_a_team() noexcept {
  const int32_t team = processors();
  if (team < 2 || Trial::run(team) < team) return;
  Parked parked{team, {}};
  sem_init(&parked.ready, 0, 0);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, park, &parked) == 0) {
    while (sem_wait(&parked.ready) != 0) {
    }
    pthread_detach(thread);
  }
  sem_destroy(&parked.ready);
}

struct Quiet {
  GuardedMutex mutex{LockLevel::kOuter};
  bool done = false;
};

void keep_waiting_short() noexcept {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (kmp_set_blocktime != nullptr) kmp_set_blocktime(0);  // of the calling thread's teams
  if (kLlvmOpenMp) return;
  auto& quiet = immortal<Quiet>();
  const std::lock_guard lock(quiet.mutex);
  if (!quiet.done) park_a_team();
  quiet.done = true;
}

[[gnu::noinline, gnu::cold]] int32_t grow_team(int32_t wanted) noexcept {
  const NoSignals none;
  keep_waiting_short();
  t_team += Trial::run(wanted - t_team);
  return t_team;
}

int32_t count_processors() noexcept {
  cpu_set_t set;
  // Of the process: the host may have pinned this thread alone.
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More processors than the set has room for.
  return static_cast<int32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

int32_t processors() noexcept {
  static std::atomic<int32_t> known{0};
  int32_t count = known.load(std::memory_order_relaxed);
  if (count == 0) {
    count = count_processors();
    known.store(count, std::memory_order_relaxed);
  }
  return count;
}

int32_t ready_team(int32_t wanted) noexcept {
  return wanted <= t_team ? wanted : grow_team(wanted);
}

}  // namespace tsr
