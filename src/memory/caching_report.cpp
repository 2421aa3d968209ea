// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the caching allocator tells about itself: statistics, snapshot, invariants.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/caching_allocator.h"
#include "memory/sizes.h"

namespace tsr {
namespace {

const char* state_name(const Block& block) noexcept {
  if (block.lent) return "active_allocated";
  return block.pending > 0 ? "active_pending_free" : "inactive";
}

uintptr_t address(const void* data) noexcept {
  return reinterpret_cast<uintptr_t>(data);
}

void append_block(std::string& json, const Block& block) {
  json += concat("{\"address\": ", address(block.data), ", \"size\": ", block.size,
                 ", \"requested_size\": ", block.lent ? block.requested : 0, ", \"state\": \"",
                 state_name(block), "\"}");
}

void append_segment(std::string& json, const Segment& segment) {
  uint64_t allocated = 0;
  uint64_t active = 0;
  std::string blocks;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    if (block->lent) allocated += block->size;
    if (!block->is_free()) active += block->size;
    if (!blocks.empty()) blocks += ", ";
    append_block(blocks, *block);
  }
  const BlockPool& pool = *segment.first->pool;
  json += concat("{\"address\": ", address(segment.data), ", \"total_size\": ", segment.size,
                 ", \"stream\": ", address(pool.stream), ", \"segment_type\": \"",
                 pool.kind == PoolKind::kSmall ? "small" : "large",
                 "\", \"allocated_size\": ", allocated, ", \"active_size\": ", active,
                 ", \"blocks\": [", blocks, "]}");
}

bool same_current(const PoolStat& a, const PoolStat& b) noexcept {
  return a.all.current == b.all.current && a.pool[0].current == b.pool[0].current &&
         a.pool[1].current == b.pool[1].current;
}

}  // namespace

MemoryStats CachingAllocator::stats() const {
  const CachingLock lock(state_.mutex);
  return state_.stats;
}

void CachingAllocator::reset_peak() {
  const CachingLock lock(state_.mutex);
  state_.stats.reset_peak();
}

void CachingAllocator::start_history(const HistoryOptions& options) {
  {
    const CachingLock lock(state_.mutex);
    state_.history.start(options.entries);
  }
  state_.blocks.start(options);
}

void CachingAllocator::stop_history() noexcept {
  state_.blocks.stop();
  const CachingLock lock(state_.mutex);
  state_.history.stop();
}

std::string CachingAllocator::segments_json() const {
  const CachingLock lock(state_.mutex);
  std::string json = "[";
  for (const Segment* segment = segments_.first(); segment != nullptr; segment = segment->next) {
    if (segment != segments_.first()) json += ", ";
    append_segment(json, *segment);
  }
  return json + "]";
}

void* CachingAllocator::segment_of(const void* block) const {
  const CachingLock lock(state_.mutex);
  const auto* at = static_cast<const std::byte*>(block);
  for (const Segment* segment = segments_.first(); segment != nullptr; segment = segment->next) {
    if (at >= segment->data && at < segment->data + segment->size)
      return segment->reserved == 0 ? segment->data : nullptr;
  }
  return nullptr;
}

std::string CachingAllocator::history_members() const {
  std::vector<HistoryEntry> of_segments;
  {
    const CachingLock lock(state_.mutex);
    of_segments = state_.history.entries();
  }
  return state_.blocks.snapshot_members(std::move(of_segments));
}

std::string CachingAllocator::snapshot() const {
  return concat("{\"version\": 2, \"device\": \"", device(), "\", \"stats\": ", stats().to_json(),
                ", \"segments\": ", segments_json(), ", ", history_members(), "}");
}

FreeAndLent CachingAllocator::free_and_lent() const noexcept {
  constexpr size_t kNamed = 10;
  FreeAndLent now;
  try {
    std::map<uint64_t, uint64_t, std::greater<>> lent;  // size -> count
    for (const Segment* segment = segments_.first(); segment != nullptr; segment = segment->next) {
      for (const Block* block = segment->first; block != nullptr; block = block->next) {
        if (block->is_free()) now.largest_free = std::max(now.largest_free, block->size);
        if (block->lent) ++lent[block->requested];
      }
    }
    std::vector<std::pair<uint64_t, uint64_t>> sums;  // bytes of all blocks of a size, the size
    for (const auto& [size, count] : lent) sums.emplace_back(size * count, size);
    std::stable_sort(sums.begin(), sums.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (sums.size() > kNamed) sums.resize(kNamed);
    for (const auto& [nbytes, size] : sums) {
      now.largest_lent += now.largest_lent.empty() ? "; most is in blocks of " : ", ";
      now.largest_lent += concat(in_bytes(size), " (", nbytes / size, ")");
    }
  } catch (...) {  // no memory for the text
    now.largest_lent.clear();
  }
  return now;
}

// ---- Invariants ----

void CachingAllocator::verify() const {
  const CachingLock lock(state_.mutex);
  const MemoryStats& stats = state_.stats;
  MemoryStats sums;
  uint64_t free_blocks = 0;
  segments_.verify(sums, free_blocks);
  TSR_ASSERT(same_current(sums.allocated, stats.allocated), "allocated miscounted");
  TSR_ASSERT(same_current(sums.allocated_bytes, stats.allocated_bytes), "allocated_bytes wrong");
  TSR_ASSERT(same_current(sums.requested_bytes, stats.requested_bytes), "requested_bytes wrong");
  TSR_ASSERT(same_current(sums.active, stats.active), "active miscounted");
  TSR_ASSERT(same_current(sums.active_bytes, stats.active_bytes), "active_bytes wrong");
  TSR_ASSERT(same_current(sums.inactive_split, stats.inactive_split), "inactive_split wrong");
  TSR_ASSERT(same_current(sums.inactive_split_bytes, stats.inactive_split_bytes),
             "inactive_split_bytes wrong");
  TSR_ASSERT(sums.oversize_allocations.current == stats.oversize_allocations.current,
             "oversize_allocations wrong");
  TSR_ASSERT(sums.oversize_segments.current == stats.oversize_segments.current,
             "oversize_segments wrong");
  TSR_ASSERT(blocks_.lent_count() == static_cast<uint64_t>(sums.allocated.all.current),
             "lent blocks miscounted");
  blocks_.verify(free_blocks);
  deferred_.verify();
  limits_.verify();
}

}  // namespace tsr
