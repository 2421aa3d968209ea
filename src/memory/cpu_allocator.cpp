// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/cpu_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/cpu_device.h"
#include "base/error.h"
#include "base/trace.h"
#include "memory/small_heap.h"

namespace tsr {
namespace {

void* take_chunk() {
  return CpuAllocator::get().caching()->take_segment(small::kChunkBytes);
}
void give_back_chunk(void* chunk) noexcept {
  CpuAllocator::get().caching()->give_back_segment(chunk, small::kChunkBytes);
}
void note_peak() noexcept {
  try {
    (void)CpuAllocator::get().stats();
  } catch (...) {
    // A peak is missed; the allocation goes on.
  }
}

// Where both the lists and the pools have a part.
constexpr PoolStat MemoryStats::*kShared[] = {
    &MemoryStats::allocated,    &MemoryStats::allocated_bytes, &MemoryStats::active,
    &MemoryStats::active_bytes, &MemoryStats::requested_bytes,
};

void add_lists(PoolStat& stat, uint64_t lent, uint64_t returned) noexcept {
  for (Stat* part : {&stat.all, &stat.pool[static_cast<size_t>(PoolKind::kSmall)]}) {
    part->current += static_cast<int64_t>(lent - returned);
    part->allocated += static_cast<int64_t>(lent);
    part->freed += static_cast<int64_t>(returned);
  }
}

}  // namespace

CpuAllocator::CpuAllocator() : Allocator(Device{}), core_(Device{}, cpu_device_interface()) {
  small::set_chunk_source({take_chunk, give_back_chunk});
  small::g_span_taken = note_peak;
}

CpuAllocator& CpuAllocator::get() {
  alignas(CpuAllocator) static std::byte storage[sizeof(CpuAllocator)];
  static CpuAllocator* const instance = new (storage) CpuAllocator;
  return *instance;
}

void* CpuAllocator::allocate(uint64_t nbytes, StreamHandle stream) {
  if (kSmallListsOff || nbytes > kSmallLimit || nbytes == 0) {
    return core_.allocate(nbytes, stream);
  }
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  const uint32_t size_class = small_class(nbytes);
  void* data = small::allocate(size_class);
  small::count_lent(size_class, nbytes);
  trace(TracePoint::kAllocate, "memory", nbytes, data);
  return data;
}

void CpuAllocator::deallocate(void* block, uint64_t nbytes) noexcept {
  if (block == nullptr) return;
  if (kSmallListsOff || nbytes > kSmallLimit) return core_.deallocate(block, nbytes);
  trace(TracePoint::kFree, "memory", nbytes, block);
  small::count_returned(small_class(nbytes), nbytes);
  small::release(block);
}

uint64_t CpuAllocator::trim(uint64_t keep) {
  const uint64_t held = static_cast<uint64_t>(core_.stats().reserved_bytes.all.current);
  const uint64_t from_lists = held > keep ? small::trim() : 0;
  return from_lists + core_.trim(keep);
}

// The figures now, with the peaks of the pools.
MemoryStats CpuAllocator::sample() const {
  MemoryStats stats = core_.stats();
  const small::DataTotals lists = small::data_totals();
  add_lists(stats.allocated, lists.blocks_lent, lists.blocks_returned);
  add_lists(stats.allocated_bytes, lists.bytes_lent, lists.bytes_returned);
  add_lists(stats.active, lists.blocks_lent, lists.blocks_returned);
  add_lists(stats.active_bytes, lists.bytes_lent, lists.bytes_returned);
  add_lists(stats.requested_bytes, lists.requested_lent, lists.requested_returned);
  return stats;
}

MemoryStats CpuAllocator::stats() const {
  MemoryStats stats = sample();
  const std::lock_guard lock(mutex_);
  for (const auto member : kShared) {
    PoolStat& now = stats.*member;
    PoolStat& peak = peaks_.*member;
    const auto raise = [](Stat& stat, Stat& best) {
      best.peak = std::max({best.peak, stat.current, stat.peak});
      stat.peak = best.peak;
    };
    raise(now.all, peak.all);
    for (size_t i = 0; i < now.pool.size(); ++i) raise(now.pool[i], peak.pool[i]);
  }
  return stats;
}

void CpuAllocator::reset_peak() {
  core_.reset_peak();
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
  return concat("{\"device\": \"", device(), "\", \"stats\": ", stats().to_json(),
                ", \"segments\": ", segments, ", \"history\": ", core_.history_json(), "}");
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
