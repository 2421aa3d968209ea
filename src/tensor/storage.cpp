// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/storage.h"

#include "base/error.h"
#include "memory/allocator.h"
#include "memory/history.h"
#include "memory/pinned.h"
#include "memory/small_alloc.h"
#include "memory/stream.h"
#include "tensor/shared_storage.h"

namespace tsr {
namespace {

// Pinned memory is known by its deleter.
void return_pinned(void* context, void* data, uint64_t nbytes) noexcept {
  static_cast<CachingAllocator*>(context)->deallocate(data, nbytes);
}

void return_to_allocator(void* context, void* data, uint64_t nbytes) noexcept {
  static_cast<Allocator*>(context)->deallocate(data, nbytes);
}

}  // namespace

void* Storage::operator new(size_t size) {
  return small_allocate(size);
}
void Storage::operator delete(void* block, size_t size) noexcept {
  small_free(block, size);
}

void Storage::destroy(Storage* storage) noexcept {
  if (storage->deleter != nullptr)
    storage->deleter(storage->context, storage->data, storage->nbytes);
  else if (storage->context != nullptr && !release_shared(*storage))
    return;
  storage->tag = ObjectTag::kDead;
  delete storage;
}

void lend_storage(Storage& storage) noexcept {
  uint16_t count = storage.lent.load(std::memory_order_relaxed);
  while (count != UINT16_MAX &&
         !storage.lent.compare_exchange_weak(count, static_cast<uint16_t>(count + 1),
                                             std::memory_order_relaxed)) {
  }
}

void give_back_storage(Storage& storage) noexcept {
  uint16_t count = storage.lent.load(std::memory_order_relaxed);
  while (count != UINT16_MAX && count != 0 &&
         !storage.lent.compare_exchange_weak(count, static_cast<uint16_t>(count - 1),
                                             std::memory_order_relaxed)) {
  }
}

StoragePtr allocate_storage(Device device, uint64_t nbytes) {
  // An empty tensor has no memory and gives nothing back.
  if (nbytes == 0) return StoragePtr::adopt(new Storage(device, nullptr, 0, nullptr, nullptr));
  Allocator& allocator = allocator_for(device);
  StoragePtr storage = StoragePtr::adopt(new Storage(device, nullptr, nbytes, nullptr, nullptr));
  storage->data = allocator.allocate(nbytes, current_stream(device));
  storage->deleter = return_to_allocator;
  storage->context = &allocator;
  return storage;
}

StoragePtr allocate_pinned_storage(Device device, uint64_t nbytes) {
  CachingAllocator& allocator = pinned_allocator(device);
  // Also a tensor of nothing says that it is pinned.
  StoragePtr storage = StoragePtr::adopt(new Storage(Device{}, nullptr, nbytes, nullptr, nullptr));
  if (nbytes != 0) storage->data = allocator.allocate(nbytes, host_stream());
  storage->deleter = return_pinned;
  storage->context = &allocator;
  return storage;
}

Device pinned_for(const Storage& storage) noexcept {
  if (storage.deleter != return_pinned) return Device{};
  return static_cast<const CachingAllocator*>(storage.context)->device();
}

void describe_storage(const Storage& storage, DType dtype,
                      std::span<const int64_t> sizes) noexcept {
  if (storage.data == nullptr) return;
  Allocator* allocator = nullptr;
  if (storage.deleter == return_to_allocator) allocator = static_cast<Allocator*>(storage.context);
  if (storage.deleter == return_pinned) {
    allocator = static_cast<CachingAllocator*>(storage.context);
  }
  MemoryHistory* history = allocator == nullptr ? nullptr : allocator->history();
  if (history != nullptr) history->describe(storage.data, dtype, sizes);
}

void record_stream(const Storage& storage, StreamHandle stream) {
  if (storage.data == nullptr) return;
  if (storage.deleter == return_pinned)
    return static_cast<CachingAllocator*>(storage.context)->record_stream(storage.data, stream);
  if (storage.device.is_cpu()) return;
  TSR_CHECK(storage.deleter == return_to_allocator, Code::kNotImplemented, "tensor",
            "expected memory of this library; the owner of other memory must know its streams");
  static_cast<Allocator*>(storage.context)->record_stream(storage.data, stream);
}

StoragePtr wrap_storage(Device device, void* data, uint64_t nbytes, Storage::Deleter deleter,
                        void* context) {
  if (deleter == nullptr) context = nullptr;  // both: Note [Storages without a deleter]
  StoragePtr storage = StoragePtr::adopt(new Storage(device, data, nbytes, deleter, context));
  storage->foreign = true;
  return storage;
}

}  // namespace tsr
