// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// tell_allocated and tell_freed: how an allocator reports its blocks to the trace and its history.
#pragma once

#include "base/trace.h"
#include "memory/allocator.h"
#include "memory/history.h"

namespace tsr {

namespace detail {
// The allocator as a reference: its device would be loaded before the test.
[[gnu::cold, gnu::noinline]] void tell_allocated(const Allocator& allocator, MemoryHistory& history,
                                                 uint64_t nbytes, const void* block,
                                                 StreamHandle stream) noexcept;
[[gnu::cold, gnu::noinline]] void tell_freed(const Allocator& allocator, MemoryHistory& history,
                                             uint64_t nbytes, const void* block) noexcept;
}  // namespace detail

// After a block was lent, and before one is given back; no lock is held. One test when nobody
// listens.
inline void tell_allocated(const Allocator& allocator, MemoryHistory& history, uint64_t nbytes,
                           const void* block, StreamHandle stream = nullptr) noexcept {
  if (is_traced(TraceKind::kAllocate)) [[unlikely]]
    detail::tell_allocated(allocator, history, nbytes, block, stream);
}
inline void tell_freed(const Allocator& allocator, MemoryHistory& history, uint64_t nbytes,
                       const void* block) noexcept {
  if (is_traced(TraceKind::kFree)) [[unlikely]]
    detail::tell_freed(allocator, history, nbytes, block);
}

}  // namespace tsr
