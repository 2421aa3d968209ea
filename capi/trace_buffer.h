// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TraceBuffer: finished trace events until they are read, with the arguments of calls described.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/trace.h"
#include "tessera/tessera.h"

namespace tsr::capi {

// Without arguments.
tsr_trace_event to_public(const TraceEvent& event) noexcept;

// A block of malloc that begins with the event's values; tensors are described by their dtypes and
// sizes, lists and texts are copied. Null when there are none or no memory.
void* describe_arguments(const TraceEvent& event) noexcept;

// A ring of fixed capacity. The caller locks.
class TraceBuffer {
 public:
  explicit TraceBuffer(size_t capacity = 0) : slots_(capacity) {}
  void swap(TraceBuffer& other) noexcept;

  // Takes over *kept, the block of describe_arguments, when there is one. A full buffer counts the
  // event as lost.
  void add(const TraceEvent& event, void** kept) noexcept;
  // Moves the oldest events to an array whose elements have `stride` bytes; their arguments live
  // until the next call. Returns how many.
  int32_t take(tsr_trace_event* events, uint32_t stride, int32_t room);
  int64_t take_lost() noexcept;

 private:
  struct Free {
    void operator()(void* block) const noexcept { std::free(block); }
  };
  using Block = std::unique_ptr<void, Free>;
  struct Slot {
    tsr_trace_event event;
    Block args;
  };

  std::vector<Slot> slots_;
  std::vector<Block> lent_;
  size_t first_ = 0;
  size_t size_ = 0;
  int64_t lost_ = 0;
};

}  // namespace tsr::capi
