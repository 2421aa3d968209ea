// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Block, Segment, BlockPool, LentBlocks: how the caching allocator describes the memory it holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/device_interface.h"
#include "memory/memory_stats.h"

namespace tsr {

struct Block;
struct Segment;

// Free blocks by size, then address: the first that is large enough fits best.
struct BlockOrder {
  using is_transparent = void;
  bool operator()(const Block* a, const Block* b) const noexcept;
  bool operator()(const Block* a, uint64_t size) const noexcept;
  bool operator()(uint64_t size, const Block* a) const noexcept;
};
using BlockSet = std::set<Block*, BlockOrder>;

// The free blocks of one stream and one kind.
struct BlockPool {
  PoolKind kind;
  StreamHandle stream;
  BlockSet free;
};

// A use of a block by another stream than the block's own, and the event after the stream's last
// work.
struct StreamUse {
  EventHandle event = nullptr;
  StreamHandle stream = nullptr;
  Block* block = nullptr;
  StreamUse* next = nullptr;
  bool recorded = false;
};

// A part of a segment: lent; or returned while `pending` events are not done; or free, in its pool.
struct Block {
  std::byte* data = nullptr;
  uint64_t size = 0;
  uint64_t requested = 0;
  BlockPool* pool = nullptr;
  Segment* segment = nullptr;
  Block* prev = nullptr;  // neighbours in the segment, by address
  Block* next = nullptr;
  StreamUse* uses = nullptr;
  uint32_t pending = 0;
  bool lent = false;
  Block* next_in_bucket = nullptr;  // of LentBlocks
  uint64_t freed_at = 0;            // the allocator's clock when it last became free
  // The set's node travels with the block, so that a release never allocates.
  BlockSet::node_type node;
  BlockSet::iterator place;

  [[nodiscard]] bool is_free() const noexcept { return !lent && pending == 0; }
  [[nodiscard]] bool is_split() const noexcept { return prev != nullptr || next != nullptr; }
};

// A piece of memory held from the device.
struct Segment {
  std::byte* data = nullptr;
  uint64_t size = 0;
  uint64_t reserved = 0;  // of addresses, when the segment can grow; 0 when it cannot
  bool busy = false;      // growing or shrinking on some thread that has dropped the lock
  bool oversize = false;  // was too large to be split when it was made; counted
  Block* first = nullptr;
  Block* last = nullptr;
  Segment* prev = nullptr;
  Segment* next = nullptr;
};

// The lent blocks by address. Only reserve allocates.
class LentBlocks {
 public:
  void reserve(size_t count) {
    if (count > buckets_.size()) rehash(buckets_.empty() ? 64 : 2 * buckets_.size());
  }
  [[nodiscard]] size_t size() const noexcept { return size_; }

  void insert(Block* block) noexcept {
    Block*& head = bucket(block->data);
    block->next_in_bucket = head;
    head = block;
    ++size_;
  }
  // Null when no such block is lent.
  [[nodiscard]] Block* find(const void* data) const noexcept {
    if (buckets_.empty()) return nullptr;
    Block* block = buckets_[index(data)];
    while (block != nullptr && block->data != data) block = block->next_in_bucket;
    return block;
  }
  void erase(Block* block) noexcept {
    Block** link = &bucket(block->data);
    while (*link != block) link = &(*link)->next_in_bucket;
    *link = block->next_in_bucket;
    --size_;
  }

 private:
  // Fibonacci hashing: addresses differ in their middle bits.
  [[nodiscard]] size_t index(const void* data) const noexcept {
    const uint64_t hash = reinterpret_cast<uintptr_t>(data) * 0x9e3779b97f4a7c15U;
    return static_cast<size_t>(hash >> shift_);
  }
  Block*& bucket(const void* data) noexcept { return buckets_[index(data)]; }
  void rehash(size_t count);

  std::vector<Block*> buckets_;  // a power of two
  size_t size_ = 0;
  uint32_t shift_ = 64;
};

inline bool BlockOrder::operator()(const Block* a, const Block* b) const noexcept {
  return a->size != b->size ? a->size < b->size : a->data < b->data;
}
inline bool BlockOrder::operator()(const Block* a, uint64_t size) const noexcept {
  return a->size < size;
}
inline bool BlockOrder::operator()(uint64_t size, const Block* a) const noexcept {
  return size < a->size;
}

// Whether one of the unique pointers of `storage` holds `object`, which may dangle otherwise.
template <class Storage, class T>
bool owns(const Storage& storage, const T* object) {
  return std::any_of(storage.begin(), storage.end(),
                     [&](const auto& owned) { return owned.get() == object; });
}

// ---- Lists linked by `prev` and `next` ----

template <class T>
void push_front(T*& list, T* item) noexcept {
  item->prev = nullptr;
  item->next = list;
  if (list != nullptr) list->prev = item;
  list = item;
}

template <class T>
void unlink(T*& list, T* item) noexcept {
  (item->prev != nullptr ? item->prev->next : list) = item->next;
  if (item->next != nullptr) item->next->prev = item->prev;
}

}  // namespace tsr
