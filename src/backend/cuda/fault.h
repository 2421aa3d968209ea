// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What kernels find wrong in their arguments: an index out of range, an integer division by zero.
//
// Note [Faults]
// A call that queues a kernel does not wait for what the kernel finds. The kernel writes it into a
// word of pinned memory, one per stream, computes zeros in place of what is wrong, and writes
// nothing by an index at all. The next wait that the user asks for finds the word and fails with
// kAsync. The first fault stays until it is told; with TSR_DEBUG=sync the call itself tells it.
#pragma once

#include "backend/cuda/host.h"

namespace tsr::cuda {

// A position is an index that does not count from the end.
enum class FaultKind : int32_t { kIndex, kPosition, kTarget, kOperand };

// One per stream, in memory that host and device see. Several threads may write at once: all write
// the same, but for the numbers found, each of which is as good as another.
struct Fault {
  static constexpr int kPlaces = 8;

  int32_t state;  // 1 when all the rest is written
  FaultKind kind;
  const char* what;  // the op, or the sentence of kOperand; text of the plugin
  int32_t found[kPlaces];
  int64_t number[kPlaces];  // what was out of range
  int64_t size[kPlaces];
  int64_t axis[kPlaces];
};

// Goes to kernels by value.
struct Reporter {
  Fault* fault = nullptr;
  FaultKind kind = FaultKind::kOperand;
  const char* what = nullptr;
};

// A reporter for the stream; fails when there is no pinned memory for its word.
kernel::Status reporter_for(kernel::Place place, FaultKind kind, const char* what,
                            Reporter& reporter) noexcept;

// Takes a fault of the device's streams, of work that has been waited for. Its text is this
// thread's; null when there was none.
const char* take_fault(int32_t device) noexcept;
const char* last_fault() noexcept;
// The same as the status of the call that waited, as the op itself would have refused it.
kernel::Status fault_status(kernel::Place place) noexcept;

}  // namespace tsr::cuda
