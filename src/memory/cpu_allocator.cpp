// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/cpu_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/cpu_device.h"
#include "base/error.h"
#include "memory/small_heap.h"
#include "memory/tell.h"

namespace tsr {
namespace {

// The first chunks keep small pages, so that a process with few small tensors needs little memory.
// A program with more, such as one with a graph of a million nodes, visits memory in so many places
// that the processor would spend its time on finding pages.
constexpr int32_t kChunksOfSmallPages = 16;
std::atomic<int32_t> g_chunks{0};

void* take_chunk() {
  void* chunk = CpuAllocator::get().caching()->take_segment(small::kChunkBytes);
  if (g_chunks.fetch_add(1, std::memory_order_relaxed) >= kChunksOfSmallPages) {
    madvise(chunk, small::kChunkBytes, MADV_HUGEPAGE);
  }
  return chunk;
}
void give_back_chunk(void* chunk) noexcept {
  g_chunks.fetch_sub(1, std::memory_order_relaxed);
  CpuAllocator::get().caching()->give_back_segment(chunk, small::kChunkBytes);
}
uint64_t lent_by_lists() noexcept {
  const small::DataTotals lists = small::data_totals();
  return static_cast<uint64_t>(std::max<int64_t>(lists.lent[1] - lists.returned[1], 0));
}
void note_span() noexcept {
  CpuAllocator::get().take_peak();
}

// The figures that are sums over the small lists and the pools, and which figure of the lists
// belongs to each.
struct SharedStat {
  PoolStat MemoryStats::*member;
  size_t figure;
};
constexpr SharedStat kShared[] = {
    {&MemoryStats::allocated, 0},       {&MemoryStats::active, 0},
    {&MemoryStats::allocated_bytes, 1}, {&MemoryStats::active_bytes, 1},
    {&MemoryStats::requested_bytes, 2},
};

constexpr auto kSmallPool = static_cast<size_t>(PoolKind::kSmall);

void raise(int64_t& peak, int64_t value) noexcept {
  peak = std::max(peak, value);
}

}  // namespace

CpuAllocator::CpuAllocator() : Allocator(Device{}), core_(Device{}, cpu_device_interface()) {
  core_.set_lent_in_front(lent_by_lists);
  small::set_chunk_source({take_chunk, give_back_chunk});
  small::g_span_taken = note_span;
}

CpuAllocator& CpuAllocator::get() {
  return immortal<CpuAllocator>();
}

void* CpuAllocator::allocate(uint64_t nbytes, StreamHandle stream) {
  if (kSmallListsOff || nbytes > kSmallLimit || nbytes == 0) {
    void* data = core_.allocate(nbytes, stream);
    if (core_.take_new_peak()) take_peak();
    return data;
  }
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  const uint32_t size_class = small_class(nbytes);
  void* data = small::allocate(size_class);
  small::count_lent(size_class, nbytes);
  tell_allocated(*this, *core_.history(), nbytes, data);
  return data;
}

void CpuAllocator::deallocate(void* block, uint64_t nbytes) noexcept {
  if (block == nullptr) return;
  if (kSmallListsOff || nbytes > kSmallLimit) return core_.deallocate(block, nbytes);
  tell_freed(*this, *core_.history(), nbytes, block);
  small::count_returned(small_class(nbytes), nbytes);
  small::release(block);
}

uint64_t CpuAllocator::trim(uint64_t keep) {
  const uint64_t held = static_cast<uint64_t>(core_.stats().reserved_bytes.all.current);
  const uint64_t from_lists = held > keep ? small::trim() : 0;
  return from_lists + core_.trim(keep);
}

// Raises the peaks to what may have been reached since the last update.
void CpuAllocator::take_peak() const noexcept {
  const MemoryStats pools = core_.stats();
  const small::DataTotals lists = small::take_rise();
  const std::lock_guard lock(mutex_);
  for (const SharedStat& row : kShared) {
    const PoolStat& now = pools.*row.member;
    PoolStat& best = peaks_.*row.member;
    const size_t i = row.figure;
    const int64_t high = lists.lent[i] - lists.returned[i] + lists.rise[i];
    raise(best.all.peak, now.all.current + high);
    raise(best.pool[kSmallPool].peak, now.pool[kSmallPool].current + high);
  }
}

MemoryStats CpuAllocator::stats() const {
  take_peak();
  MemoryStats stats = core_.stats();
  const small::DataTotals lists = small::data_totals();
  const std::lock_guard lock(mutex_);
  for (const SharedStat& row : kShared) {
    PoolStat& stat = stats.*row.member;
    const PoolStat& best = peaks_.*row.member;
    for (Stat* part : {&stat.all, &stat.pool[kSmallPool]}) {
      part->current += lists.lent[row.figure] - lists.returned[row.figure];
      part->allocated += lists.lent[row.figure];
      part->freed += lists.returned[row.figure];
    }
    raise(stat.all.peak, std::max(best.all.peak, stat.all.current));
    raise(stat.pool[kSmallPool].peak,
          std::max(best.pool[kSmallPool].peak, stat.pool[kSmallPool].current));
  }
  return stats;
}

void CpuAllocator::reset_peak() {
  core_.reset_peak();
  (void)small::take_rise();
  const std::lock_guard lock(mutex_);
  peaks_ = MemoryStats{};
}

std::string CpuAllocator::snapshot() const {
  std::string chunks;
  small::visit_chunks(
      [](void* user, const small::ChunkInfo& chunk) {
        auto& text = *static_cast<std::string*>(user);
        text += concat(", {\"address\": ", reinterpret_cast<uintptr_t>(chunk.data),
                       ", \"total_size\": ", small::kChunkBytes,
                       ", \"stream\": 0, \"segment_type\": \"thread_lists\", \"spans\": ",
                       chunk.span_count, ", \"free_spans\": ", chunk.free_spans, "}");
      },
      &chunks);
  std::string segments = core_.segments_json();
  if (segments == "[]" && !chunks.empty()) chunks.erase(0, 2);
  segments.insert(segments.size() - 1, chunks);
  return concat("{\"version\": 2, \"device\": \"", device(), "\", \"stats\": ", stats().to_json(),
                ", \"segments\": ", segments, ", ", core_.history_members(), "}");
}

void CpuAllocator::verify() const {
  core_.verify();
  small::verify();
}

void small::connect_chunk_source() {
  CpuAllocator::get();
}

// ---- Objects that the lists do not serve ----

namespace {
std::atomic<int64_t> g_large_objects{0};
}  // namespace

void* large_object_allocate(size_t nbytes) {
  const size_t rounded = (nbytes + kSmallAlignment - 1) / kSmallAlignment * kSmallAlignment;
  void* data = rounded < nbytes ? nullptr : std::aligned_alloc(kSmallAlignment, rounded);
  TSR_CHECK(data != nullptr, Code::kOutOfMemory, nullptr, "out of memory on cpu: asked for ",
            nbytes, " bytes for an object");
  g_large_objects.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void large_object_free(void* data) noexcept {
  g_large_objects.fetch_sub(1, std::memory_order_relaxed);
  std::free(data);
}

int64_t live_large_objects() noexcept {
  return g_large_objects.load(std::memory_order_relaxed);
}

}  // namespace tsr
