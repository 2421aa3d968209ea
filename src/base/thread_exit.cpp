// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/thread_exit.h"

#include <pthread.h>

#include <atomic>
#include <bit>

namespace tsr {
namespace {

constexpr size_t kParts = static_cast<size_t>(ThreadPart::kHandleCounts) + 1;
std::atomic<void (*)() noexcept> g_runs[kParts];
constinit thread_local uint32_t t_parts = 0;

// The key's number plus one; 0 before there is a key, kClosed after the library is unloaded.
constexpr uint64_t kClosed = UINT64_MAX;
std::atomic<uint64_t> g_key{0};

void run_parts(void*) noexcept {
  while (t_parts != 0) {
    const auto part = static_cast<uint32_t>(std::countr_zero(t_parts));
    t_parts &= t_parts - 1;
    g_runs[part].load(std::memory_order_acquire)();
  }
}

// g_key; the first thread that needs the key makes it. Uses no lock, so that a fork finds a
// consistent state. 0 if the system has no key left.
uint64_t exit_key() noexcept {
  uint64_t known = g_key.load(std::memory_order_acquire);
  if (known != 0) return known;
  pthread_key_t key = 0;
  if (pthread_key_create(&key, run_parts) != 0) return 0;
  if (g_key.compare_exchange_strong(known, uint64_t{key} + 1, std::memory_order_acq_rel)) {
    return uint64_t{key} + 1;
  }
  pthread_key_delete(key);
  return known;
}

// Threads that end after the library is unloaded must not call its function through the key.
[[gnu::destructor]] void on_unload() {
  const uint64_t key = g_key.exchange(kClosed, std::memory_order_acq_rel);
  if (key != 0) pthread_key_delete(static_cast<pthread_key_t>(key - 1));
}

}  // namespace

bool at_thread_exit(ThreadPart part, void (*run)() noexcept) noexcept {
  const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(part);
  if ((t_parts & bit) != 0) return true;
  const uint64_t key = exit_key();
  if (key == 0) return false;
  if (key == kClosed) return true;  // the process is ending, and its threads with it
  if (pthread_setspecific(static_cast<pthread_key_t>(key - 1), &t_parts) != 0) return false;
  g_runs[static_cast<size_t>(part)].store(run, std::memory_order_release);
  t_parts |= bit;
  return true;
}

}  // namespace tsr
