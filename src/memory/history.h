// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// History: the last events of an allocator, in rings that recording never makes larger, and what
// is known of the blocks that are lent.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/dtype.h"
#include "base/guarded_mutex.h"
#include "memory/history_context.h"

namespace tsr {

enum class HistoryAction : uint8_t {
  kAllocate,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAllocate,
  kSegmentFree,
  kOutOfMemory,
};

struct HistoryEntry {
  HistoryAction action{};
  const void* data = nullptr;
  uint64_t nbytes = 0;  // of a block: what was asked for
  StreamHandle stream = nullptr;
  int64_t time_ns = 0;  // of CLOCK_MONOTONIC, like trace events
  HistoryContext context;
};

// Note [Memory history]
// While an allocator records, every block that it lends is noted with the operation that asked for
// it: the spans that are open on the thread (base/trace.h). If stacks are wanted, the host's call
// stack is noted too. A listener without work of its own makes the spans, so that nothing is tested
// on the allocator's way while nobody records: tell_allocated and tell_freed use the test of the
// trace, and a tensor tells its shape on the way that debug_flags() opens.
//
// There are two rings. Blocks are noted outside the allocator's lock, because the host may be asked
// for its stack. What happens to segments is noted under that lock. A report merges both by time.

// The ring for events under the lock of an allocator, which guards it.
class SegmentHistory {
 public:
  // Keeps the last `entries` events; what was recorded is dropped.
  void start(size_t entries);
  void stop() noexcept { running_ = false; }

  void add(HistoryAction action, const void* data, uint64_t nbytes, StreamHandle stream) noexcept {
    if (running_) [[unlikely]]
      put(action, data, nbytes, stream);
  }
  [[nodiscard]] std::vector<HistoryEntry> entries() const;

 private:
  void put(HistoryAction action, const void* data, uint64_t nbytes, StreamHandle stream) noexcept;

  std::vector<HistoryEntry> ring_;
  uint64_t count_ = 0;
  bool running_ = false;
};

struct HistoryOptions {
  size_t entries = 100'000;
  bool operations = true;     // note the operation of each block
  uint32_t stack_frames = 0;  // of the host's stack, innermost first; 0: none
};

// Live blocks that one operation asked for at one place of the host's program.
struct MemoryHolder {
  uint32_t operation = kNoText;
  uint32_t stack = kNoText;
  uint32_t shape = kNoText;  // of the largest block
  uint64_t nbytes = 0;
  uint64_t count = 0;
  uint64_t largest = 0;
};

// The blocks of one allocator. Has a lock of its own; the host runs in `allocated` only, without
// it.
class MemoryHistory {
 public:
  MemoryHistory() = default;
  MemoryHistory(const MemoryHistory&) = delete;
  MemoryHistory& operator=(const MemoryHistory&) = delete;
  ~MemoryHistory() { stop(); }

  // Begins anew when it is recording already. Throws bad_alloc.
  void start(const HistoryOptions& options);
  // What was recorded stays, except for what is known of live blocks.
  void stop() noexcept;
  // Whether blocks are noted now.
  [[nodiscard]] bool running() const noexcept { return running_.load(std::memory_order_relaxed); }

  // A block was lent; one is about to be given back; one could not be had.
  void allocated(const void* data, uint64_t nbytes, StreamHandle stream) noexcept;
  void freed(const void* data, uint64_t nbytes) noexcept;
  void out_of_memory(uint64_t nbytes) noexcept;
  // The block holds a tensor of this dtype and shape.
  void describe(const void* data, DType dtype, std::span<const int64_t> sizes) noexcept;

  // The largest first, at most `most`.
  [[nodiscard]] std::vector<MemoryHolder> holders(size_t most) const;
  // The same as a JSON array.
  [[nodiscard]] std::string holders_json(size_t most) const;
  // The same in lines for an error, each after a line break; empty when nothing is known. Never
  // throws: without memory for the text there is none.
  [[nodiscard]] std::string holders_text(size_t most) const noexcept;

  // The members of a snapshot that the history gives: "history" (these and its own entries,
  // merged), "live", "operations", "stacks", "recording".
  [[nodiscard]] std::string snapshot_members(std::vector<HistoryEntry> of_segments) const;

 private:
  struct Live {
    uint64_t nbytes = 0;
    StreamHandle stream = nullptr;
    int64_t time_ns = 0;
    uint64_t entry = 0;  // its number in the ring
    HistoryContext context;
  };
  [[nodiscard]] HistoryContext context() const noexcept;  // of the calling thread
  // Under the lock.
  void put(const HistoryEntry& entry) noexcept;
  [[nodiscard]] std::vector<MemoryHolder> all_holders() const;

  std::atomic<bool> running_{false};
  mutable GuardedMutex mutex_;
  std::atomic<bool> operations_{true};
  std::atomic<bool> stacks_{false};
  std::vector<HistoryEntry> ring_;
  uint64_t count_ = 0;
  uint64_t lost_ = 0;  // blocks for which there was no memory
  std::unordered_map<const void*, Live> live_;
};

}  // namespace tsr
