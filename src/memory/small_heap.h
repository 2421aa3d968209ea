// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The shared half of the small lists: where spans come from, threads that come and go, statistics.
#pragma once

#include <array>
#include <cstdint>

#include "memory/small_alloc.h"

namespace tsr::small {

// Tensor data in the small lists, summed over all threads.
struct DataTotals {
  uint64_t blocks_lent = 0;      // ever
  uint64_t blocks_returned = 0;  // ever
  uint64_t bytes_lent = 0;       // ever, in sizes of classes
  uint64_t bytes_returned = 0;
  uint64_t requested_lent = 0;  // ever, as asked for
  uint64_t requested_returned = 0;
};

// Where chunks of kChunkBytes come from. `take` throws Error kOutOfMemory; neither may use the
// lists while it holds a lock of its own.
struct ChunkSource {
  void* (*take)();
  void (*give_back)(void* chunk) noexcept;
};
void set_chunk_source(const ChunkSource& source) noexcept;
// Called before the first chunk is taken; must set a source. Defined beside the CPU's allocator.
void connect_chunk_source();

// Called when a thread takes a fresh span, the only moment at which live data may reach a new peak
// by more than the free blocks of one span per class. No lock is held.
extern void (*g_span_taken)() noexcept;

[[nodiscard]] DataTotals data_totals() noexcept;

// One writer: a plain addition that other threads may read.
inline void bump(std::atomic<uint64_t>& count, uint64_t amount) noexcept {
  count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Count one block of tensor data among the calling thread's, which has allocated before; the second
// also serves threads that never did.
inline void count_lent(uint32_t size_class, uint64_t nbytes) noexcept {
  DataCounts& counts = t_lists->data;
  bump(counts.lent[size_class], 1);
  bump(counts.lent_bytes, nbytes);
}
void count_returned_slow(uint32_t size_class, uint64_t nbytes) noexcept;
inline void count_returned(uint32_t size_class, uint64_t nbytes) noexcept {
  if (t_lists == &g_no_lists) [[unlikely]]
    return count_returned_slow(size_class, nbytes);
  DataCounts& counts = t_lists->data;
  bump(counts.returned[size_class], 1);
  bump(counts.returned_bytes, nbytes);
}

// Gives chunks without a lent block back to their source; blocks cached by running threads stay.
// Returns the bytes given back.
uint64_t trim() noexcept;

struct ChunkInfo {
  const void* data;
  uint32_t free_spans;
  uint32_t span_count;
};
// Calls visit for every chunk under the heap's lock: it must not allocate from the lists.
void visit_chunks(void (*visit)(void* user, const ChunkInfo& chunk), void* user);

// Blocks lent to anybody, data and objects alike. For tests: other threads must be idle.
[[nodiscard]] int64_t live_blocks() noexcept;

// Checks the calling thread's lists and the shared pool; throws Error kInternal.
void verify();

}  // namespace tsr::small
