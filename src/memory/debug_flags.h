// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Flags for rare conditions of the memory layer, tested with one load: injected failures, allocator
// overrides, recording.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/address_sanitizer.h"

namespace tsr {

// With the address sanitizer every block comes from malloc, so that the sanitizer knows its bounds
// and lifetime. Tests of the small lists then call their functions directly.
#if defined(TSR_ADDRESS_SANITIZER)
inline constexpr bool kSmallListsOff = true;
#else
inline constexpr bool kSmallListsOff = false;
#endif

inline constexpr uint32_t kFailureArmed = 1;   // fail_allocation_after is counting
inline constexpr uint32_t kOverridesUsed = 2;  // some thread has an allocator of its own
inline constexpr uint32_t kHistoryKept = 4;    // some allocator records its blocks

extern std::atomic<uint32_t> g_memory_debug_flags;
inline uint32_t debug_flags() noexcept {
  return g_memory_debug_flags.load(std::memory_order_relaxed);
}
void set_debug_flag(uint32_t flag, bool on) noexcept;

// For tests: lets the next `count` allocations of this process pass (tensor memory and objects
// alike), makes the one after them fail with Error kOutOfMemory, and disarms itself.
void fail_allocation_after(uint64_t count) noexcept;
// Disarms; true when the failure had not happened yet.
bool cancel_injected_failure() noexcept;

// Throws Error kOutOfMemory when this allocation was chosen.
void check_injected_failure(uint64_t nbytes);

}  // namespace tsr
