// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/thread_slot.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/immortal.h"
#include "base/thread_exit.h"

namespace tsr::capi {

constinit thread_local ThreadSlot* t_slot = nullptr;

namespace {

std::atomic<ThreadSlot*> g_slots{nullptr};
// The handle count of threads without a slot.
std::atomic<int64_t> g_handles_elsewhere{0};

struct IdleSlots {
  GuardedMutex mutex;
  ThreadSlot* first = nullptr;
  uint64_t threads = 0;  // the last number given to a thread
};
IdleSlots& idle_slots() {
  return immortal<IdleSlots>();
}

void leave_slot() noexcept {
  ThreadSlot* slot = std::exchange(t_slot, nullptr);
  if (slot == nullptr) return;
  const std::lock_guard lock(idle_slots().mutex);
  slot->next_idle = idle_slots().first;
  idle_slots().first = slot;
}

void number(ThreadSlot& slot) {
  const std::lock_guard lock(idle_slots().mutex);
  slot.thread = ++idle_slots().threads;
}

ThreadSlot* take_idle() {
  const std::lock_guard lock(idle_slots().mutex);
  ThreadSlot* slot = idle_slots().first;
  if (slot != nullptr) idle_slots().first = std::exchange(slot->next_idle, nullptr);
  return slot;
}

ThreadSlot* make_slot() {
  auto* slot = new ThreadSlot;
  slot->next = g_slots.load(std::memory_order_relaxed);
  while (!g_slots.compare_exchange_weak(slot->next, slot, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  return slot;
}

}  // namespace

ThreadSlot* acquire_slot() noexcept {
  if (t_slot != nullptr) return t_slot;
  try {
    if (!at_thread_exit(ThreadPart::kHandleCounts, leave_slot)) return nullptr;
    ThreadSlot* slot = take_idle();
    if (slot == nullptr) slot = make_slot();
    number(*slot);
    return t_slot = slot;
  } catch (...) {
    return nullptr;
  }
}

ThreadSlot& this_slot() {
  ThreadSlot* slot = acquire_slot();
  if (slot == nullptr) throw std::bad_alloc();
  return *slot;
}

ThreadSlot* first_slot() noexcept {
  return g_slots.load(std::memory_order_acquire);
}

void count_handle_slowly(int64_t change) noexcept {
  if (acquire_slot() != nullptr) return count_handle(change);
  g_handles_elsewhere.fetch_add(change, std::memory_order_relaxed);
}

// Not an exact snapshot: handles may be made and released by other threads between the reads.
int64_t live_handles() noexcept {
  int64_t sum = g_handles_elsewhere.load(std::memory_order_relaxed);
  for (const ThreadSlot* slot = first_slot(); slot != nullptr; slot = slot->next) {
    sum += slot->handles.load(std::memory_order_relaxed);
  }
  return std::max<int64_t>(sum, 0);
}

}  // namespace tsr::capi
