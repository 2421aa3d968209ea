// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of the small lists that threads share: the source of spans, threads that start and end,
// statistics.
#pragma once

#include <array>
#include <cstdint>

#include "memory/small_alloc.h"

namespace tsr::small {

// Tensor data in the small lists, summed over all threads, in the order of kFigures.
struct DataTotals {
  std::array<int64_t, kFigures> lent{};      // ever
  std::array<int64_t, kFigures> returned{};  // ever
  // The largest amount by which one thread exceeded its current count since the last take_rise().
  std::array<int64_t, kFigures> rise{};
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

// Called when a thread takes a new span. Only then can live data exceed its peak by more than the
// free blocks of one span per size class. No lock is held.
extern void (*g_span_taken)() noexcept;

[[nodiscard]] DataTotals data_totals() noexcept;
// The same; the rise is then counted afresh.
[[nodiscard]] DataTotals take_rise() noexcept;

// One writer: a plain addition that other threads may read.
inline void bump(std::atomic<int64_t>& count, int64_t amount) noexcept {
  count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Count one block of tensor data for the calling thread. The thread has allocated before; the
// second function also serves threads that have not. A thread's count is highest just before it
// gives a block back.
inline void count_lent(uint32_t size_class, uint64_t nbytes) noexcept {
  DataCounts& counts = t_lists->data;
  bump(counts.lent[0], 1);
  bump(counts.lent[1], static_cast<int64_t>(small_class_bytes(size_class)));
  bump(counts.lent[2], static_cast<int64_t>(nbytes));
}
void count_returned_slow(uint32_t size_class, uint64_t nbytes) noexcept;
inline void count_returned(uint32_t size_class, uint64_t nbytes) noexcept {
  if (t_lists == &g_no_lists) [[unlikely]]
    return count_returned_slow(size_class, nbytes);
  DataCounts& counts = t_lists->data;
  const int64_t amounts[kFigures] = {1, static_cast<int64_t>(small_class_bytes(size_class)),
                                     static_cast<int64_t>(nbytes)};
  for (size_t i = 0; i < kFigures; ++i) {
    const int64_t returned = counts.returned[i].load(std::memory_order_relaxed);
    const int64_t live = counts.lent[i].load(std::memory_order_relaxed) - returned;
    if (live > counts.high[i].load(std::memory_order_relaxed)) {
      counts.high[i].store(live, std::memory_order_relaxed);
    }
    counts.returned[i].store(returned + amounts[i], std::memory_order_relaxed);
  }
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
