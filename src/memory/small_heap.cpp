// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/small_heap.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr::small {
namespace {

constinit Span g_no_span;

constexpr size_t kLargeSpanSlots = 8;
constexpr size_t kCarveBytes = 4096;

// Blocks above 8 KiB come from spans of eight slots, so that a span holds at least seven of them.
constexpr bool in_large_span(uint32_t size_class) noexcept {
  return small_class_bytes(size_class) > kSlotBytes / 8;
}

// The state that threads share: chunks, free spans, and the lists whose thread has ended.
struct Heap {
  GuardedMutex mutex;
  ChunkSource source{};
  Chunk* chunks = nullptr;
  Span* free_spans[2] = {};  // by in_large_span
  ThreadLists* all = nullptr;
  ThreadLists* idle = nullptr;
  // Never deleted: the library stays loaded (-z nodelete), and threads may end at any time.
  pthread_key_t exit_key = 0;
  bool has_exit_key = false;
};

Heap& heap() noexcept {
  return immortal<Heap>();
}

void push(Span*& list, Span* span) noexcept {
  span->prev = nullptr;
  span->next = list;
  if (list != nullptr) list->prev = span;
  list = span;
}

void unlink(Span*& list, Span* span) noexcept {
  if (span->prev != nullptr) {
    span->prev->next = span->next;
  } else {
    list = span->next;
  }
  if (span->next != nullptr) span->next->prev = span->prev;
}

Chunk* chunk_of(const Span* span) noexcept {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(span) & ~(kChunkBytes - 1));
}

size_t span_bytes(const Chunk& chunk, size_t slot) noexcept {
  const size_t slots = chunk.slot_mask == ~uint64_t{0} ? 1 : kLargeSpanSlots;
  return slots * kSlotBytes - (slot == 0 ? sizeof(Chunk) : 0);
}

std::byte* span_begin(Chunk& chunk, size_t slot) noexcept {
  auto* base = reinterpret_cast<std::byte*>(&chunk);
  return slot == 0 ? base + sizeof(Chunk) : base + slot * kSlotBytes;
}

// Cuts fresh memory into free spans; under the heap's lock.
void add_chunk(Heap& h, void* memory, bool large) noexcept {
  auto* chunk = new (memory) Chunk{};
  const size_t step = large ? kLargeSpanSlots : 1;
  chunk->slot_mask = large ? ~uint64_t{kLargeSpanSlots - 1} : ~uint64_t{0};
  chunk->span_count = static_cast<uint32_t>(kChunkBytes / kSlotBytes / step);
  chunk->free_spans = chunk->span_count;
  for (size_t slot = kChunkBytes / kSlotBytes; slot > 0;) {
    slot -= step;
    chunk->spans[slot].blocks = span_begin(*chunk, slot);
    push(h.free_spans[large ? 1 : 0], &chunk->spans[slot]);
  }
  chunk->next = h.chunks;
  if (h.chunks != nullptr) h.chunks->prev = chunk;
  h.chunks = chunk;
}

// Under the heap's lock.
void return_span(Heap& h, Span* span, bool large) noexcept {
  span->owner = nullptr;
  span->free = nullptr;
  push(h.free_spans[large ? 1 : 0], span);
  ++chunk_of(span)->free_spans;
}

void retire(ThreadLists* lists, Span* span) noexcept {
  unlink(lists->partial[span->size_class], span);
  span->listed = false;
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  return_span(h, span, in_large_span(span->size_class));
}

void make_partial(ThreadLists* lists, Span* span) noexcept {
  span->notify_at = 0;
  span->listed = true;
  push(lists->partial[span->size_class], span);
}

// Returns the blocks that other threads freed to their spans, as if the owner had freed them.
void drain_remote(ThreadLists* lists, void (*emptied)(ThreadLists*, Span*) noexcept) noexcept {
  if (lists->remote.load(std::memory_order_relaxed) == nullptr) return;
  FreeBlock* block = lists->remote.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    FreeBlock* next = block->next;
    Span* span = span_of(block);
    block->next = span->free;
    span->free = block;
    if (--span->used <= span->notify_at) emptied(lists, span);
    block = next;
  }
}

// Sets when the owner must look at a span again. A span without free blocks is in no list: when its
// first block is freed. A span in the list of partial spans: when its last block is freed.
void note_free(ThreadLists* lists, Span* span) noexcept {
  if (!span->listed) make_partial(lists, span);
  if (span->used == 0) retire(lists, span);
}

// The same for lists that have no thread, under the heap's lock.
void note_free_idle(ThreadLists* lists, Span* span) noexcept {
  if (!span->listed) make_partial(lists, span);
  if (span->used != 0) return;
  unlink(lists->partial[span->size_class], span);
  span->listed = false;
  return_span(heap(), span, in_large_span(span->size_class));
}

// Spans that threads left behind and others have emptied since; under the heap's lock.
void reclaim_idle(Heap& h) noexcept {
  for (ThreadLists* lists = h.idle; lists != nullptr; lists = lists->next_idle) {
    drain_remote(lists, note_free_idle);
  }
}

Span* pop_free_span(Heap& h, bool large) noexcept {
  Span*& list = h.free_spans[large ? 1 : 0];
  if (list == nullptr) reclaim_idle(h);
  Span* span = list;
  if (span == nullptr) return nullptr;
  unlink(list, span);
  --chunk_of(span)->free_spans;
  return span;
}

Span* take_span(bool large) {
  Heap& h = heap();
  std::unique_lock lock(h.mutex);
  Span* span = pop_free_span(h, large);
  while (span == nullptr) {
    // The source may call the host for memory, and the host may free tensors: no lock is held.
    const ChunkSource source = h.source;
    lock.unlock();
    if (source.take == nullptr) {
      connect_chunk_source();
      lock.lock();
      continue;
    }
    void* memory = source.take();
    lock.lock();
    add_chunk(h, memory, large);
    span = pop_free_span(h, large);
  }
  return span;
}

void adopt(Span* span, ThreadLists* lists, uint32_t size_class) noexcept {
  Chunk& chunk = *chunk_of(span);
  const auto slot = static_cast<size_t>(span - chunk.spans);
  span->free = nullptr;
  span->used = 0;
  span->notify_at = -1;
  span->owner = lists;
  span->capacity = static_cast<uint32_t>(span_bytes(chunk, slot) / small_class_bytes(size_class));
  span->carved = 0;
  span->size_class = size_class;
  span->listed = false;
}

// Links a few more blocks of a span into its free list: untouched memory stays untouched.
bool carve(Span* span) noexcept {
  if (span->carved == span->capacity) return false;
  const size_t size = small_class_bytes(span->size_class);
  const auto batch = static_cast<uint32_t>(std::max<size_t>(1, kCarveBytes / size));
  const uint32_t end = std::min(span->capacity, span->carved + batch);
  for (uint32_t i = end; i > span->carved; --i) {
    auto* block = reinterpret_cast<FreeBlock*>(span->blocks + (i - 1) * size);
    block->next = span->free;
    span->free = block;
  }
  span->carved = end;
  return true;
}

void leave_to_next_thread(void* argument) noexcept {
  auto* lists = static_cast<ThreadLists*>(argument);
  drain_remote(lists, note_free);
  for (Span*& current : lists->current) {
    Span* span = std::exchange(current, &g_no_span);
    if (span == &g_no_span) continue;
    span->notify_at = INT32_MAX;
    if (span->free != nullptr || span->carved < span->capacity || span->used == 0) {
      note_free(lists, span);
    }
  }
  t_lists = &g_no_lists;
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  lists->next_idle = h.idle;
  h.idle = lists;
}

// The calling thread's lists, taken over from a thread that ended or made afresh.
ThreadLists* adopt_lists() {
  Heap& h = heap();
  std::unique_lock lock(h.mutex);
  if (!h.has_exit_key) {
    h.has_exit_key = pthread_key_create(&h.exit_key, leave_to_next_thread) == 0;
  }
  ThreadLists* lists = h.idle;
  if (lists != nullptr) {
    h.idle = lists->next_idle;
    lists->next_idle = nullptr;
  } else {
    lists = new ThreadLists(&g_no_span);
    lists->next = h.all;
    h.all = lists;
  }
  if (h.has_exit_key) pthread_setspecific(h.exit_key, lists);
  t_lists = lists;
  return lists;
}

Span* next_partial(ThreadLists* lists, uint32_t size_class) noexcept {
  Span* span = lists->partial[size_class];
  if (span == nullptr) return nullptr;
  unlink(lists->partial[size_class], span);
  span->listed = false;
  span->notify_at = -1;
  return span;
}

// Puts `span` in the place of the current one, which has no free block.
void make_current(ThreadLists* lists, Span* span) noexcept {
  Span*& current = lists->current[span->size_class];
  if (current != &g_no_span) {
    current->notify_at = INT32_MAX;
    // While memory for `span` was found the host may have freed blocks, or replaced it already.
    if (current->free != nullptr || current->carved < current->capacity) note_free(lists, current);
  }
  current = span;
}

void drop_empty_spans(ThreadLists* lists) noexcept {
  drain_remote(lists, note_free);
  for (Span*& current : lists->current) {
    if (current == &g_no_span || current->used != 0) continue;
    note_free(lists, std::exchange(current, &g_no_span));
  }
}

}  // namespace

constinit ThreadLists g_no_lists(&g_no_span);
constinit thread_local ThreadLists* t_lists = &g_no_lists;
void (*g_span_taken)() noexcept = nullptr;

void set_chunk_source(const ChunkSource& source) noexcept {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  h.source = source;
}

void* allocate_slow(uint32_t size_class) {
  ThreadLists* lists = t_lists == &g_no_lists ? adopt_lists() : t_lists;
  drain_remote(lists, note_free);
  Span* span = lists->current[size_class];
  if (span->free == nullptr && !carve(span)) {
    span = next_partial(lists, size_class);
    if (span == nullptr) {
      span = take_span(in_large_span(size_class));
      adopt(span, lists, size_class);
      if (g_span_taken != nullptr) g_span_taken();
    }
    if (span->free == nullptr) carve(span);
    make_current(lists, span);
  }
  FreeBlock* block = span->free;
  span->free = block->next;
  ++span->used;
  return block;
}

void free_slow(Span* span) noexcept {
  note_free(span->owner, span);
}

void free_remote(Span* span, FreeBlock* block) noexcept {
  // Only the owner pops, and it takes the whole stack: a plain exchange loop has no ABA problem.
  std::atomic<FreeBlock*>& remote = span->owner->remote;
  FreeBlock* head = remote.load(std::memory_order_relaxed);
  do {
    block->next = head;
  } while (!remote.compare_exchange_weak(head, block, std::memory_order_release,
                                         std::memory_order_relaxed));
}

void count_returned_slow(uint32_t size_class, uint64_t nbytes) noexcept {
  std::atomic<int64_t>* returned = g_no_lists.data.returned;
  returned[0].fetch_add(1, std::memory_order_relaxed);
  returned[1].fetch_add(static_cast<int64_t>(small_class_bytes(size_class)),
                        std::memory_order_relaxed);
  returned[2].fetch_add(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
}

namespace {

// A thread may count at the same moment: then its newest rise shows now or not at all.
void add_counts(DataTotals& totals, DataCounts& counts, bool reset) noexcept {
  for (size_t i = 0; i < kFigures; ++i) {
    const int64_t lent = counts.lent[i].load(std::memory_order_relaxed);
    const int64_t returned = counts.returned[i].load(std::memory_order_relaxed);
    const int64_t high = counts.high[i].load(std::memory_order_relaxed);
    totals.lent[i] += lent;
    totals.returned[i] += returned;
    totals.rise[i] = std::max(totals.rise[i], high - (lent - returned));
    if (reset) counts.high[i].store(lent - returned, std::memory_order_relaxed);
  }
}

DataTotals sum_counts(bool reset) noexcept {
  DataTotals totals;
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  for (ThreadLists* lists = h.all; lists != nullptr; lists = lists->next) {
    add_counts(totals, lists->data, reset);
  }
  for (size_t i = 0; i < kFigures; ++i) {
    totals.returned[i] += g_no_lists.data.returned[i].load(std::memory_order_relaxed);
  }
  return totals;
}

}  // namespace

DataTotals data_totals() noexcept {
  return sum_counts(false);
}
DataTotals take_rise() noexcept {
  return sum_counts(true);
}

uint64_t trim() noexcept {
  Heap& h = heap();
  if (t_lists != &g_no_lists) drop_empty_spans(t_lists);
  Chunk* doomed = nullptr;
  {
    const std::lock_guard lock(h.mutex);
    reclaim_idle(h);
    for (Chunk* chunk = h.chunks; chunk != nullptr;) {
      Chunk* next = chunk->next;
      if (chunk->free_spans == chunk->span_count) {
        const bool large = chunk->slot_mask != ~uint64_t{0};
        for (size_t slot = 0; slot < kChunkBytes / kSlotBytes;
             slot += large ? kLargeSpanSlots : 1) {
          unlink(h.free_spans[large ? 1 : 0], &chunk->spans[slot]);
        }
        (chunk->prev != nullptr ? chunk->prev->next : h.chunks) = next;
        if (next != nullptr) next->prev = chunk->prev;
        chunk->next = doomed;
        doomed = chunk;
      }
      chunk = next;
    }
  }
  uint64_t given_back = 0;
  while (doomed != nullptr) {
    Chunk* next = doomed->next;
    h.source.give_back(doomed);
    given_back += kChunkBytes;
    doomed = next;
  }
  return given_back;
}

int64_t live_blocks() noexcept {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  int64_t live = 0;
  for (const Chunk* chunk = h.chunks; chunk != nullptr; chunk = chunk->next) {
    for (const Span& span : chunk->spans) live += span.used;
  }
  for (const ThreadLists* lists = h.all; lists != nullptr; lists = lists->next) {
    const FreeBlock* block = lists->remote.load(std::memory_order_acquire);
    for (; block != nullptr; block = block->next) --live;
  }
  return live;
}

void visit_chunks(void (*visit)(void* user, const ChunkInfo& chunk), void* user) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  for (const Chunk* chunk = h.chunks; chunk != nullptr; chunk = chunk->next) {
    visit(user, ChunkInfo{chunk, chunk->free_spans, chunk->span_count});
  }
}

namespace {

void verify_span(const ThreadLists* lists, const Span* span) {
  TSR_ASSERT(span->owner == lists, "span has another owner");
  TSR_ASSERT(span->carved <= span->capacity, "span carved beyond its end");
  const size_t size = small_class_bytes(span->size_class);
  uint32_t free_blocks = 0;
  for (const FreeBlock* block = span->free; block != nullptr; block = block->next) {
    const auto offset =
        static_cast<size_t>(reinterpret_cast<const std::byte*>(block) - span->blocks);
    TSR_ASSERT(offset % size == 0 && offset / size < span->carved, "free block out of place");
    TSR_ASSERT(span_of(block) == span, "free block of another span");
    TSR_ASSERT(++free_blocks <= span->carved, "free list runs in a circle");
  }
  // Blocks on the owner's remote stack still count as used.
  TSR_ASSERT(span->used >= 0 && free_blocks + static_cast<uint32_t>(span->used) == span->carved,
             "used ", span->used, " and free ", free_blocks, " of ", span->carved, " blocks");
}

}  // namespace

void verify() {
  const ThreadLists* lists = t_lists;
  if (lists != &g_no_lists) {
    for (uint32_t i = 0; i < kSmallClasses; ++i) {
      const Span* current = lists->current[i];
      TSR_ASSERT(current == &g_no_span || (current->size_class == i && current->notify_at == -1),
                 "current span of another class");
      if (current != &g_no_span) verify_span(lists, current);
      for (const Span* span = lists->partial[i]; span != nullptr; span = span->next) {
        TSR_ASSERT(span->listed && span->size_class == i && span != current, "span listed wrongly");
        TSR_ASSERT(span->used > 0 && span->notify_at == 0, "empty span not given back");
        verify_span(lists, span);
      }
    }
  }
  TSR_ASSERT(g_no_span.free == nullptr && g_no_span.carved == 0, "the empty span was written to");
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  uint64_t listed = 0;
  uint64_t counted = 0;
  for (const Span* list : h.free_spans) {
    for (const Span* span = list; span != nullptr; span = span->next) {
      TSR_ASSERT(span->owner == nullptr && span->used == 0, "free span in use");
      ++listed;
    }
  }
  for (const Chunk* chunk = h.chunks; chunk != nullptr; chunk = chunk->next) {
    counted += chunk->free_spans;
  }
  TSR_ASSERT(listed == counted, "free spans ", listed, ", counted ", counted);
}

}  // namespace tsr::small
