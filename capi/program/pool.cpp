// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/pool.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tsr::capi::program {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kSmallestChunk = uint64_t{1} << 16;
constexpr uint64_t kLargestChunk = uint64_t{1} << 25;

}  // namespace

Pool::Pool(Device device) : Allocator(device), base_(allocator_for(device)) {}

Pool::~Pool() {
  for (const Chunk& chunk : chunks_) base_.deallocate(chunk.data, chunk.nbytes);
}

void Pool::drop() noexcept {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    owned_ = false;
    last = live_.empty();
  }
  if (last) delete this;
}

// A block that was given back, unless most of it would be unused; else new memory of the last
// chunk. Null if that is full.
std::byte* Pool::take(uint64_t nbytes) {
  const auto found = free_.lower_bound(nbytes);
  if (found != free_.end() && found->first <= 2 * nbytes) {
    std::byte* block = found->second;
    live_.emplace(block, found->first);
    free_.erase(found);
    return block;
  }
  if (chunks_.empty() || chunks_.back().nbytes - chunks_.back().used < nbytes) return nullptr;
  Chunk& chunk = chunks_.back();
  std::byte* block = chunk.data + chunk.used;
  live_.emplace(block, nbytes);
  chunk.used += nbytes;
  return block;
}

void* Pool::allocate(uint64_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  const uint64_t rounded = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  uint64_t grown = kSmallestChunk;
  {
    const std::lock_guard lock(mutex_);
    if (std::byte* block = take(rounded)) return block;
    if (!chunks_.empty()) grown = std::min(2 * chunks_.back().nbytes, kLargestChunk);
    chunks_.reserve(chunks_.size() + 1);
  }
  // Without the lock: the other allocator may ask the host to free something, also of this pool.
  const uint64_t size = std::max(rounded, grown);
  auto* data = static_cast<std::byte*>(base_.allocate(size, stream));
  const std::lock_guard lock(mutex_);
  chunks_.push_back({data, size, 0});
  return take(rounded);
}

void Pool::deallocate(void* block, uint64_t) noexcept {
  if (block == nullptr) return;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(block);
    if (found == live_.end()) return;
    try {
      free_.emplace(found->second, static_cast<std::byte*>(block));
    } catch (...) {  // no memory for the entry: the block waits for the end of the pool
    }
    live_.erase(found);
    last = live_.empty() && !owned_;
  }
  if (last) delete this;
}

size_t Pool::live_blocks() const {
  const std::lock_guard lock(mutex_);
  return live_.size();
}

uint64_t Pool::held_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.nbytes;
  return sum;
}

bool Pool::holds(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* at = static_cast<const std::byte*>(address);
  return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    return at >= chunk.data && at < chunk.data + chunk.nbytes;
  });
}

void Pool::poison() noexcept {
  for (const Chunk& chunk : chunks_) std::memset(chunk.data, 0xa5, chunk.nbytes);
}

}  // namespace tsr::capi::program
