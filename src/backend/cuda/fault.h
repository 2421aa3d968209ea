// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What kernels find wrong in their arguments: an index out of range, an integer division by zero.
//
// Note [Faults]
// A call that queues a kernel does not wait for the kernel's findings. A kernel that finds a wrong
// argument writes a fault into pinned memory (one Fault per stream), uses zeros in place of the
// wrong elements, and writes nothing by index. The next wait that the user asks for finds the fault
// and fails with kAsync. The first fault stays until it is reported; with TSR_DEBUG=sync the call
// itself reports it. A wait for one stream takes the faults of all streams of the device, so a
// kernel that still runs on another one may write its fault again, and a later wait reports it a
// second time.
#pragma once

#include "backend/cuda/host.h"

namespace tsr::cuda {

// kPosition: an index that may not be negative.
enum class FaultKind : int32_t { kIndex, kPosition, kTarget, kOperand };

// One per stream, in memory that host and device see. Several threads may write at once: they write
// the same values except for the numbers found, of which any one will do.
struct Fault {
  static constexpr int kPlaces = 8;

  int32_t state;  // 1 once all other members are written
  FaultKind kind;
  const char* what;  // the op, or the sentence of kOperand; text of the plugin
  int32_t found[kPlaces];
  int64_t number[kPlaces];  // what was out of range
  int64_t size[kPlaces];
  int64_t axis[kPlaces];
};

// Passed to kernels by value.
struct Reporter {
  Fault* fault = nullptr;
  FaultKind kind = FaultKind::kOperand;
  const char* what = nullptr;
};

// A reporter for the stream; fails when there is no pinned memory for its word.
kernel::Status reporter_for(kernel::Place place, FaultKind kind, const char* what,
                            Reporter& reporter) noexcept;

// Takes a fault of the device's streams, after waiting for their work. The text belongs to this
// thread; null if there was no fault.
const char* take_fault(int32_t device) noexcept;
const char* last_fault() noexcept;
// Takes a fault as the status of the call that waited, with the code that the op itself would
// return.
kernel::Status fault_status(kernel::Place place) noexcept;

}  // namespace tsr::cuda
