// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the caching allocator tells about itself: statistics, snapshot, callbacks, invariants.
#include <algorithm>

#include "base/error.h"
#include "memory/caching_allocator.h"

namespace tsr {
namespace {

template <class List, class Callback>
void remove_callback(List& list, const Callback& callback) noexcept {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].function == callback.function && list[i].user == callback.user) {
      list.erase(i);
      return;
    }
  }
}

const char* state_name(const Block& block) noexcept {
  if (block.lent) return "active_allocated";
  return block.pending > 0 ? "active_pending_free" : "inactive";
}

uintptr_t address(const void* data) noexcept {
  return reinterpret_cast<uintptr_t>(data);
}

void append_block(std::string& json, const Block& block) {
  json += concat("{\"address\": ", address(block.data), ", \"size\": ", block.size,
                 ", \"requested_size\": ", block.lent ? block.requested : 0, ", \"state\": \"",
                 state_name(block), "\"}");
}

void append_segment(std::string& json, const Segment& segment) {
  uint64_t allocated = 0;
  uint64_t active = 0;
  std::string blocks;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    if (block->lent) allocated += block->size;
    if (!block->is_free()) active += block->size;
    if (!blocks.empty()) blocks += ", ";
    append_block(blocks, *block);
  }
  const BlockPool& pool = *segment.first->pool;
  json += concat("{\"address\": ", address(segment.data), ", \"total_size\": ", segment.size,
                 ", \"stream\": ", address(pool.stream), ", \"segment_type\": \"",
                 pool.kind == PoolKind::kSmall ? "small" : "large",
                 "\", \"allocated_size\": ", allocated, ", \"active_size\": ", active,
                 ", \"blocks\": [", blocks, "]}");
}

bool same_current(const PoolStat& a, const PoolStat& b) noexcept {
  return a.all.current == b.all.current && a.pool[0].current == b.pool[0].current &&
         a.pool[1].current == b.pool[1].current;
}

}  // namespace

MemoryStats CachingAllocator::stats() const {
  const Lock lock(mutex_);
  return stats_;
}

void CachingAllocator::reset_peak() {
  const Lock lock(mutex_);
  stats_.reset_peak();
}

void CachingAllocator::add_pressure_callback(PressureCallback callback) {
  const Lock lock(mutex_);
  pressure_callbacks_.push_back(callback);
}

void CachingAllocator::remove_pressure_callback(PressureCallback callback) noexcept {
  const Lock lock(mutex_);
  remove_callback(pressure_callbacks_, callback);
}

void CachingAllocator::add_out_of_memory_observer(OutOfMemoryObserver observer) {
  const Lock lock(mutex_);
  observers_.push_back(observer);
}

void CachingAllocator::remove_out_of_memory_observer(OutOfMemoryObserver observer) noexcept {
  const Lock lock(mutex_);
  remove_callback(observers_, observer);
}

void CachingAllocator::record_history(size_t entries) {
  const Lock lock(mutex_);
  history_.resize(entries);
}

std::string CachingAllocator::segments_json() const {
  const Lock lock(mutex_);
  std::string json = "[";
  for (const Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    if (segment != segments_) json += ", ";
    append_segment(json, *segment);
  }
  return json + "]";
}

std::string CachingAllocator::history_json() const {
  const Lock lock(mutex_);
  std::string json;
  history_.append_json(json);
  return json;
}

std::string CachingAllocator::snapshot() const {
  return concat("{\"device\": \"", device(), "\", \"stats\": ", stats().to_json(),
                ", \"segments\": ", segments_json(), ", \"history\": ", history_json(), "}");
}

// ---- Invariants ----

void CachingAllocator::verify() const {
  const Lock lock(mutex_);
  MemoryStats sums;
  uint64_t free_blocks = 0;
  for (const Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    verify_segment(*segment, sums, free_blocks);
  }
  TSR_ASSERT(same_current(sums.allocated, stats_.allocated), "allocated miscounted");
  TSR_ASSERT(same_current(sums.allocated_bytes, stats_.allocated_bytes), "allocated_bytes wrong");
  TSR_ASSERT(same_current(sums.requested_bytes, stats_.requested_bytes), "requested_bytes wrong");
  TSR_ASSERT(same_current(sums.active, stats_.active), "active miscounted");
  TSR_ASSERT(same_current(sums.active_bytes, stats_.active_bytes), "active_bytes wrong");
  TSR_ASSERT(same_current(sums.inactive_split, stats_.inactive_split), "inactive_split wrong");
  TSR_ASSERT(same_current(sums.inactive_split_bytes, stats_.inactive_split_bytes),
             "inactive_split_bytes wrong");
  TSR_ASSERT(sums.oversize_allocations.current == stats_.oversize_allocations.current,
             "oversize_allocations wrong");
  const auto held = static_cast<uint64_t>(sums.reserved_bytes.all.current);
  TSR_ASSERT(held + detached_bytes_ + lent_segment_bytes_ == reserved(), "reserved_bytes wrong");
  TSR_ASSERT(lent_.size() == static_cast<uint64_t>(sums.allocated.all.current),
             "lent blocks miscounted");
  const auto segments = static_cast<uint64_t>(sums.segment.all.current);
  TSR_ASSERT(segments + lent_segments_ <= static_cast<uint64_t>(stats_.segment.all.current),
             "segments miscounted");
  verify_pools(free_blocks);
  verify_spares();
}

void CachingAllocator::verify_segment(const Segment& segment, MemoryStats& sums,
                                      uint64_t& free_blocks) const {
  const PoolKind kind = segment.first->pool->kind;
  sums.segment.add(kind, 1);
  sums.reserved_bytes.add(kind, segment.size);
  const std::byte* expected = segment.data;
  const Block* before = nullptr;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    TSR_ASSERT(block->data == expected && block->prev == before, "blocks leave a gap or overlap");
    TSR_ASSERT(block->size > 0 && block->size % interface_.allocation_granularity == 0, "block of ",
               block->size, " bytes");
    TSR_ASSERT(block->segment == &segment && block->pool == segment.first->pool, "block strayed");
    TSR_ASSERT(before == nullptr || !before->is_free() || !block->is_free(), "neighbours unmerged");
    TSR_ASSERT(!(block->lent && block->pending > 0), "block lent while a stream still uses it");
    TSR_ASSERT(block->uses == nullptr || block->lent, "returned block keeps its streams");
    if (block->lent) {
      TSR_ASSERT(lent_.find(block->data) == block, "lent block cannot be found");
      TSR_ASSERT(block->requested <= block->size, "block smaller than requested");
      sums.allocated.add(kind, 1);
      sums.allocated_bytes.add(kind, block->size);
      sums.requested_bytes.add(kind, block->requested);
      if (block->size >= settings_.max_split_size) sums.oversize_allocations.add(1);
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
  TSR_ASSERT(segment.last == before, "the last block is another one");
  TSR_ASSERT(segment.reserved == 0 || segment.size <= segment.reserved,
             "segment outgrew its range");
}

// What waits to be used again is owned: an address that is not must not even be looked at.
void CachingAllocator::verify_spares() const {
  const auto owns = [](const auto& storage, const auto* object) {
    return std::any_of(storage.begin(), storage.end(),
                       [&](const auto& owned) { return owned.get() == object; });
  };
  size_t count = 0;
  for (const Block* block = spare_blocks_; block != nullptr; block = block->next) {
    TSR_ASSERT(owns(block_storage_, block), "spare block that nobody owns");
    TSR_ASSERT(++count <= spare_block_count_, "more spare blocks than counted");
    TSR_ASSERT(!block->node.empty(), "spare block without its place in a pool");
  }
  TSR_ASSERT(count == spare_block_count_, "spare blocks miscounted");
  count = 0;
  for (const Segment* segment = spare_segments_; segment != nullptr; segment = segment->next) {
    TSR_ASSERT(owns(segment_storage_, segment), "spare segment that nobody owns");
    TSR_ASSERT(++count <= segment_storage_.size(), "spare segments run in a circle");
  }
  count = 0;
  for (const StreamUse* use = spare_uses_; use != nullptr; use = use->next) {
    TSR_ASSERT(owns(use_storage_, use), "spare event that nobody owns");
    TSR_ASSERT(++count <= use_storage_.size(), "spare events run in a circle");
  }
}

void CachingAllocator::verify_pools(uint64_t free_blocks) const {
  uint64_t pooled = 0;
  uint64_t uses = 0;
  for (const auto& pools : pools_) {
    pooled += pools->small.free.size() + pools->large.free.size();
    for (const StreamUse* use = pools->first_pending; use != nullptr; use = use->next) {
      TSR_ASSERT(use->block->pending > 0 && !use->block->lent, "event of a block in use");
      ++uses;
    }
  }
  TSR_ASSERT(pooled == free_blocks, "pools hold ", pooled, " of ", free_blocks, " free blocks");
  TSR_ASSERT(uses <= pending_uses_, "more events queued than counted");
  TSR_ASSERT(in_flight_ > 0 || reserved() <= limit_ || stats_.segment.all.current > 0,
             "limit exceeded");
}

}  // namespace tsr
