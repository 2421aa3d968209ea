// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SegmentStore: the memory that a caching allocator holds from the device, and the only part that
// asks the device for memory and gives it back.
#pragma once

#include <memory>
#include <vector>

#include "memory/block_cache.h"
#include "memory/caching_state.h"
#include "memory/memory_limits.h"

namespace tsr {

struct SegmentRequest {
  PoolKind kind;
  uint64_t size;       // of the segment
  uint64_t requested;  // bytes that the user asked for
};

// Every function runs under the allocator's lock; see CachingState about those that release it.
class SegmentStore {
 public:
  SegmentStore(CachingState& state, BlockCache& blocks, MemoryLimits& limits) noexcept
      : state_(state), blocks_(blocks), limits_(limits) {}
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;
  // Gives everything back to the device, also what is still lent.
  ~SegmentStore();

  // The size of the segment that is made for a block of `size`.
  [[nodiscard]] static uint64_t size_for(PoolKind kind, uint64_t size) noexcept;
  // Makes the spare objects that one request may need, as BlockCache::reserve does.
  void reserve();

  // ---- Taking ----
  // Fresh memory for a block of at least `size`, in no pool; null when the limit or the device
  // says no. Throws Error kBackend when the device fails.
  Block* take(CachingLock& lock, BlockPool& pool, uint64_t size, const SegmentRequest& request);
  // Memory without blocks, counted as a segment; null and errors as above.
  void* take_raw(CachingLock& lock, const SegmentRequest& request);
  void give_back_raw(CachingLock& lock, PoolKind kind, void* data, uint64_t nbytes) noexcept;

  // ---- Giving back; these return the bytes given back ----
  // The smallest idle segment of at least `size`.
  uint64_t free_fitting(CachingLock& lock, uint64_t size);
  // Idle segments, the one unused for longest first, until at most `keep` bytes are held.
  uint64_t free_down_to(CachingLock& lock, uint64_t keep);

  // ---- Reports ----
  [[nodiscard]] const Segment* first() const noexcept { return segments_; }
  // Bytes held, without what is on its way back to the device.
  [[nodiscard]] uint64_t held() const noexcept { return state_.reserved() - detached_bytes_; }
  // Checks every segment; adds up what the counters must show. Throws Error kInternal.
  void verify(MemoryStats& sums, uint64_t& free_blocks) const;

 private:
  Segment* new_segment() noexcept;
  Block* fresh_segment(CachingLock& lock, BlockPool& pool, const SegmentRequest& request);
  int32_t allocate_raw(CachingLock& lock, const SegmentRequest& request, void** out);
  bool settle(int32_t code, PoolKind kind, const void* data, uint64_t nbytes) noexcept;
  void adopt(BlockPool& pool, Segment* segment, Block* block, void* data, uint64_t size) noexcept;
  [[nodiscard]] std::vector<Segment*> idle_segments() const;
  void detach(Segment* segment, Segment*& doomed) noexcept;
  uint64_t free_segments(CachingLock& lock, Segment* doomed) noexcept;
  void count_given_back(PoolKind kind, const void* data, uint64_t nbytes) noexcept;

  // ---- growing_segments.cpp: segments that grow in place ----
  Block* extend(CachingLock& lock, BlockPool& pool, uint64_t size);
  Segment* growable(const BlockPool& pool, uint64_t size) noexcept;
  Segment* reserve_range(CachingLock& lock, BlockPool& pool, uint64_t size);
  bool map_granule(CachingLock& lock, BlockPool& pool, Segment* segment);
  void append(Segment* segment, Block* block, uint64_t nbytes) noexcept;
  uint64_t shrink(CachingLock& lock, Segment* segment) noexcept;
  uint64_t shrink_all(CachingLock& lock, uint64_t keep) noexcept;
  void unmap(const Segment& segment, uint64_t from, uint64_t to, PoolKind kind) noexcept;

  CachingState& state_;
  BlockCache& blocks_;
  MemoryLimits& limits_;
  Segment* segments_ = nullptr;
  uint64_t detached_bytes_ = 0;  // held, on their way back to the device
  std::vector<std::unique_ptr<Segment>> storage_;
  Segment* spare_ = nullptr;
};

}  // namespace tsr
