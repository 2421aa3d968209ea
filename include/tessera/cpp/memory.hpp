// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The caching allocator: statistics, limits, memory pressure. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tessera/cpp/arguments.hpp"
#include "tessera/cpp/buffer.hpp"
#include "tessera/memory.h"

namespace tessera {

using MemoryStats = tsr_memory_stats;
using MemoryEvent = tsr_memory_event;

inline MemoryStats memory_stats(Device device = {}) {
  MemoryStats stats{};
  stats.struct_size = sizeof stats;
  check(tsr_memory_stats_get(device.type, device.index, &stats));
  return stats;
}

// Returns all cached memory to the device, and gives the number of bytes.
inline int64_t empty_cache(Device device = {}) {
  int64_t freed = 0;
  check(tsr_memory_empty_cache(device.type, device.index, &freed));
  return freed;
}

// Returns cached memory to the device until at most `keep` bytes are held, as far as possible.
inline int64_t trim_memory(int64_t keep, Device device = {}) {
  int64_t freed = 0;
  check(tsr_memory_trim(device.type, device.index, keep, &freed));
  return freed;
}

// The most bytes the allocator may hold; INT64_MAX means no limit.
inline int64_t memory_limit(Device device = {}) {
  int64_t nbytes = 0;
  check(tsr_memory_limit(device.type, device.index, &nbytes));
  return nbytes;
}
inline void set_memory_limit(int64_t nbytes, Device device = {}) {
  check(tsr_memory_set_limit(device.type, device.index, nbytes));
}

// Pressure hooks also run before the allocator holds more than this; INT64_MAX means only when
// memory runs out.
inline int64_t pressure_threshold(Device device = {}) {
  int64_t nbytes = 0;
  check(tsr_memory_pressure_threshold(device.type, device.index, &nbytes));
  return nbytes;
}
inline void set_pressure_threshold(int64_t nbytes, Device device = {}) {
  check(tsr_memory_pressure_threshold_set(device.type, device.index, nbytes));
}

inline void reset_peak_memory(Device device = {}) {
  check(tsr_memory_reset_peak(device.type, device.index));
}

// The number of references to tensors that programs hold, and of graph nodes that are alive.
inline int64_t live_handles() noexcept {
  return tsr_live_handles();
}
inline int64_t live_nodes() noexcept {
  return tsr_live_nodes();
}

// Every segment and block of an allocator, and what was recorded, as one JSON object.
inline std::string memory_snapshot(Device device = {}) {
  tsr_buffer buffer = nullptr;
  check(tsr_memory_snapshot(device.type, device.index, &buffer));
  return detail::take_text(buffer);
}

// While this object lives, its callable runs before the allocator fails, on the allocating thread.
// The callable may release tensors, and returns whether that may have freed memory. An exception
// means no.
class MemoryPressureHook {
 public:
  using Callable = std::function<bool(const MemoryEvent&)>;

  [[nodiscard]] explicit MemoryPressureHook(Callable callable, Device device = {}) {
    // A failure drops the callable too.
    check(tsr_memory_pressure_add(device.type, device.index, &run,
                                  new Callable(std::move(callable)), &drop, &id_));
  }
  MemoryPressureHook(const MemoryPressureHook&) = delete;
  MemoryPressureHook& operator=(const MemoryPressureHook&) = delete;
  ~MemoryPressureHook() { detail::ignore(tsr_memory_pressure_remove(id_)); }

 private:
  static tsr_pressure_action run(void* user, const tsr_memory_event* event) noexcept {
    try {
      return (*static_cast<Callable*>(user))(*event) ? TSR_PRESSURE_FREED_MAYBE
                                                     : TSR_PRESSURE_NOTHING;
    } catch (...) {
      return TSR_PRESSURE_NOTHING;
    }
  }
  static void drop(void* user) noexcept { delete static_cast<Callable*>(user); }

  int64_t id_ = 0;
};

}  // namespace tessera
