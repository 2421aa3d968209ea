// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// MemoryStats: the counters of an allocator and their public names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace tsr {

// One figure over time. `peak` is the largest `current` since reset_peak; the other two only grow.
struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;

  void add(int64_t amount) noexcept {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void subtract(int64_t amount) noexcept {
    current -= amount;
    freed += amount;
  }
  void reset_peak() noexcept { peak = current; }
};

enum class PoolKind : uint8_t { kLarge = 0, kSmall = 1 };

// A figure for both pools together and for each of them.
struct PoolStat {
  Stat all;
  std::array<Stat, 2> pool;  // by PoolKind

  void add(PoolKind kind, uint64_t amount) noexcept {
    all.add(static_cast<int64_t>(amount));
    pool[static_cast<size_t>(kind)].add(static_cast<int64_t>(amount));
  }
  void subtract(PoolKind kind, uint64_t amount) noexcept {
    all.subtract(static_cast<int64_t>(amount));
    pool[static_cast<size_t>(kind)].subtract(static_cast<int64_t>(amount));
  }
  void reset_peak() noexcept {
    all.reset_peak();
    for (Stat& stat : pool) stat.reset_peak();
  }
};

struct MemoryStats {
  PoolStat allocated;        // blocks lent
  PoolStat allocated_bytes;  // their rounded sizes
  PoolStat segment;          // pieces held from the device
  PoolStat reserved_bytes;   // their sizes
  PoolStat active;           // blocks lent, or returned but still used by a stream
  PoolStat active_bytes;
  PoolStat inactive_split;  // free blocks that are a part of a segment
  PoolStat inactive_split_bytes;
  PoolStat requested_bytes;   // blocks lent, as asked for
  Stat oversize_allocations;  // blocks of at least max_split_size
  Stat oversize_segments;
  int64_t num_alloc_retries = 0;     // requests the device refused at first
  int64_t num_ooms = 0;              // out-of-memory errors thrown
  int64_t num_sync_all_streams = 0;  // waits for deferred frees
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
  int64_t max_split_size = -1;  // -1: every block may be split

  void reset_peak() noexcept;

  // Calls visit(key, value) for each figure: "allocated_bytes.small_pool.peak", "num_ooms", ...
  // The keys and their order are part of the public interface.
  void visit(FunctionRef<void(std::string_view key, int64_t value)> visit) const;
  [[nodiscard]] std::string to_json() const;
};

}  // namespace tsr
