// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/storage.h"

#include "base/error.h"
#include "memory/allocator.h"
#include "memory/small_alloc.h"
#include "memory/stream.h"

namespace tsr {
namespace {

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
  storage->tag = ObjectTag::kDead;
  delete storage;
}

StoragePtr allocate_storage(Device device, uint64_t nbytes) {
  // An empty tensor has an address of nothing and gives nothing back.
  if (nbytes == 0) return StoragePtr::adopt(new Storage(device, nullptr, 0, nullptr, nullptr));
  Allocator& allocator = allocator_for(device);
  StoragePtr storage = StoragePtr::adopt(new Storage(device, nullptr, nbytes, nullptr, nullptr));
  storage->data = allocator.allocate(nbytes, current_stream(device));
  storage->deleter = return_to_allocator;
  storage->context = &allocator;
  return storage;
}

void record_stream(const Storage& storage, StreamHandle stream) {
  if (storage.data == nullptr || storage.device.is_cpu()) return;
  TSR_CHECK(storage.deleter == return_to_allocator, Code::kNotImplemented, "tensor",
            "expected memory of this library; the owner of other memory must know its streams");
  static_cast<Allocator*>(storage.context)->record_stream(storage.data, stream);
}

StoragePtr wrap_storage(Device device, void* data, uint64_t nbytes, Storage::Deleter deleter,
                        void* context) {
  StoragePtr storage = StoragePtr::adopt(new Storage(device, data, nbytes, deleter, context));
  storage->foreign = true;
  return storage;
}

}  // namespace tsr
