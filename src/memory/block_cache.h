// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// BlockCache: the blocks of a caching allocator. It picks, splits, lends, takes back and merges
// them; it never calls the device.
#pragma once

#include <memory>
#include <vector>

#include "memory/block.h"
#include "memory/caching_state.h"

namespace tsr {

// Every function runs under the allocator's lock. Only pool_for and reserve allocate host memory
// and may throw: they are called before anything else changes, so that a failure changes nothing.
class BlockCache {
 public:
  explicit BlockCache(CachingState& state) noexcept : state_(state) {}

  // ---- Before a request ----
  // The size of the block that serves `nbytes`.
  [[nodiscard]] uint64_t round_size(uint64_t nbytes) const noexcept;
  // The pool that serves blocks of `size` on `stream`.
  BlockPool& pool_for(StreamHandle stream, uint64_t size);
  // Makes the spare blocks that one request may need: a segment's first block and the rest of a
  // split.
  void reserve();

  // ---- Lending ----
  // The best fitting free block, taken out of its pool; null when none fits.
  Block* take_fitting(BlockPool& pool, uint64_t size) noexcept;
  // Splits off what the request of `requested` bytes, rounded to `size`, does not need. The block
  // is in no pool.
  void lend(Block* block, uint64_t size, uint64_t requested) noexcept;
  // Null when no lent block begins there.
  [[nodiscard]] Block* find_lent(const void* data) const noexcept { return lent_.find(data); }
  [[nodiscard]] size_t lent_count() const noexcept { return lent_.size(); }
  // Ends the loan. The block is not free yet: a stream may still use it.
  void take_back(Block* block) noexcept;
  // No stream uses the block any more: merges it with free neighbours and puts it into its pool.
  void become_free(Block* block) noexcept;

  // ---- For segments ----
  // A spare block; reserve() was called under this lock.
  Block* new_block() noexcept;
  void recycle(Block* block) noexcept;
  void enter_pool(Block* block) noexcept;
  void leave_pool(Block* block) noexcept;
  // Joins a block with its next neighbour; both are in no pool.
  Block* merge_with_next(Block* block) noexcept;

  // ---- Invariants; these throw Error kInternal ----
  // `free_blocks` is what the segments hold.
  void verify(uint64_t free_blocks) const;

 private:
  struct StreamPools {
    explicit StreamPools(StreamHandle stream)
        : small{PoolKind::kSmall, stream, {}}, large{PoolKind::kLarge, stream, {}} {}
    BlockPool small;
    BlockPool large;
  };

  [[nodiscard]] bool should_split(const Block& block, uint64_t size) const noexcept;
  void split(Block* block, uint64_t size) noexcept;

  CachingState& state_;
  std::vector<std::unique_ptr<StreamPools>> pools_;
  LentBlocks lent_;
  std::vector<std::unique_ptr<Block>> storage_;
  Block* spare_ = nullptr;  // linked by `next`
  size_t spare_count_ = 0;
};

}  // namespace tsr
