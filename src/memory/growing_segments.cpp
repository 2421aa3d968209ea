// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Segments that grow in place on devices that can map memory into a reserved range of addresses.
// They grow and shrink at their end only, by whole granules.
#include <algorithm>

#include "base/error.h"
#include "memory/segment_store.h"

namespace tsr {
namespace {

uint64_t granule_of(PoolKind kind) noexcept {
  return kind == PoolKind::kSmall ? kSmallSegment : kLargeSegment;
}

uint64_t free_at_end(const Segment& segment) noexcept {
  return segment.last != nullptr && segment.last->is_free() ? segment.last->size : 0;
}

}  // namespace

// A block of at least `size` at the end of a segment of the pool, in no pool; null when the limit
// or the device says no. What was mapped until then stays for the next attempt.
Block* SegmentStore::extend(CachingLock& lock, BlockPool& pool, uint64_t size) {
  Segment* segment = growable(pool, size);
  if (segment == nullptr) segment = reserve_range(lock, pool, size);
  while (segment != nullptr && free_at_end(*segment) < size) {
    if (!map_granule(lock, pool, segment)) return nullptr;
  }
  if (segment == nullptr) return nullptr;
  reserve();
  blocks_.leave_pool(segment->last);
  return segment->last;
}

// A segment of the pool with enough addresses left.
Segment* SegmentStore::growable(const BlockPool& pool, uint64_t size) noexcept {
  for (Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    if (segment->reserved == 0 || segment->busy || segment->first->pool != &pool) continue;
    const uint64_t missing = size - std::min(size, free_at_end(*segment));
    if (round_up(missing, granule_of(pool.kind)) <= segment->reserved - segment->size) {
      return segment;
    }
  }
  return nullptr;
}

// A new range with its first granule mapped; null when there is no memory for that.
Segment* SegmentStore::reserve_range(CachingLock& lock, BlockPool& pool, uint64_t size) {
  Segment* segment = new_segment();
  segment->size = 0;
  segment->oversize = false;
  segment->first = segment->last = nullptr;
  lock.unlock();
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  void* data = nullptr;
  int32_t code = state_.interface.memory_info(state_.device.index, &free_bytes, &total_bytes);
  const uint64_t unit = granule_of(pool.kind);
  segment->reserved = round_up(std::max(total_bytes, size), unit);
  if (code == kDeviceOk)
    code = state_.interface.reserve(state_.device.index, segment->reserved, &data);
  lock.lock();
  segment->data = static_cast<std::byte*>(data);
  const auto give_up = [&]() noexcept {
    if (data != nullptr) state_.interface.unreserve(state_.device.index, data, segment->reserved);
    push_front(spare_, segment);
  };
  try {
    if (code == kDeviceOk && map_granule(lock, pool, segment)) {
      push_front(segments_, segment);
      state_.stats.segment.add(pool.kind, 1);
      return segment;
    }
  } catch (...) {
    give_up();
    throw;
  }
  give_up();
  if (code != kDeviceOk && code != kDeviceOutOfMemory)
    state_.fail_device(code, "reserve addresses");
  return nullptr;
}

bool SegmentStore::map_granule(CachingLock& lock, BlockPool& pool, Segment* segment) {
  reserve();
  const uint64_t nbytes = granule_of(pool.kind);
  if (!limits_.claim(nbytes)) return false;
  Block* block = blocks_.new_block();
  block->pool = &pool;
  segment->busy = true;
  lock.unlock();
  std::byte* data = segment->data + segment->size;
  const int32_t code = state_.interface.map(state_.device.index, data, nbytes);
  lock.lock();
  segment->busy = false;
  if (settle(code, pool.kind, data, nbytes)) {
    append(segment, block, nbytes);
    return true;
  }
  blocks_.recycle(block);
  if (code != kDeviceOutOfMemory) state_.fail_device(code, "map memory");
  return false;
}

// Fresh memory at the end becomes a free block, or a part of the one that is there.
void SegmentStore::append(Segment* segment, Block* block, uint64_t nbytes) noexcept {
  Block* last = segment->last;
  block->data = segment->data + segment->size;
  block->size = nbytes;
  block->segment = segment;
  block->prev = last;
  block->freed_at = state_.clock;
  segment->size += nbytes;
  const bool merge = last != nullptr && last->is_free();
  if (merge) blocks_.leave_pool(last);
  (last != nullptr ? last->next : segment->first) = block;
  segment->last = block;
  blocks_.enter_pool(merge ? blocks_.merge_with_next(last) : block);
}

void SegmentStore::unmap(const Segment& segment, uint64_t from, uint64_t to,
                         PoolKind kind) noexcept {
  const uint64_t unit = granule_of(kind);
  for (uint64_t at = from; at < to; at += unit) {
    state_.interface.unmap(state_.device.index, segment.data + at, unit);
  }
}

// Whole granules that are free at the end go back to the device.
uint64_t SegmentStore::shrink(CachingLock& lock, Segment* segment) noexcept {
  Block* last = segment->last;
  const PoolKind kind = last->pool->kind;
  const uint64_t unit = granule_of(kind);
  const uint64_t nbytes = last->size / unit * unit;
  blocks_.leave_pool(last);
  last->size -= nbytes;
  if (last->size == 0) {
    segment->last = last->prev;
    segment->last->next = nullptr;
    blocks_.recycle(last);
  } else {
    blocks_.enter_pool(last);
  }
  const uint64_t end = segment->size;
  segment->size -= nbytes;
  detached_bytes_ += nbytes;
  segment->busy = true;
  lock.unlock();
  unmap(*segment, end - nbytes, end, kind);
  lock.lock();
  segment->busy = false;
  detached_bytes_ -= nbytes;
  state_.stats.num_device_free += static_cast<int64_t>(nbytes / unit);
  state_.stats.reserved_bytes.subtract(kind, nbytes);
  state_.history.add(HistoryAction::kSegmentFree, segment->data + segment->size, nbytes, nullptr);
  return nbytes;
}

// Each turn releases the lock, after which the list may have changed, so the loop starts again.
// Segments that are wholly free are freed elsewhere.
uint64_t SegmentStore::shrink_all(CachingLock& lock, uint64_t keep) noexcept {
  uint64_t freed = 0;
  Segment* segment = segments_;
  while (segment != nullptr && held() > keep) {
    const bool shrinks = segment->reserved > 0 && !segment->busy && segment->first->is_split() &&
                         free_at_end(*segment) >= granule_of(segment->first->pool->kind);
    if (shrinks) freed += shrink(lock, segment);
    segment = shrinks ? segments_ : segment->next;
  }
  return freed;
}

}  // namespace tsr
