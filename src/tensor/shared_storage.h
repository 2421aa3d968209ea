// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Storages in memory that several processes map.
#pragma once

#include <string_view>

#include "memory/shared_memory.h"
#include "tensor/storage.h"

namespace tsr {

// A new storage of the CPU; the bytes are zero, but those of recycled memory any. Throws as
// SharedMemory::create.
StoragePtr allocate_shared_storage(uint64_t nbytes, ShareStrategy strategy);

// Moves the elements to shared memory, with all tensors on the storage; does nothing if they are
// there, or on a device other than the CPU. No other thread may use the elements meanwhile. Throws
// kBuffer while the memory is lent (lend_storage). The old memory goes with the storage, because
// other pointers may have been given out; large blocks lose their pages now.
void share_storage(Storage& storage, ShareStrategy strategy);

// Memory of another process. If this process has it already, the result is the same storage.
// Throws as SharedMemory::open.
StoragePtr open_shared_storage(int descriptor, uint64_t nbytes, bool keep);
StoragePtr open_shared_storage(std::string_view name, uint64_t nbytes);
// Recycled memory, whose handle counted as a user.
StoragePtr receive_shared_storage(int descriptor, uint64_t nbytes);

// Null for a storage that is not shared; valid as long as the storage.
[[nodiscard]] SharedMemory* shared_memory_of(const Storage& storage) noexcept;

// Note [Storages without a deleter]
// A shared storage has a context and no deleter, so that the destruction of other storages, which
// every operation pays for, asks nothing more. Storage::destroy calls this function for it. False:
// open_shared_storage has meanwhile given out another reference, and the storage stays.
[[nodiscard]] bool release_shared(Storage& storage) noexcept;

}  // namespace tsr
