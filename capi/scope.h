// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scopes: arenas of a thread that own the tensor handles made inside them.
#pragma once

#include <vector>

#include "capi/thread_slot.h"
#include "tensor/tensor.h"

namespace tsr::capi {

// Note [Scopes]
// A scope owns one reference for each of its entries, until it ends or somebody gives that
// reference back: a release of a handle that a scope owns, on any thread, takes the entry out, and
// so does handing the handle over to the library. What callers add by retain stays theirs. Code
// that releases what it was given and what it retained is therefore right inside a scope and
// outside. `scope_place` in the tensor is 0 while no scope has an entry of it, so that a release
// outside costs one test; else it tells where the entry stands, modulo kPlaces, or that there may
// be several. Entries are changed under the mutex of the slot of the scope's thread.
struct ScopeObject final : Object {
  ScopeObject(ThreadSlot& owner, ScopeObject* outside)
      : Object(ObjectTag::kScope), slot(&owner), outer(outside) {}

  // From the small lists, so that the tag of one that is gone can still be read.
  static void* operator new(size_t size);
  static void operator delete(void* block, size_t size) noexcept;
  static void destroy(ScopeObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }

  std::vector<TensorImpl*> entries;
  ThreadSlot* slot;
  ScopeObject* outer;
  ScopeObject* next_open = nullptr;  // in the slot's list
  bool open = true;                  // a saved state may keep the object longer
};

// The innermost scope of this thread; null mostly.
extern constinit thread_local ScopeObject* t_scope;

// Enters a handle that is being given out into the innermost scope.
void add_to_scope(TensorImpl* impl);
// Takes one entry out of the scope that owns it; nothing when there is none. The reference is the
// caller's then.
[[gnu::cold]] void leave_scope(TensorImpl* impl) noexcept;

inline bool in_scope(const TensorImpl* impl) noexcept {
  return impl->scope_place.load(std::memory_order_relaxed) != 0;
}

}  // namespace tsr::capi
