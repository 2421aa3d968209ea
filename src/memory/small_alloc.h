// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Small-object allocation: what tensors, storages and graph nodes are made of.
#pragma once

#include <cstddef>

namespace tsr {

// Uninitialised memory of `nbytes`, aligned to 64 bytes. Throws kOutOfMemory. Any thread.
void* small_allocate(size_t nbytes);
// Gives back a block of small_allocate with the size it was asked for. Any thread, also another
// one.
void small_free(void* block, size_t nbytes) noexcept;

}  // namespace tsr
