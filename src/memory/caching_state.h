// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CachingState: what the parts of one caching allocator share, and the lock that guards it.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/guarded_mutex.h"
#include "base/round_up.h"
#include "memory/history.h"
#include "memory/memory_stats.h"

namespace tsr {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kSmallSize = kMiB;          // the largest request of the small pool
inline constexpr uint64_t kSmallSegment = 2 * kMiB;   // a segment of the small pool
inline constexpr uint64_t kLargeSegment = 20 * kMiB;  // a segment that large requests share
inline constexpr uint64_t kMinOwnSegment =
    10 * kMiB;  // requests from here on get their own segment

struct CachingSettings {
  // Blocks of at least this size are never split, and never serve smaller requests.
  uint64_t max_split_size = UINT64_MAX;
  // A block that may not be split may be larger than the request by less than this.
  uint64_t max_non_split_rounding = 20 * kMiB;
  // Above this fraction of the limit the segments unused for longest go back first; 0: never.
  double garbage_collection_threshold = 0.0;
  // Rounds sizes up to this many steps per power of two, so that similar sizes share blocks; 0: no.
  uint32_t roundup_power2_divisions = 0;
  // Segments that grow in place, so that blocks of all sizes share one range of addresses. Needs a
  // device that can reserve, map and unmap; excludes max_split_size.
  bool expandable_segments = false;
};

using CachingLock = std::unique_lock<GuardedMutex>;

// Every function of the parts runs under `mutex`. Those that take a CachingLock& release it while
// they call the device or a callback, and hold it again when they return or throw.
struct CachingState {
  CachingState(Device on, const DeviceInterface& calls) : device(on), interface(calls) {}

  [[nodiscard]] uint64_t reserved() const noexcept {
    return static_cast<uint64_t>(stats.reserved_bytes.all.current);
  }
  // Throws Error kBackend with the device's text for `code`: "<device> could not <what>: ...".
  [[noreturn]] void fail_device(int32_t code, const char* what) const;

  const Device device;
  const DeviceInterface& interface;
  mutable GuardedMutex mutex;
  CachingSettings settings;
  MemoryStats stats;
  SegmentHistory history;
  MemoryHistory blocks;        // has a lock of its own and is used without `mutex`
  uint64_t clock = 0;          // counts the blocks that became free
  uint64_t lent_segments = 0;  // of CachingAllocator::take_segment
  uint64_t lent_segment_bytes = 0;
};

}  // namespace tsr
