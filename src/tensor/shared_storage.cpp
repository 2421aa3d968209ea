// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/shared_storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "memory/recycled_memory.h"

namespace tsr {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uint64_t kLarge = uint64_t{256} << 10;

// What a storage had before it was shared.
struct OldMemory {
  void* data = nullptr;
  uint64_t nbytes = 0;
  Storage::Deleter deleter = nullptr;
  void* context = nullptr;
};

struct Shared {
  std::unique_ptr<SharedMemory> memory;
  OldMemory old;

  explicit Shared(std::unique_ptr<SharedMemory> shared) noexcept : memory(std::move(shared)) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (memory->recycled() != nullptr) give_back_recycled(std::move(memory));
  }
};

std::unique_ptr<SharedMemory> new_memory(uint64_t nbytes, ShareStrategy strategy) {
  if (strategy == ShareStrategy::kRecycled) return take_recycled(nbytes);
  return SharedMemory::create(nbytes, strategy);
}

// The shared storages of this process. An entry is no reference: forget_shared removes it.
struct Registry {
  GuardedMutex mutex{LockLevel::kOuter};
  std::map<SharedKey, Storage*> storages;
};

// Gives the pages of a block of our own to the system; the block stays allocated.
void drop_pages(const Storage& storage) noexcept {
  if (storage.foreign || storage.nbytes < kLarge) return;
  const auto begin = (reinterpret_cast<uintptr_t>(storage.data) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<uintptr_t>(storage.data) + storage.nbytes) / kPage * kPage;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// The storage with this key, with a reference of its own; null when there is none. Under the lock.
StoragePtr find(Registry& registry, SharedKey key, uint64_t nbytes) {
  const auto found = registry.storages.find(key);
  if (found == registry.storages.end()) return {};
  Storage* storage = found->second;
  TSR_CHECK(storage->nbytes >= nbytes, Code::kValue, "handle", "expected at most ", storage->nbytes,
            " bytes, as this process has mapped, got ", nbytes);
  return try_retain(storage) ? StoragePtr::adopt(storage) : StoragePtr();
}

// Under the lock.
StoragePtr add(Registry& registry, std::unique_ptr<SharedMemory> memory, uint64_t nbytes) {
  const SharedKey key = memory->key();
  const bool read_only = memory->read_only();
  auto shared = std::make_unique<Shared>(std::move(memory));
  StoragePtr storage =
      StoragePtr::adopt(new Storage(Device{}, shared->memory->data(), nbytes, nullptr, nullptr));
  storage->read_only = read_only;
  registry.storages.insert_or_assign(key, storage.get());
  storage->context = shared.release();
  return storage;
}

// Removes a storage that nobody uses any more from the table; null when somebody does.
Shared* unlist(Storage& storage) noexcept {
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  // A storage is destroyed with the count 1 or 0, see drop() in intrusive_ptr.h. Where it was 1,
  // find() may have raised it since.
  if (storage.refs.load(std::memory_order_acquire) != 0 && !drop_reference(&storage))
    return nullptr;
  auto* shared = static_cast<Shared*>(storage.context);
  const auto found = registry.storages.find(shared->memory->key());
  if (found != registry.storages.end() && found->second == &storage) registry.storages.erase(found);
  return shared;
}

}  // namespace

StoragePtr allocate_shared_storage(uint64_t nbytes, ShareStrategy strategy) {
  std::unique_ptr<SharedMemory> memory = new_memory(nbytes, strategy);
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  return add(registry, std::move(memory), nbytes);
}

void share_storage(Storage& storage, ShareStrategy strategy) {
  if (!storage.device.is_cpu() || shared_memory_of(storage) != nullptr) return;
  const uint16_t lent = storage.lent.load(std::memory_order_relaxed);
  TSR_CHECK(lent == 0, Code::kBuffer, "tensor",
            "expected memory that no array of the host uses, because it has to move, got ", lent,
            " of them (NumPy arrays, memory views, DLPack); share the tensor before they are made, "
            "or delete them first");
  auto shared = std::make_unique<Shared>(new_memory(storage.nbytes, strategy));
  if (storage.nbytes != 0) std::memcpy(shared->memory->data(), storage.data, storage.nbytes);
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  if (shared_memory_of(storage) != nullptr) return;  // by another thread
  registry.storages.insert_or_assign(shared->memory->key(), &storage);
  shared->old = {storage.data, storage.nbytes, storage.deleter, storage.context};
  drop_pages(storage);
  storage.data = shared->memory->data();
  storage.foreign = false;
  storage.deleter = nullptr;
  storage.context = shared.release();
}

StoragePtr open_shared_storage(int descriptor, uint64_t nbytes, bool keep) {
  const SharedKey key = SharedMemory::key_of(descriptor);
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  if (StoragePtr storage = find(registry, key, nbytes)) return storage;
  return add(registry, SharedMemory::open(descriptor, std::max<uint64_t>(nbytes, 1), keep), nbytes);
}

StoragePtr open_shared_storage(std::string_view name, uint64_t nbytes) {
  std::unique_ptr<SharedMemory> memory = SharedMemory::open(name, std::max<uint64_t>(nbytes, 1));
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  if (StoragePtr storage = find(registry, memory->key(), nbytes)) return storage;
  return add(registry, std::move(memory), nbytes);
}

StoragePtr receive_shared_storage(int descriptor, uint64_t nbytes) {
  const SharedKey key = SharedMemory::key_of(descriptor);
  auto& registry = immortal<Registry>();
  const std::lock_guard lock(registry.mutex);
  if (StoragePtr storage = find(registry, key, nbytes)) {
    // This process is counted already.
    SharedMemory* memory = shared_memory_of(*storage);
    if (memory->recycled() != nullptr) memory->remove_user();
    return storage;
  }
  return add(registry, receive_recycled(descriptor, nbytes), nbytes);
}

SharedMemory* shared_memory_of(const Storage& storage) noexcept {
  if (storage.deleter != nullptr || storage.context == nullptr) return nullptr;
  return static_cast<Shared*>(storage.context)->memory.get();
}

bool release_shared(Storage& storage) noexcept {
  const std::unique_ptr<Shared> held(unlist(storage));
  if (held == nullptr) return false;
  const OldMemory& old = held->old;
  if (old.deleter != nullptr) old.deleter(old.context, old.data, old.nbytes);
  return true;
}

}  // namespace tsr
