// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/live_count.h"

#include <new>

namespace tsr::capi {

constinit thread_local LiveSlot* t_live_slot = nullptr;

namespace {

std::atomic<LiveSlot*> g_slots{nullptr};
// Where threads count that find no memory for a slot: shared, so some counts may be lost.
LiveSlot g_shared_slot;

}  // namespace

// Slots stay for good: 64 bytes for each thread that ever used a handle keep reading them
// lock-free.
LiveSlot* acquire_live_slot() noexcept {
  LiveSlot* slot = new (std::nothrow) LiveSlot;
  if (slot == nullptr) return &g_shared_slot;
  slot->next = g_slots.load(std::memory_order_relaxed);
  while (!g_slots.compare_exchange_weak(slot->next, slot, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  t_live_slot = slot;
  return slot;
}

int64_t live_handles() noexcept {
  int64_t sum = g_shared_slot.value.load(std::memory_order_relaxed);
  for (LiveSlot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    sum += slot->value.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace tsr::capi
