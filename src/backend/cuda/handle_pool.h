// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A pool of idle handles of NVIDIA's libraries: creating one takes milliseconds and memory, and a
// handle serves one call at a time.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "backend/cuda/host.h"

namespace tsr::cuda {

// One pool per library, never destroyed: threads may still run while the process exits.
template <class Handle>
class HandlePool {
 public:
  // Null if no handle of this device is idle.
  Handle take(int32_t device) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < idle_.size(); ++i) {
      if (idle_[i].first != device) continue;
      const Handle handle = idle_[i].second;
      idle_[i] = idle_.back();
      idle_.pop_back();
      return handle;
    }
    return nullptr;
  }
  // False if there was no memory to keep it.
  bool give(int32_t device, Handle handle) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      idle_.emplace_back(device, handle);
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<int32_t, Handle>> idle_;
};

// Calls make(), which creates a handle. The libraries allocate memory themselves: if one says that
// there is none (`lacks_memory`), because the allocator's cache holds all of it, releases the cache
// and tries once more.
template <class Make, class LacksMemory>
auto make_with_room(kernel::Place place, const Make& make, const LacksMemory& lacks_memory) {
  const auto status = make();
  if (!lacks_memory(status)) return status;
  static_cast<void>(cudaGetLastError());
  release_cached(place);
  return make();
}

}  // namespace tsr::cuda
