// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Records which operation asked for each block of a device's memory: holders, a page, out of
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tessera/cpp/memory.hpp"
#include "tessera/memory_history.h"

namespace tessera {

struct MemoryHistoryOptions {
  int64_t entries = 100000;  // the latest events are kept
  bool operations = true;    // note operation, dtype and shape of each block
  int32_t stacks = 0;        // frames kept of the stack that set_host_stack gives
};

// Records the memory of a device while it lives.
class MemoryHistory {
 public:
  explicit MemoryHistory(MemoryHistoryOptions options = {}, Device device = {}) : device_(device) {
    tsr_memory_history_options given{};
    given.struct_size = sizeof given;
    given.context = options.operations ? TSR_MEMORY_CONTEXT_OPERATIONS : TSR_MEMORY_CONTEXT_NONE;
    given.entries = options.entries;
    given.stacks = options.stacks;
    check(tsr_memory_history_start(device.type, device.index, &given));
  }
  MemoryHistory(const MemoryHistory&) = delete;
  MemoryHistory& operator=(const MemoryHistory&) = delete;
  ~MemoryHistory() { detail::ignore(tsr_memory_history_stop(device_.type, device_.index)); }

  // Who holds the memory now, the largest first, as a JSON array.
  std::string holders(int64_t count = 10) const {
    tsr_buffer buffer = nullptr;
    check(tsr_memory_holders(device_.type, device_.index, count, &buffer));
    return detail::take_text(buffer);
  }

 private:
  Device device_;
};

inline bool is_memory_recorded(Device device = {}) {
  int32_t running = 0;
  check(tsr_memory_history_running(device.type, device.index, &running));
  return running != 0;
}

// The memory of the device as an HTML page that needs no network.
inline std::string memory_viewer(Device device = {}) {
  tsr_buffer buffer = nullptr;
  check(tsr_memory_viewer_html(device.type, device.index, &buffer));
  return detail::take_text(buffer);
}

// The same page about the text of an earlier memory_snapshot.
inline std::string memory_viewer_of(const std::string& snapshot) {
  tsr_buffer buffer = nullptr;
  check(tsr_memory_viewer_page(snapshot.data(), static_cast<int64_t>(snapshot.size()), &buffer));
  return detail::take_text(buffer);
}

// How the caching allocator keeps memory; see the fields of tsr_memory_settings.
using MemorySettings = tsr_memory_settings;
inline MemorySettings memory_settings(Device device = {}) {
  MemorySettings settings{};
  settings.struct_size = sizeof settings;
  check(tsr_memory_settings_get(device.type, device.index, &settings));
  return settings;
}
inline void set_memory_settings(const MemorySettings& settings, Device device = {}) {
  check(tsr_memory_settings_set(device.type, device.index, &settings));
}
// Limits what the allocator may hold to a fraction of the device's memory.
inline void set_memory_fraction(double fraction, Device device = {}) {
  check(tsr_memory_set_limit_fraction(device.type, device.index, fraction));
}

// While this object lives, its callable learns of every out-of-memory error of the device just
// before it is thrown. It must not throw.
class OutOfMemoryObserver {
 public:
  using Callable = std::function<void(const MemoryEvent&)>;

  explicit OutOfMemoryObserver(Callable callable, Device device = {}) {
    // A failure drops the callable too.
    check(tsr_memory_out_of_memory_add(device.type, device.index, &run,
                                       new Callable(std::move(callable)), &drop, &id_));
  }
  OutOfMemoryObserver(const OutOfMemoryObserver&) = delete;
  OutOfMemoryObserver& operator=(const OutOfMemoryObserver&) = delete;
  ~OutOfMemoryObserver() { detail::ignore(tsr_memory_out_of_memory_remove(id_)); }

 private:
  static void run(void* user, const tsr_memory_event* event) noexcept {
    (*static_cast<Callable*>(user))(*event);
  }
  static void drop(void* user) noexcept { delete static_cast<Callable*>(user); }

  int64_t id_ = 0;
};

}  // namespace tessera
