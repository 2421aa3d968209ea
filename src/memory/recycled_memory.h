// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shared memory that goes back to the process that made it, to be filled again.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/shared_memory.h"

namespace tsr {

// Note [Recycled memory]
// A process that sends block after block, as the worker of a loader does, would pay for new pages
// with every block: the system clears them, and both processes map them. So a block is used again
// when its receivers have released it. No message goes back: a mark behind the data counts the
// users, which are handles on their way and storages of receivers.
// - The maker keeps the blocks that it has sent, and takes one of them when it has no users.
// - A receiver keeps its mapping when its storage ends; a handle of the same block finds it.
// Both are bounded, and either side may forget a block at any time (`retired` tells the other one):
// then the pages go when the last mapping does, as those of other shared memory. Nothing has to be
// cleaned up after a process that was killed.
// A block is retired when memory may be used by somebody who is not counted: a child that was
// forked while a storage had the memory, or a process that got a handle that is not in transit.

// Memory of at least `nbytes` with any contents. Throws as SharedMemory::create.
std::unique_ptr<SharedMemory> take_recycled(uint64_t nbytes);
// The memory of a handle in transit, whose count becomes that of the new user. Throws as
// SharedMemory::open.
std::unique_ptr<SharedMemory> receive_recycled(int descriptor, uint64_t nbytes);
// The last storage of this process on the memory is gone.
void give_back_recycled(std::unique_ptr<SharedMemory> memory) noexcept;
// Forgets all memory that is kept, and, when its storage ends, what was received until now.
void drop_recycled() noexcept;

}  // namespace tsr
