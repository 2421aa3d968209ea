// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/foreign_call.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <ctime>

#include "backend/cpu/host.h"

namespace tsr::cpu {
namespace {

std::atomic<int64_t> g_running{0};
std::atomic<bool> g_ending{false};
std::atomic<pthread_t> g_ender{};

// Longer than any product should take. A thread that is still inside then is not waited for.
constexpr int kWaits = 20000;
constexpr timespec kWait{0, 100000};

void end_foreign_calls() noexcept {
  g_ender.store(pthread_self());
  g_ending.store(true);
  for (int i = 0; i < kWaits && g_running.load() > 0; ++i) nanosleep(&kWait, nullptr);
}

// Registered when this library is loaded, after the exit handlers of the libraries that it links.
// Handlers run in reverse order, so ours runs before theirs, and destructors of libraries run after
// all handlers.
[[maybe_unused]] const int kExitHandler = std::atexit(end_foreign_calls);

}  // namespace

// Both operations are sequentially consistent: either this thread sees that the process ends, or
// the exit handler sees this thread.
ForeignCall::ForeignCall() noexcept {
  g_running.fetch_add(1);
  if (!g_ending.load()) [[likely]]
    return;
  if (pthread_equal(g_ender.load(), pthread_self()) != 0) return;
  refused_ = true;
  g_running.fetch_sub(1);
}

ForeignCall::~ForeignCall() {
  if (!refused_) g_running.fetch_sub(1);
}

kernel::Status ForeignCall::refuse() noexcept {
  return failure(Code::kBackend,
                 "expected a call before the process ends, got one while it is ending: its "
                 "libraries are shut down");
}

bool can_map(size_t nbytes) noexcept {
  void* data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return false;
  munmap(data, nbytes);
  return true;
}

bool ForeignCall::ending() noexcept {
  return g_ending.load(std::memory_order_relaxed);
}

int64_t ForeignCall::running() noexcept {
  return g_running.load(std::memory_order_relaxed);
}

void end_foreign_calls_early() noexcept {
  static_cast<void>(std::atexit(end_foreign_calls));
}

}  // namespace tsr::cpu
