// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the ABI keeps for each thread where other threads can see it: how many tensor handles it
// gave out and took back, and its open scopes.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/guarded_mutex.h"

namespace tsr::capi {

struct ScopeObject;

// Slots are never freed, so that other threads read them without a lock; the slot of a thread that
// ended waits, with its count, for the next thread that starts.
struct alignas(64) ThreadSlot {
  std::atomic<int64_t> handles{0};  // written by its thread alone; the sum over all slots counts
  std::atomic<int32_t> open_scopes{0};
  ThreadSlot* next = nullptr;       // of all slots ever made
  ThreadSlot* next_idle = nullptr;  // of those without a thread
  uint64_t thread = 0;              // number of its thread; never used again
  GuardedMutex mutex;               // for the rest and for the entries of its scopes
  ScopeObject* scopes = nullptr;    // the open ones, newest first
};

extern constinit thread_local ThreadSlot* t_slot;

// The calling thread's slot, made when there is none yet. Null when there is no memory for it, or
// for what takes it back when the thread ends.
[[gnu::cold]] ThreadSlot* acquire_slot() noexcept;
// The same; throws bad_alloc.
ThreadSlot& this_slot();
// All slots, newest first.
[[nodiscard]] ThreadSlot* first_slot() noexcept;

[[gnu::cold]] void count_handle_slowly(int64_t change) noexcept;
inline void count_handle(int64_t change) noexcept {
  ThreadSlot* slot = t_slot;
  if (slot == nullptr) [[unlikely]]
    return count_handle_slowly(change);
  // No other thread writes this slot, so a read and a write need not be one.
  slot->handles.store(slot->handles.load(std::memory_order_relaxed) + change,
                      std::memory_order_relaxed);
}
// How many tensor handles the host holds.
int64_t live_handles() noexcept;

}  // namespace tsr::capi
