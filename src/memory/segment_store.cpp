// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/segment_store.h"

#include <algorithm>

#include "base/error.h"
#include "memory/poison.h"

namespace tsr {
namespace {

void verify_segment(const Segment& segment, const CachingState& state, const BlockCache& blocks,
                    MemoryStats& sums, uint64_t& free_blocks) {
  const PoolKind kind = segment.first->pool->kind;
  sums.segment.add(kind, 1);
  sums.reserved_bytes.add(kind, segment.size);
  if (segment.oversize) sums.oversize_segments.add(1);
  const std::byte* expected = segment.data;
  const Block* before = nullptr;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    TSR_ASSERT(block->data == expected && block->prev == before, "blocks leave a gap or overlap");
    TSR_ASSERT(block->size > 0 && block->size % state.interface.allocation_granularity == 0,
               "block of ", block->size, " bytes");
    TSR_ASSERT(block->segment == &segment && block->pool == segment.first->pool,
               "block of another segment or pool");
    TSR_ASSERT(before == nullptr || !before->is_free() || !block->is_free(),
               "free neighbours are not merged");
    TSR_ASSERT(!(block->lent && block->pending > 0), "block lent while a stream still uses it");
    TSR_ASSERT(block->uses == nullptr || block->lent, "returned block keeps its streams");
    if (block->lent) {
      TSR_ASSERT(blocks.find_lent(block->data) == block, "lent block cannot be found");
      TSR_ASSERT(block->requested <= block->size, "block smaller than requested");
      sums.allocated.add(kind, 1);
      sums.allocated_bytes.add(kind, block->size);
      sums.requested_bytes.add(kind, block->requested);
      if (block->size >= state.settings.max_split_size) sums.oversize_allocations.add(1);
    }
    if (block->is_free()) {
      ++free_blocks;
      TSR_ASSERT(block->pool->free.count(const_cast<Block*>(block)) == 1, "free block in no pool");
      if (block->is_split()) {
        sums.inactive_split.add(kind, 1);
        sums.inactive_split_bytes.add(kind, block->size);
      }
    } else {
      sums.active.add(kind, 1);
      sums.active_bytes.add(kind, block->size);
    }
    expected += block->size;
    before = block;
  }
  TSR_ASSERT(expected == segment.data + segment.size, "blocks do not fill their segment");
  TSR_ASSERT(segment.last == before, "the segment's last block is not its end");
  TSR_ASSERT(segment.reserved == 0 || segment.size <= segment.reserved,
             "segment outgrew its range");
}

}  // namespace

SegmentStore::~SegmentStore() {
  for (Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    unpoison(state_.device, segment->data, segment->size);
    if (segment->reserved > 0) {
      unmap(*segment, 0, segment->size, segment->first->pool->kind);
      state_.interface.unreserve(state_.device.index, segment->data, segment->reserved);
    } else {
      state_.interface.raw_free(state_.device.index, segment->data, segment->size);
    }
  }
}

uint64_t SegmentStore::size_for(PoolKind kind, uint64_t size) noexcept {
  if (kind == PoolKind::kSmall) return kSmallSegment;
  if (size < kMinOwnSegment) return kLargeSegment;
  return round_up(size, kSmallSegment);
}

void SegmentStore::reserve() {
  blocks_.reserve();
  if (spare_ == nullptr) {
    push_front(spare_, storage_.emplace_back(std::make_unique<Segment>()).get());
  }
}

Segment* SegmentStore::new_segment() noexcept {
  Segment* segment = spare_;
  unlink(spare_, segment);
  return segment;
}

// ---- Taking ----

Block* SegmentStore::take(CachingLock& lock, BlockPool& pool, uint64_t size,
                          const SegmentRequest& request) {
  reserve();
  return state_.settings.expandable_segments ? extend(lock, pool, size)
                                             : fresh_segment(lock, pool, request);
}

void* SegmentStore::take_raw(CachingLock& lock, const SegmentRequest& request) {
  void* data = nullptr;
  const int32_t code = allocate_raw(lock, request, &data);
  if (code != kDeviceOk && code != kDeviceOutOfMemory) state_.fail_device(code, "allocate memory");
  return data;
}

// The whole of a new segment, in no pool; null when the limit or the device says no.
Block* SegmentStore::fresh_segment(CachingLock& lock, BlockPool& pool,
                                   const SegmentRequest& request) {
  // Taken before the lock is dropped: others may use up the spare ones meanwhile.
  Segment* segment = new_segment();
  Block* block = blocks_.new_block();
  void* data = nullptr;
  const int32_t code = allocate_raw(lock, request, &data);
  if (code != kDeviceOk) {
    push_front(spare_, segment);
    blocks_.recycle(block);
    if (code != kDeviceOutOfMemory) state_.fail_device(code, "allocate memory");
    return nullptr;
  }
  adopt(pool, segment, block, data, request.size);
  reserve();  // for the caller's split; should that fail, the segment is in order
  blocks_.leave_pool(block);
  return block;
}

// After the device's answer; true when it gave the bytes.
bool SegmentStore::settle(int32_t code, PoolKind kind, const void* data, uint64_t nbytes) noexcept {
  limits_.end_claim(nbytes);
  if (code != kDeviceOk) return false;
  ++state_.stats.num_device_alloc;
  state_.stats.reserved_bytes.add(kind, nbytes);
  state_.history.add(HistoryAction::kSegmentAllocate, data, nbytes, nullptr);
  return true;
}

int32_t SegmentStore::allocate_raw(CachingLock& lock, const SegmentRequest& request, void** out) {
  const uint64_t size = request.size;
  if (!limits_.claim(size)) return kDeviceOutOfMemory;
  lock.unlock();
  const int32_t code = state_.interface.raw_allocate(state_.device.index, size, out);
  lock.lock();
  if (!settle(code, request.kind, *out, size)) return code;
  state_.stats.segment.add(request.kind, 1);
  return kDeviceOk;
}

// Makes the fresh memory one free block, in its pool.
void SegmentStore::adopt(BlockPool& pool, Segment* segment, Block* block, void* data,
                         uint64_t size) noexcept {
  segment->data = static_cast<std::byte*>(data);
  segment->size = size;
  segment->reserved = 0;
  segment->oversize = size >= state_.settings.max_split_size;
  if (segment->oversize) state_.stats.oversize_segments.add(1);
  segment->first = segment->last = block;
  push_front(segments_, segment);
  block->data = segment->data;
  block->size = size;
  block->pool = &pool;
  block->segment = segment;
  block->prev = nullptr;
  block->freed_at = state_.clock;
  poison(state_.device, data, size);
  blocks_.enter_pool(block);
}

// ---- Giving back ----

// Segments without a block in use, the one unused for longest first.
std::vector<Segment*> SegmentStore::idle_segments() const {
  std::vector<Segment*> idle;
  for (Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    if (!segment->busy && segment->first->is_free() && !segment->first->is_split())
      idle.push_back(segment);
  }
  std::stable_sort(idle.begin(), idle.end(), [](const Segment* a, const Segment* b) {
    return a->first->freed_at < b->first->freed_at;
  });
  return idle;
}

// Out of every list, so that nobody finds it while the lock is dropped.
void SegmentStore::detach(Segment* segment, Segment*& doomed) noexcept {
  blocks_.leave_pool(segment->first);
  unlink(segments_, segment);
  if (segment->oversize) state_.stats.oversize_segments.subtract(1);
  detached_bytes_ += segment->size;
  push_front(doomed, segment);
}

uint64_t SegmentStore::free_segments(CachingLock& lock, Segment* doomed) noexcept {
  uint64_t freed = 0;
  while (doomed != nullptr) {
    Segment* segment = doomed;
    doomed = segment->next;
    unpoison(state_.device, segment->data, segment->size);
    const PoolKind kind = segment->first->pool->kind;
    if (segment->reserved > 0) {
      lock.unlock();
      unmap(*segment, 0, segment->size, kind);
      state_.interface.unreserve(state_.device.index, segment->data, segment->reserved);
      lock.lock();
      count_given_back(kind, segment->data, segment->size);
    } else {
      give_back_raw(lock, kind, segment->data, segment->size);
    }
    detached_bytes_ -= segment->size;
    freed += segment->size;
    blocks_.recycle(segment->first);
    push_front(spare_, segment);
  }
  return freed;
}

// A device that fails to take memory back is broken beyond our help; the error shows at its next
// use.
void SegmentStore::give_back_raw(CachingLock& lock, PoolKind kind, void* data,
                                 uint64_t nbytes) noexcept {
  lock.unlock();
  state_.interface.raw_free(state_.device.index, data, nbytes);
  lock.lock();
  count_given_back(kind, data, nbytes);
}

void SegmentStore::count_given_back(PoolKind kind, const void* data, uint64_t nbytes) noexcept {
  ++state_.stats.num_device_free;
  state_.stats.segment.subtract(kind, 1);
  state_.stats.reserved_bytes.subtract(kind, nbytes);
  state_.history.add(HistoryAction::kSegmentFree, data, nbytes, nullptr);
}

// The smallest idle segment whose memory alone would do; 0 when there is none.
uint64_t SegmentStore::free_fitting(CachingLock& lock, uint64_t size) {
  Segment* best = nullptr;
  for (Segment* segment : idle_segments()) {
    if (segment->size >= size && (best == nullptr || segment->size < best->size)) {
      best = segment;
    }
  }
  if (best == nullptr) return 0;
  Segment* doomed = nullptr;
  detach(best, doomed);
  return free_segments(lock, doomed);
}

uint64_t SegmentStore::free_down_to(CachingLock& lock, uint64_t keep) {
  uint64_t remaining = held();
  Segment* doomed = nullptr;
  for (Segment* segment : idle_segments()) {
    if (remaining <= keep) break;
    remaining -= segment->size;
    detach(segment, doomed);
  }
  const uint64_t freed = free_segments(lock, doomed);
  return freed + shrink_all(lock, keep);
}

// ---- Invariants ----

void SegmentStore::verify(MemoryStats& sums, uint64_t& free_blocks) const {
  for (const Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    verify_segment(*segment, state_, blocks_, sums, free_blocks);
  }
  const auto in_segments = static_cast<uint64_t>(sums.reserved_bytes.all.current);
  TSR_ASSERT(in_segments + detached_bytes_ + state_.lent_segment_bytes == state_.reserved(),
             "reserved_bytes wrong");
  const auto count = static_cast<uint64_t>(sums.segment.all.current);
  TSR_ASSERT(
      count + state_.lent_segments <= static_cast<uint64_t>(state_.stats.segment.all.current),
      "segments miscounted");
  size_t spares = 0;
  for (const Segment* segment = spare_; segment != nullptr; segment = segment->next) {
    TSR_ASSERT(owns(storage_, segment), "spare segment without an owner");
    TSR_ASSERT(++spares <= storage_.size(), "spare segments run in a circle");
  }
}

}  // namespace tsr
