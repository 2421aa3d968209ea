// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Allocator: where the memory of tensors comes from, one per device.
#pragma once

#include <cstdint>

#include "base/device.h"
#include "base/device_interface.h"

namespace tsr {

class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator() = default;

  // A block of at least `nbytes` (not 0), for use on `stream`. Throws kOutOfMemory. Any thread.
  virtual void* allocate(uint64_t nbytes, StreamHandle stream) = 0;
  // Gives a block back with the size that was asked for. Any thread, also from a finalizer: no
  // callback, no device synchronisation.
  virtual void deallocate(void* block, uint64_t nbytes) noexcept = 0;
  // `stream` also uses the block: it is not reused before the work queued there now has finished.
  virtual void record_stream(void* block, StreamHandle stream) = 0;
};

// The allocator of a device; throws kDevice when no backend serves it. The reference stays valid
// for the life of the process.
Allocator& allocator_for(Device device);
// Sets the allocator of a device before its first use; it must outlive the process' last tensor.
void set_allocator(Device device, Allocator& allocator);

}  // namespace tsr
