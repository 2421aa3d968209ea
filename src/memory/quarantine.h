// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A queue of freed objects for debugging: their memory is used again only after many others were
// freed, so that what still points to them finds them dead.
#pragma once

#include <cstddef>

#include "memory/small_alloc.h"

namespace tsr {

// Null mostly; set once, before other threads can free objects.
extern void (*g_quarantine)(void* block, size_t nbytes) noexcept;

// From now on the last `most` objects that were freed wait.
void start_quarantine(size_t most);

// small_free for objects that handles of the ABI may name.
inline void free_object(void* block, size_t nbytes) noexcept {
  if (g_quarantine != nullptr) [[unlikely]]
    return g_quarantine(block, nbytes);
  small_free(block, nbytes);
}

}  // namespace tsr
