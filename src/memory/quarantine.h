// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A queue of freed objects, for debugging. Their memory is reused only after many others were
// freed, so that a stale handle finds the object marked as freed.
#pragma once

#include <cstddef>

#include "memory/small_alloc.h"

namespace tsr {

// Null mostly; set once, before other threads can free objects.
extern void (*g_quarantine)(void* block, size_t nbytes) noexcept;

// From now on keeps the last `most` freed objects in the queue.
void start_quarantine(size_t most);

// small_free for objects that handles of the ABI may name.
inline void free_object(void* block, size_t nbytes) noexcept {
  if (g_quarantine != nullptr) [[unlikely]]
    return g_quarantine(block, nbytes);
  small_free(block, nbytes);
}

}  // namespace tsr
