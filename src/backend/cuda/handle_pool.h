// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Handles of NVIDIA's libraries between their uses: making one takes milliseconds and memory, and
// one serves one call at a time.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "backend/cuda/host.h"

namespace tsr::cuda {

// Made once per library and never destroyed: threads may still work while the process ends.
template <class Handle>
class HandlePool {
 public:
  // Null when none of this device is idle.
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
  // False when there was no memory to keep it.
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

}  // namespace tsr::cuda
