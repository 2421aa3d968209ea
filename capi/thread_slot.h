// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The state that the ABI keeps for each thread and other threads read: the number of tensor handles
// that it made minus those it released, and its open scopes.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/guarded_mutex.h"

namespace tsr::capi {

struct ScopeObject;

// Slots are never freed, so that other threads read them without a lock. The slot of an ended
// thread keeps its count and is used again for the next new thread.
struct alignas(64) ThreadSlot {
  std::atomic<int64_t> handles{0};  // written by its own thread; only the sum of all slots counts
  std::atomic<int32_t> open_scopes{0};
  ThreadSlot* next = nullptr;       // in the list of all slots
  ThreadSlot* next_idle = nullptr;  // in the list of slots without a thread
  uint64_t thread = 0;              // number of its thread; never used again
  GuardedMutex mutex;               // protects the members below and the entries of the scopes
  ScopeObject* scopes = nullptr;    // the open ones, newest first
};

extern constinit thread_local ThreadSlot* t_slot;

// The calling thread's slot, made if there is none yet. Null if there is no memory for it, or none
// for returning it when the thread ends.
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
  // Only this thread writes this slot, so no atomic read-modify-write is needed.
  slot->handles.store(slot->handles.load(std::memory_order_relaxed) + change,
                      std::memory_order_relaxed);
}
// The number of tensor handles that the host holds.
int64_t live_handles() noexcept;

}  // namespace tsr::capi
