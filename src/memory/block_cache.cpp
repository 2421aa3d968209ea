// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/block_cache.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace tsr {
namespace {

constexpr size_t kBlocksPerRequest = 2;  // a segment's first block and the rest of a split

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

// ---- Before a request ----

uint64_t BlockCache::round_size(uint64_t nbytes) const noexcept {
  uint64_t size = nbytes;
  if (state_.settings.roundup_power2_divisions > 1) {
    size = round_to_division(size, state_.settings.roundup_power2_divisions);
  }
  return round_up(size, state_.interface.allocation_granularity);
}

BlockPool& BlockCache::pool_for(StreamHandle stream, uint64_t size) {
  const bool small = size <= kSmallSize;
  for (const auto& pools : pools_) {
    if (pools->small.stream == stream) return small ? pools->small : pools->large;
  }
  StreamPools& pools = *pools_.emplace_back(std::make_unique<StreamPools>(stream));
  return small ? pools.small : pools.large;
}

// A new block is owned before it is linked, so that a failure never leaves a dangling link.
void BlockCache::reserve() {
  lent_.reserve(lent_.size() + 1);
  while (spare_count_ < kBlocksPerRequest) {
    auto block = std::make_unique<Block>();
    BlockSet nodes;
    block->node = nodes.extract(nodes.insert(block.get()).first);
    recycle(storage_.emplace_back(std::move(block)).get());
  }
}

Block* BlockCache::new_block() noexcept {
  Block* block = spare_;
  spare_ = block->next;
  --spare_count_;
  block->next = nullptr;
  return block;
}

void BlockCache::recycle(Block* block) noexcept {
  block->prev = nullptr;
  block->next = spare_;
  spare_ = block;
  ++spare_count_;
}

// ---- Pools ----

void BlockCache::enter_pool(Block* block) noexcept {
  block->place = block->pool->free.insert(std::move(block->node)).position;
  if (!block->is_split()) return;
  state_.stats.inactive_split.add(block->pool->kind, 1);
  state_.stats.inactive_split_bytes.add(block->pool->kind, block->size);
}

void BlockCache::leave_pool(Block* block) noexcept {
  block->node = block->pool->free.extract(block->place);
  if (!block->is_split()) return;
  state_.stats.inactive_split.subtract(block->pool->kind, 1);
  state_.stats.inactive_split_bytes.subtract(block->pool->kind, block->size);
}

Block* BlockCache::take_fitting(BlockPool& pool, uint64_t size) noexcept {
  const auto place = pool.free.lower_bound(size);
  if (place == pool.free.end()) return nullptr;
  Block* block = *place;
  const uint64_t limit = state_.settings.max_split_size;
  if (size < limit && block->size >= limit) return nullptr;
  if (size >= limit && block->size - size >= state_.settings.max_non_split_rounding) return nullptr;
  leave_pool(block);
  return block;
}

// ---- Lending ----

bool BlockCache::should_split(const Block& block, uint64_t size) const noexcept {
  const uint64_t rest = block.size - size;
  if (block.pool->kind == PoolKind::kSmall) {
    return rest >= state_.interface.allocation_granularity;
  }
  return size < state_.settings.max_split_size && rest > kSmallSize;
}

void BlockCache::split(Block* block, uint64_t size) noexcept {
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

void BlockCache::lend(Block* block, uint64_t size, uint64_t requested) noexcept {
  if (should_split(*block, size)) split(block, size);
  const PoolKind kind = block->pool->kind;
  MemoryStats& stats = state_.stats;
  block->lent = true;
  block->requested = requested;
  lent_.insert(block);
  stats.allocated.add(kind, 1);
  stats.allocated_bytes.add(kind, block->size);
  stats.active.add(kind, 1);
  stats.active_bytes.add(kind, block->size);
  stats.requested_bytes.add(kind, requested);
  if (block->size >= state_.settings.max_split_size) stats.oversize_allocations.add(1);
}

void BlockCache::take_back(Block* block) noexcept {
  const PoolKind kind = block->pool->kind;
  MemoryStats& stats = state_.stats;
  lent_.erase(block);
  block->lent = false;
  stats.allocated.subtract(kind, 1);
  stats.allocated_bytes.subtract(kind, block->size);
  stats.requested_bytes.subtract(kind, block->requested);
  if (block->size >= state_.settings.max_split_size) stats.oversize_allocations.subtract(1);
}

void BlockCache::become_free(Block* block) noexcept {
  state_.stats.active.subtract(block->pool->kind, 1);
  state_.stats.active_bytes.subtract(block->pool->kind, block->size);
  state_.history.add(HistoryAction::kFreeCompleted, block->data, block->requested,
                     block->pool->stream);
  block->freed_at = ++state_.clock;
  if (block->prev != nullptr && block->prev->is_free()) {
    Block* before = block->prev;
    leave_pool(before);
    before->freed_at = state_.clock;
    block = merge_with_next(before);
  }
  if (block->next != nullptr && block->next->is_free()) {
    leave_pool(block->next);
    block = merge_with_next(block);
  }
  enter_pool(block);
}

Block* BlockCache::merge_with_next(Block* block) noexcept {
  Block* gone = block->next;
  block->size += gone->size;
  block->next = gone->next;
  (block->next != nullptr ? block->next->prev : block->segment->last) = block;
  recycle(gone);
  return block;
}

// ---- Invariants ----

void BlockCache::verify(uint64_t free_blocks) const {
  uint64_t pooled = 0;
  for (const auto& pools : pools_) pooled += pools->small.free.size() + pools->large.free.size();
  TSR_ASSERT(pooled == free_blocks, "pools hold ", pooled, " of ", free_blocks, " free blocks");
  size_t count = 0;
  for (const Block* block = spare_; block != nullptr; block = block->next) {
    TSR_ASSERT(owns(storage_, block), "spare block without an owner");
    TSR_ASSERT(++count <= spare_count_, "more spare blocks than counted");
    TSR_ASSERT(!block->node.empty(), "spare block without its node of the pool's set");
  }
  TSR_ASSERT(count == spare_count_, "spare blocks miscounted");
}

}  // namespace tsr
