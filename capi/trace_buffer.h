// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TraceBuffer: keeps finished trace events until they are read, with descriptions of the arguments.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/trace.h"
#include "tessera/tessera.h"

namespace tsr::capi {

// Leaves out the arguments.
tsr_trace_event to_public(const TraceEvent& event) noexcept;

// A malloc'ed block that begins with the event's values. Tensors are described by dtype and sizes;
// lists and texts are copied. Null if there are no arguments or no memory.
void* describe_arguments(const TraceEvent& event) noexcept;

// A ring buffer of fixed capacity. The caller must hold a lock.
class TraceBuffer {
 public:
  explicit TraceBuffer(size_t capacity = 0) : slots_(capacity) {}
  void swap(TraceBuffer& other) noexcept;

  // Takes over *kept, the block of describe_arguments, if there is one. If the buffer is full,
  // counts the event as lost.
  void add(const TraceEvent& event, void** kept) noexcept;
  // Moves the oldest events to an array whose elements have `stride` bytes, and returns their
  // number. Their arguments live until the next call.
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
