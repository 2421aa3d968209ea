// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How many tensor handles the host holds: one counter per thread, written by it alone, summed on
// demand.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr::capi {

struct alignas(64) LiveSlot {
  std::atomic<int64_t> value{0};
  LiveSlot* next = nullptr;
};

extern constinit thread_local LiveSlot* t_live_slot;
[[gnu::cold]] LiveSlot* acquire_live_slot() noexcept;

inline void count_handle(int64_t change) noexcept {
  LiveSlot* slot = t_live_slot;
  if (slot == nullptr) [[unlikely]]
    slot = acquire_live_slot();
  // No other thread writes this slot, so a read and a write need not be one.
  slot->value.store(slot->value.load(std::memory_order_relaxed) + change,
                    std::memory_order_relaxed);
}
int64_t live_handles() noexcept;

}  // namespace tsr::capi
