// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The policy of blocks: rounding, best fit, splitting, merging, deferred frees.
#include "memory/caching_allocator.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/trace.h"
#include "memory/debug_flags.h"
#include "memory/poison.h"

namespace tsr {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSmallSize = kMiB;         // largest request of the small pool
constexpr uint64_t kMinMaxSplit = 20 * kMiB;  // segments that are shared must stay splittable
constexpr uint64_t kMaxRequest = uint64_t{1} << 48;  // no device has more; sums cannot overflow
constexpr size_t kBlocksPerRequest = 2;  // a segment's first block and the rest of a split

uint64_t round_up(uint64_t value, uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

// The next of `divisions` equal steps between the powers of two around `size`.
uint64_t round_to_division(uint64_t size, uint32_t divisions) noexcept {
  const uint64_t floor = std::bit_floor(size);
  if (floor == size || floor < divisions) return size;
  return round_up(size, floor / divisions);
}

}  // namespace

void LentBlocks::rehash(size_t count) {
  std::vector<Block*> old(count);
  old.swap(buckets_);
  shift_ = 64 - static_cast<uint32_t>(std::countr_zero(count));
  size_ = 0;
  for (Block* head : old) {
    while (head != nullptr) {
      Block* next = head->next_in_bucket;
      insert(head);
      head = next;
    }
  }
}

// ---- Public functions ----

void* CachingAllocator::allocate(uint64_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  Lock lock(mutex_);
  if (nbytes > kMaxRequest) fail_out_of_memory(lock, nbytes);
  const uint64_t size = round_size(nbytes);
  finish_events();
  reserve_blocks();
  StreamPools& pools = pools_of(stream);
  BlockPool& pool = size <= kSmallSize ? pools.small : pools.large;
  Block* block = take_fitting(pool, size);
  if (block == nullptr) {
    block = grow(lock, pool, size, nbytes);
  }
  split(block, size);
  lend(block, nbytes);
  void* data = block->data;
  lock.unlock();
  unpoison(device(), data, nbytes);
  trace(TracePoint::kAllocate, "memory", nbytes, data);
  return data;
}

void CachingAllocator::deallocate(void* data, uint64_t nbytes) noexcept {
  if (data == nullptr) return;
  trace(TracePoint::kFree, "memory", nbytes, data);
  const Lock lock(mutex_);
  Block* block = lent_.find(data);
  if (block == nullptr) return;  // not ours, or given back twice: touching it would make it worse
  poison(device(), data, block->size);
  lent_.erase(block);
  block->lent = false;
  stats_.allocated.subtract(block->pool->kind, 1);
  stats_.allocated_bytes.subtract(block->pool->kind, block->size);
  stats_.requested_bytes.subtract(block->pool->kind, block->requested);
  if (block->size >= settings_.max_split_size) stats_.oversize_allocations.subtract(1);
  history_.add(HistoryAction::kFreeRequested, data, block->size, block->pool->stream);
  if (block->uses != nullptr) {
    defer(block);
  } else {
    become_free(block);
  }
}

void CachingAllocator::record_stream(void* data, StreamHandle stream) {
  if (interface_.event_create == nullptr) return;  // work is done before a call returns
  const Lock lock(mutex_);
  Block* block = lent_.find(data);
  TSR_CHECK(block != nullptr, Code::kValue, nullptr,
            "expected memory that this allocator has lent, got another address");
  if (stream == block->pool->stream) return;
  for (const StreamUse* use = block->uses; use != nullptr; use = use->next) {
    if (use->stream == stream) return;
  }
  pools_of(stream);  // deallocate queues there and must not fail
  StreamUse* use = new_use();
  use->stream = stream;
  use->block = block;
  use->next = block->uses;
  block->uses = use;
}

void CachingAllocator::configure(const CachingSettings& settings) {
  TSR_CHECK(settings.max_split_size > kMinMaxSplit, Code::kValue, "max_split_size",
            "expected more than ", kMinMaxSplit, " bytes, got ", settings.max_split_size);
  TSR_CHECK(
      settings.garbage_collection_threshold >= 0.0 && settings.garbage_collection_threshold < 1.0,
      Code::kValue, "garbage_collection_threshold", "expected a fraction below 1, got ",
      settings.garbage_collection_threshold);
  const uint32_t divisions = settings.roundup_power2_divisions;
  TSR_CHECK(divisions == 0 || std::has_single_bit(divisions), Code::kValue,
            "roundup_power2_divisions", "expected 0 or a power of two, got ", divisions);
  TSR_CHECK(!settings.expandable_segments ||
                (interface_.reserve != nullptr && settings.max_split_size == UINT64_MAX),
            Code::kValue, "expandable_segments",
            "expected a device that maps memory, and no max_split_size");
  const Lock lock(mutex_);
  TSR_CHECK(lent_.size() == 0 || settings.max_split_size == settings_.max_split_size, Code::kValue,
            "max_split_size", "expected no memory in use when it changes, got ", lent_.size(),
            " blocks");
  settings_ = settings;
  const bool split_all = settings.max_split_size > static_cast<uint64_t>(INT64_MAX);
  stats_.max_split_size = split_all ? -1 : static_cast<int64_t>(settings.max_split_size);
}

CachingSettings CachingAllocator::settings() const {
  const Lock lock(mutex_);
  return settings_;
}

// ---- Blocks ----

uint64_t CachingAllocator::round_size(uint64_t nbytes) const noexcept {
  const uint64_t unit = interface_.allocation_granularity;
  uint64_t size = nbytes;
  if (settings_.roundup_power2_divisions > 1) {
    size = round_to_division(size, settings_.roundup_power2_divisions);
  }
  return round_up(size, unit);
}

CachingAllocator::StreamPools& CachingAllocator::pools_of(StreamHandle stream) {
  for (const auto& pools : pools_) {
    if (pools->small.stream == stream) return *pools;
  }
  return *pools_.emplace_back(std::make_unique<StreamPools>(stream));
}

// All that may allocate host memory happens here, before anything is changed. What is made is owned
// before it is linked: a list never names an object that a failure takes away.
void CachingAllocator::reserve_blocks() {
  lent_.reserve(lent_.size() + 1);
  while (spare_block_count_ < kBlocksPerRequest) {
    auto block = std::make_unique<Block>();
    BlockSet nodes;
    block->node = nodes.extract(nodes.insert(block.get()).first);
    recycle(block_storage_.emplace_back(std::move(block)).get());
  }
  if (spare_segments_ == nullptr) {
    push_front(spare_segments_, segment_storage_.emplace_back(std::make_unique<Segment>()).get());
  }
}

Block* CachingAllocator::new_block() noexcept {
  Block* block = spare_blocks_;
  spare_blocks_ = block->next;
  --spare_block_count_;
  block->next = nullptr;
  return block;
}

Segment* CachingAllocator::new_segment() noexcept {
  Segment* segment = spare_segments_;
  unlink(spare_segments_, segment);
  return segment;
}

void CachingAllocator::recycle(Block* block) noexcept {
  block->prev = nullptr;
  block->next = spare_blocks_;
  spare_blocks_ = block;
  ++spare_block_count_;
}

void CachingAllocator::enter_pool(Block* block) noexcept {
  block->place = block->pool->free.insert(std::move(block->node)).position;
  if (!block->is_split()) return;
  stats_.inactive_split.add(block->pool->kind, 1);
  stats_.inactive_split_bytes.add(block->pool->kind, block->size);
}

void CachingAllocator::leave_pool(Block* block) noexcept {
  block->node = block->pool->free.extract(block->place);
  if (!block->is_split()) return;
  stats_.inactive_split.subtract(block->pool->kind, 1);
  stats_.inactive_split_bytes.subtract(block->pool->kind, block->size);
}

// The best fitting free block, taken out of its pool; null when none fits.
Block* CachingAllocator::take_fitting(BlockPool& pool, uint64_t size) noexcept {
  const auto place = pool.free.lower_bound(size);
  if (place == pool.free.end()) return nullptr;
  Block* block = *place;
  const uint64_t limit = settings_.max_split_size;
  if (size < limit && block->size >= limit) return nullptr;
  if (size >= limit && block->size - size >= settings_.max_non_split_rounding) return nullptr;
  leave_pool(block);
  return block;
}

bool CachingAllocator::should_split(const Block& block, uint64_t size) const noexcept {
  const uint64_t rest = block.size - size;
  if (block.pool->kind == PoolKind::kSmall) return rest >= interface_.allocation_granularity;
  return size < settings_.max_split_size && rest > kSmallSize;
}

void CachingAllocator::split(Block* block, uint64_t size) noexcept {
  if (!should_split(*block, size)) return;
  Block* rest = new_block();
  rest->data = block->data + size;
  rest->size = block->size - size;
  rest->pool = block->pool;
  rest->segment = block->segment;
  rest->freed_at = block->freed_at;
  rest->prev = block;
  rest->next = block->next;
  (rest->next != nullptr ? rest->next->prev : rest->segment->last) = rest;
  block->next = rest;
  block->size = size;
  enter_pool(rest);
}

void CachingAllocator::lend(Block* block, uint64_t requested) noexcept {
  const PoolKind kind = block->pool->kind;
  block->lent = true;
  block->requested = requested;
  lent_.insert(block);
  stats_.allocated.add(kind, 1);
  const int64_t peak = stats_.allocated_bytes.all.peak;
  stats_.allocated_bytes.add(kind, block->size);
  if (stats_.allocated_bytes.all.peak > peak) new_peak_.store(true, std::memory_order_relaxed);
  stats_.active.add(kind, 1);
  stats_.active_bytes.add(kind, block->size);
  stats_.requested_bytes.add(kind, requested);
  if (block->size >= settings_.max_split_size) stats_.oversize_allocations.add(1);
  history_.add(HistoryAction::kAllocate, block->data, block->size, block->pool->stream);
}

void CachingAllocator::become_free(Block* block) noexcept {
  stats_.active.subtract(block->pool->kind, 1);
  stats_.active_bytes.subtract(block->pool->kind, block->size);
  history_.add(HistoryAction::kFreeCompleted, block->data, block->size, block->pool->stream);
  block->freed_at = ++clock_;
  if (block->prev != nullptr && block->prev->is_free()) {
    Block* before = block->prev;
    leave_pool(before);
    before->freed_at = clock_;
    block = merge_with_next(before);
  }
  if (block->next != nullptr && block->next->is_free()) {
    leave_pool(block->next);
    block = merge_with_next(block);
  }
  enter_pool(block);
}

// Both are in no pool.
Block* CachingAllocator::merge_with_next(Block* block) noexcept {
  Block* gone = block->next;
  block->size += gone->size;
  block->next = gone->next;
  (block->next != nullptr ? block->next->prev : block->segment->last) = block;
  recycle(gone);
  return block;
}

// ---- Deferred frees ----

void CachingAllocator::defer(Block* block) noexcept {
  for (StreamUse* use = block->uses; use != nullptr;) {
    StreamUse* next = use->next;
    use->next = nullptr;
    use->recorded = interface_.event_record(device().index, use->event, use->stream) == kDeviceOk;
    StreamPools& pools = pools_of(use->stream);
    *pools.last_pending = use;
    pools.last_pending = &use->next;
    ++block->pending;
    ++pending_uses_;
    use = next;
  }
  block->uses = nullptr;
}

// An event that could not be recorded is tried again: until then its block stays out of use.
void CachingAllocator::finish_events() noexcept {
  if (pending_uses_ == 0) return;
  for (const auto& pools : pools_) {
    while (StreamUse* use = pools->first_pending) {
      if (!use->recorded) {
        use->recorded =
            interface_.event_record(device().index, use->event, use->stream) == kDeviceOk;
      }
      int32_t done = 0;
      if (!use->recorded ||
          interface_.event_query(device().index, use->event, &done) != kDeviceOk || done == 0) {
        break;
      }
      pools->first_pending = use->next;
      if (pools->first_pending == nullptr) pools->last_pending = &pools->first_pending;
      finish_use(use);
    }
  }
}

void CachingAllocator::finish_use(StreamUse* use) noexcept {
  Block* block = use->block;
  use->block = nullptr;
  use->next = spare_uses_;
  spare_uses_ = use;
  --pending_uses_;
  if (--block->pending == 0) become_free(block);
}

StreamUse* CachingAllocator::new_use() {
  if (spare_uses_ != nullptr) {
    StreamUse* use = spare_uses_;
    spare_uses_ = use->next;
    return use;
  }
  use_storage_.reserve(use_storage_.size() + 1);
  auto use = std::make_unique<StreamUse>();
  const int32_t code = interface_.event_create(device().index, &use->event);
  if (code != kDeviceOk) fail_device(code, "create an event");
  return use_storage_.emplace_back(std::move(use)).get();
}

}  // namespace tsr
