// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Storage: one block of memory that tensors share, with the version counter that in-place writes
// raise.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/dtype.h"
#include "base/intrusive_ptr.h"

namespace tsr {

struct Storage final : Object {
  static constexpr bool kNeverWeak = true;

  // Gives `data` back to its owner. Runs once, on the thread that drops the last reference.
  using Deleter = void (*)(void* context, void* data, uint64_t nbytes) noexcept;

  Storage(Device where, void* block, uint64_t size, Deleter drop, void* drop_context) noexcept
      : Object(ObjectTag::kStorage),
        device(where),
        data(block),
        nbytes(size),
        deleter(drop),
        context(drop_context) {}

  static void* operator new(size_t size);
  static void operator delete(void* block, size_t size) noexcept;
  static void destroy(Storage* storage) noexcept;

  Device device;
  // Counts in-place writes through any tensor of this storage. A saved tensor compares it with the
  // count when it was saved.
  std::atomic<uint32_t> version{0};
  bool read_only =
      false;  // a foreign block that must not be written, such as a read-only DLPack import
  bool foreign = false;  // memory not of our allocator
  // Arrays of other libraries that use the memory at this address, see lend_storage.
  std::atomic<uint16_t> lent{0};
  void* data;
  uint64_t nbytes;
  Deleter deleter;
  void* context;
};

using StoragePtr = IntrusivePtr<Storage>;

// A fresh block for the thread's current stream from the device's allocator, contents undefined.
// Throws kOutOfMemory.
StoragePtr allocate_storage(Device device, uint64_t nbytes);

// A block of the host's memory pinned for `device`, which is not the CPU (Note [Pinned memory]).
StoragePtr allocate_pinned_storage(Device device, uint64_t nbytes);
// The device that the memory is pinned for; the CPU when it is ordinary memory.
[[nodiscard]] Device pinned_for(const Storage& storage) noexcept;

// Tells the allocator's history what the memory holds. Does nothing for foreign memory.
void describe_storage(const Storage& storage, DType dtype, std::span<const int64_t> sizes) noexcept;

// Says that another stream uses the memory too: after it is given back, it is not lent again until
// the work that was queued on that stream by then is done. Throws kNotImplemented for foreign
// memory.
void record_stream(const Storage& storage, StreamHandle stream);

// An array of another library uses the memory until give_back_storage: until then it does not move.
// Beyond 65534 arrays at a time it never moves again.
void lend_storage(Storage& storage) noexcept;
void give_back_storage(Storage& storage) noexcept;

// Foreign memory; `deleter` may be null when the caller keeps the memory alive by other means.
StoragePtr wrap_storage(Device device, void* data, uint64_t nbytes, Storage::Deleter deleter,
                        void* context);

}  // namespace tsr
