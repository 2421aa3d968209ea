// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DeferredFrees: blocks that were given back while other streams still use them. A block becomes
// free when the events after its last use on each stream are done.
#pragma once

#include <memory>
#include <vector>

#include "memory/block_cache.h"

namespace tsr {

// Every function runs under the allocator's lock.
class DeferredFrees {
 public:
  DeferredFrees(CachingState& state, BlockCache& blocks) noexcept
      : state_(state), blocks_(blocks) {}
  DeferredFrees(const DeferredFrees&) = delete;
  DeferredFrees& operator=(const DeferredFrees&) = delete;
  ~DeferredFrees();

  // `stream`, other than the block's own, uses the lent block. Throws when no event can be made.
  void add_use(Block* block, StreamHandle stream);
  // The block was given back: records an event on every stream that uses it. Cannot fail: what it
  // needs was made by add_use.
  void defer(Block* block) noexcept;
  // Frees the blocks whose events are done; queries events and never waits.
  void finish_events() noexcept;
  // Waits for every deferred free; false when there was none. Releases the lock while it waits.
  bool wait(CachingLock& lock);

  void verify() const;

 private:
  // Uses of one stream by returned blocks, in the order of their events.
  struct Queue {
    explicit Queue(StreamHandle of) : stream(of) {}
    void push(StreamUse* use) noexcept {
      use->next = nullptr;
      *last = use;
      last = &use->next;
    }
    StreamHandle stream;
    StreamUse* first = nullptr;
    StreamUse** last = &first;
  };

  Queue& queue_of(StreamHandle stream);
  StreamUse* new_use();
  bool is_done(StreamUse& use) noexcept;
  void finish(StreamUse* use) noexcept;

  CachingState& state_;
  BlockCache& blocks_;
  std::vector<std::unique_ptr<Queue>> queues_;
  uint64_t pending_ = 0;  // uses in the queues, or waited for
  std::vector<std::unique_ptr<StreamUse>> storage_;
  StreamUse* spare_ = nullptr;
};

}  // namespace tsr
