// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/kept_memory.h"

#include <algorithm>
#include <mutex>

namespace tsr {
namespace {

// A kept block may be this many times larger than the request.
constexpr uint64_t kMostWaste = 2;

}  // namespace

void* KeptMemory::allocate(uint64_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    Block* best = nullptr;
    for (Block& block : blocks_) {
      const bool fits = !block.is_lent && block.stream == stream && block.nbytes >= nbytes &&
                        block.nbytes / kMostWaste <= nbytes;
      if (fits && (best == nullptr || block.nbytes < best->nbytes)) best = &block;
    }
    if (best != nullptr) {
      best->is_lent = true;
      return best->data;
    }
    blocks_.reserve(blocks_.size() + 1);
  }
  // Without the lock: the allocator behind may call the host, which may free blocks of this one.
  void* const data = behind_.allocate(nbytes, stream);
  try {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({data, nbytes, stream, true});
  } catch (...) {
    behind_.deallocate(data, nbytes);
    throw;
  }
  return data;
}

void KeptMemory::deallocate(void* block, uint64_t nbytes) noexcept {
  if (block == nullptr) return;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& each) {
      return each.is_lent && each.data == block;
    });
    if (found != blocks_.end() && !is_retired_) {
      found->is_lent = false;
      return;
    }
    if (found != blocks_.end()) {
      nbytes = found->nbytes;
      blocks_.erase(found);
      is_last = is_over();
    }
  }
  behind_.deallocate(block, nbytes);
  if (is_last) delete this;
}

size_t KeptMemory::lent() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::count_if(blocks_.begin(), blocks_.end(),
                                           [](const Block& block) { return block.is_lent; }));
}

void KeptMemory::retire() noexcept {
  bool is_last = false;
  Block block{};
  // Retired only when no free block is left: until then nobody else may destroy the object.
  const auto take_free = [&] {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                    [](const Block& each) { return !each.is_lent; });
    if (found == blocks_.end()) {
      is_retired_ = true;
      is_last = is_over();
      return false;
    }
    block = *found;
    blocks_.erase(found);
    return true;
  };
  // Without the lock: the allocator behind may call the host, which may free blocks of this one.
  while (take_free()) behind_.deallocate(block.data, block.nbytes);
  if (is_last) delete this;
}

}  // namespace tsr
