// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/history.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "memory/tell.h"

namespace tsr {
namespace {

int64_t now() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

// ---- Segments ----

void SegmentHistory::start(size_t entries) {
  ring_ = std::vector<HistoryEntry>(entries);
  count_ = 0;
  running_ = entries > 0;
}

void SegmentHistory::put(HistoryAction action, const void* data, uint64_t nbytes,
                         StreamHandle stream) noexcept {
  ring_[count_++ % ring_.size()] = HistoryEntry{action, data, nbytes, stream, now(), {}};
}

std::vector<HistoryEntry> SegmentHistory::entries() const {
  if (count_ <= ring_.size())
    return {ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(count_)};
  return ring_;
}

// ---- Blocks ----

// No lock is held while another one is taken: begin_history and end_history have their own.
void MemoryHistory::start(const HistoryOptions& options) {
  std::vector<HistoryEntry> ring(options.entries);
  stop();
  begin_history(options.stack_frames);
  bool was_running = false;
  bool had_stacks = false;
  {
    const std::lock_guard lock(mutex_);
    had_stacks = stacks_.exchange(options.stack_frames > 0);
    operations_.store(options.operations);
    ring_.swap(ring);
    live_.clear();
    count_ = lost_ = 0;
    was_running = running_.exchange(true);
  }
  if (was_running) end_history(had_stacks);  // another thread started it meanwhile
}

void MemoryHistory::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!running_.exchange(false)) return;
    live_.clear();
  }
  end_history(stacks_.load());
}

HistoryContext MemoryHistory::context() const noexcept {
  return history_context(operations_.load(std::memory_order_relaxed),
                         stacks_.load(std::memory_order_relaxed));
}

void MemoryHistory::put(const HistoryEntry& entry) noexcept {
  if (!ring_.empty()) ring_[count_++ % ring_.size()] = entry;
}

void MemoryHistory::allocated(const void* data, uint64_t nbytes, StreamHandle stream) noexcept {
  if (!running()) return;
  const HistoryContext by = context();
  const int64_t time = now();
  const std::lock_guard lock(mutex_);
  if (!running()) return;
  try {
    live_[data] = Live{nbytes, stream, time, count_, by};
  } catch (...) {  // no memory
    ++lost_;
  }
  put({HistoryAction::kAllocate, data, nbytes, stream, time, by});
}

void MemoryHistory::freed(const void* data, uint64_t nbytes) noexcept {
  if (!running()) return;
  const int64_t time = now();
  const std::lock_guard lock(mutex_);
  if (!running()) return;
  HistoryEntry entry{HistoryAction::kFreeRequested, data, nbytes, nullptr, time, {}};
  const auto found = live_.find(data);
  if (found != live_.end()) {
    entry.stream = found->second.stream;
    entry.context = found->second.context;
    live_.erase(found);
  }
  put(entry);
}

void MemoryHistory::out_of_memory(uint64_t nbytes) noexcept {
  if (!running()) return;
  const HistoryContext by = context();
  const std::lock_guard lock(mutex_);
  if (running()) put({HistoryAction::kOutOfMemory, nullptr, nbytes, nullptr, now(), by});
}

void MemoryHistory::describe(const void* data, DType dtype,
                             std::span<const int64_t> sizes) noexcept {
  if (!running()) return;
  uint32_t shape = kNoText;
  try {
    shape = history_text(concat(dtype, sizes));
  } catch (...) {  // no memory for the text
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(data);
  if (found == live_.end()) return;
  found->second.context.shape = shape;
  const uint64_t entry = found->second.entry;
  if (count_ - entry <= ring_.size()) ring_[entry % ring_.size()].context.shape = shape;
}

// ---- Who holds the memory ----

std::vector<MemoryHolder> MemoryHistory::all_holders() const {
  std::map<std::pair<uint32_t, uint32_t>, MemoryHolder> sums;
  for (const auto& [data, live] : live_) {
    const HistoryContext& by = live.context;
    MemoryHolder& holder = sums[{by.operation, by.stack}];
    holder.operation = by.operation;
    holder.stack = by.stack;
    holder.nbytes += live.nbytes;
    ++holder.count;
    if (live.nbytes < holder.largest) continue;
    holder.largest = live.nbytes;
    holder.shape = by.shape;
  }
  std::vector<MemoryHolder> holders;
  for (const auto& [key, holder] : sums) holders.push_back(holder);
  return holders;
}

std::vector<MemoryHolder> MemoryHistory::holders(size_t most) const {
  std::vector<MemoryHolder> holders;
  {
    const std::lock_guard lock(mutex_);
    holders = all_holders();
  }
  std::stable_sort(
      holders.begin(), holders.end(),
      [](const MemoryHolder& a, const MemoryHolder& b) { return a.nbytes > b.nbytes; });
  if (holders.size() > most) holders.resize(most);
  return holders;
}

namespace detail {

void tell_allocated(const Allocator& allocator, MemoryHistory& history, uint64_t nbytes,
                    const void* block, StreamHandle stream) noexcept {
  trace_memory(TraceKind::kAllocate, allocator.device(), nbytes, block, stream);
  history.allocated(block, nbytes, stream);
}

void tell_freed(const Allocator& allocator, MemoryHistory& history, uint64_t nbytes,
                const void* block) noexcept {
  trace_memory(TraceKind::kFree, allocator.device(), nbytes, block);
  history.freed(block, nbytes);
}

}  // namespace detail
}  // namespace tsr
