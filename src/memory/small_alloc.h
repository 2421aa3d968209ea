// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// small_allocate and small_free: host memory of up to 64 KiB from per-thread free lists, for tensor
// data on the CPU and for the library's own objects. A pair costs a few nanoseconds.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/debug_flags.h"

namespace tsr {

inline constexpr size_t kSmallLimit = size_t{64} << 10;
inline constexpr size_t kSmallAlignment = 64;
inline constexpr uint32_t kSmallClasses = 36;

// Size classes: multiples of 64 up to 512, then four per doubling up to 64 KiB.
constexpr uint32_t small_class(size_t nbytes) noexcept {
  const size_t last = nbytes - (nbytes != 0 ? 1 : 0);
  if (last < 512) return static_cast<uint32_t>(last >> 6);
  const auto top = static_cast<uint32_t>(std::bit_width(last)) - 1;
  return 8 + (top - 9) * 4 + static_cast<uint32_t>((last >> (top - 2)) & 3);
}
constexpr size_t small_class_bytes(uint32_t index) noexcept {
  if (index < 8) return (size_t{index} + 1) * 64;
  const uint32_t step = index - 8;
  return (size_t{step} % 4 + 5) << (step / 4 + 7);
}

// Note [Small lists]
// A chunk is 2 MiB at an address that is a multiple of 2 MiB. It is divided into spans, and a span
// into blocks of one size class. A span belongs to the lists of one thread; only that thread
// touches its free list and count. A block freed by another thread goes onto the owner's `remote`
// stack, which the owner empties when a free list is empty. The lists of a thread that ends are
// kept for the next thread that starts. They are never destroyed, so a block's owner is always a
// valid address.
namespace small {

struct FreeBlock {
  FreeBlock* next;
};

struct ThreadLists;

struct alignas(64) Span {
  FreeBlock* free = nullptr;     // blocks ready to be lent
  int32_t used = 0;              // blocks lent
  int32_t notify_at = -1;        // the owner looks at the span when `used` falls to this
  ThreadLists* owner = nullptr;  // fixed while any block is lent
  std::byte* blocks = nullptr;   // the first block
  uint32_t capacity = 0;         // blocks that fit
  uint32_t carved = 0;           // blocks that were ever in the free list
  uint32_t size_class = 0;
  bool listed = false;  // in its owner's list of spans with free blocks
  Span* prev = nullptr;
  Span* next = nullptr;
};

// What is counted of tensor data: blocks, their sizes, the sizes asked for.
inline constexpr size_t kFigures = 3;

// A thread's own counts of tensor data; other threads read them.
struct DataCounts {
  std::atomic<int64_t> lent[kFigures];
  std::atomic<int64_t> returned[kFigures];
  std::atomic<int64_t> high[kFigures];  // largest lent - returned since the peak was last taken
};

struct ThreadLists {
  Span* current[kSmallClasses];       // the span blocks are taken from; never null
  Span* partial[kSmallClasses] = {};  // other spans that have free blocks
  DataCounts data = {};
  ThreadLists* next = nullptr;       // of all lists ever made
  ThreadLists* next_idle = nullptr;  // of those without a thread
  alignas(64) std::atomic<FreeBlock*> remote{nullptr};

  constexpr explicit ThreadLists(Span* none) noexcept : current() {
    for (Span*& span : current) span = none;
  }
};

// The calling thread's lists; before its first allocation the shared empty ones, whose spans have
// no free block, so that the fast path needs no test for null.
extern constinit thread_local ThreadLists* t_lists;
extern constinit ThreadLists g_no_lists;

inline constexpr size_t kChunkBytes = size_t{2} << 20;
inline constexpr size_t kSlotBytes = size_t{64} << 10;

// First in every chunk. A span covers one slot of 64 KiB, or eight when its blocks are large.
struct Chunk {
  uint64_t slot_mask;  // slot number -> number of the span that covers it
  uint32_t span_count;
  uint32_t free_spans;
  Chunk* prev;
  Chunk* next;
  alignas(64) Span spans[kChunkBytes / kSlotBytes];
};

inline Span* span_of(const void* block) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(block);
  auto* chunk = reinterpret_cast<Chunk*>(address & ~(kChunkBytes - 1));
  return &chunk->spans[((address % kChunkBytes) / kSlotBytes) & chunk->slot_mask];
}

// Throws Error kOutOfMemory.
void* allocate_slow(uint32_t size_class);
void free_slow(Span* span) noexcept;
void free_remote(Span* span, FreeBlock* block) noexcept;

inline void* allocate(uint32_t size_class) {
  Span* span = t_lists->current[size_class];
  FreeBlock* block = span->free;
  if (block == nullptr) [[unlikely]]
    return allocate_slow(size_class);
  span->free = block->next;
  ++span->used;
  return block;
}

inline void release(void* data) noexcept {
  Span* span = span_of(data);
  auto* block = static_cast<FreeBlock*>(data);
  if (span->owner != t_lists) [[unlikely]]
    return free_remote(span, block);
  block->next = span->free;
  span->free = block;
  if (--span->used <= span->notify_at) [[unlikely]]
    free_slow(span);
}

}  // namespace small

// Above kSmallLimit, or where lists are off: the system's allocator.
void* large_object_allocate(size_t nbytes);
void large_object_free(void* data) noexcept;
// Objects lent by large_object_allocate.
[[nodiscard]] int64_t live_large_objects() noexcept;

// Memory for one of the library's own objects, aligned to 64 bytes. Throws Error kOutOfMemory.
// Any thread may free it; the size must be the one it was allocated with. The first is for callers
// that have looked at debug_flags().
inline void* small_allocate_unchecked(size_t nbytes) {
  if (kSmallListsOff || nbytes > kSmallLimit) return large_object_allocate(nbytes);
  return small::allocate(small_class(nbytes));
}
inline void* small_allocate(size_t nbytes) {
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  return small_allocate_unchecked(nbytes);
}

inline void small_free(void* data, size_t nbytes) noexcept {
  if (data == nullptr) return;
  if (kSmallListsOff || nbytes > kSmallLimit) return large_object_free(data);
  small::release(data);
}

}  // namespace tsr
