// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the functions of memory.cpp and memory_history.cpp share: their arguments, and tables of
// callbacks that the allocators of the devices call.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/guarded_mutex.h"
#include "capi/callback.h"
#include "capi/handle.h"
#include "memory/allocator.h"
#include "memory/caching_allocator.h"

namespace tsr::capi {

inline Allocator& allocator_arg(tsr_device_type type, int32_t index) {
  return allocator_for(device_arg(type, index, "device"));
}

inline CachingAllocator& caching_arg(tsr_device_type type, int32_t index) {
  CachingAllocator* caching = allocator_arg(type, index).caching();
  TSR_CHECK(caching != nullptr, Code::kNotImplemented, "device",
            "expected its own caching allocator, got an allocator of the host");
  return *caching;
}

inline int64_t clamp_size(uint64_t nbytes) noexcept {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(nbytes < kMost ? nbytes : kMost);
}

inline tsr_memory_event memory_event(const MemoryPressure& pressure) noexcept {
  tsr_memory_event event{};
  event.struct_size = sizeof(event);
  event.device_type = static_cast<int32_t>(pressure.device.type);
  event.device_index = pressure.device.index;
  event.requested = clamp_size(pressure.requested);
  event.cached_free = clamp_size(pressure.cached_free);
  event.live_bytes = clamp_size(pressure.live);
  event.live_handles = live_handles();
  return event;
}

// The pointer with which an allocator calls the callback of this number.
inline void* memory_callback_user(int64_t id) noexcept {
  return reinterpret_cast<void*>(static_cast<intptr_t>(id));
}

template <class Function>
struct MemoryCallback {
  Function function;
  UserData data;
  CachingAllocator* allocator;
};

// An allocator knows a callback only by its number: one that is removed while it runs on another
// thread keeps its data until that run has ended.
template <class Function>
class MemoryCallbacks {
 public:
  using Entry = std::shared_ptr<MemoryCallback<Function>>;

  // tell(user) makes it known to the allocator. If that fails, nothing remains.
  template <class Tell>
  void add(Function function, UserData data, CachingAllocator& allocator, int64_t* id, Tell tell) {
    auto entry = std::make_shared<MemoryCallback<Function>>(
        MemoryCallback<Function>{function, std::move(data), &allocator});
    {
      const std::lock_guard lock(mutex_);
      *id = next_++;
      entries_.emplace(*id, std::move(entry));
    }
    try {
      tell(memory_callback_user(*id));
    } catch (...) {
      static_cast<void>(take(*id));
      throw;
    }
  }

  // Null where nothing has this number.
  [[nodiscard]] Entry find(void* user) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(static_cast<int64_t>(reinterpret_cast<intptr_t>(user)));
    return found == entries_.end() ? nullptr : found->second;
  }

  [[nodiscard]] Entry take(int64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    Entry entry = std::move(found->second);
    entries_.erase(found);
    return entry;
  }

 private:
  GuardedMutex mutex_;
  int64_t next_ = 1;
  std::unordered_map<int64_t, Entry> entries_;
};

}  // namespace tsr::capi
