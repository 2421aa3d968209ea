// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scopes: a thread's lists of tensor handles that are released together.
#pragma once

#include <vector>

#include "capi/thread_slot.h"
#include "tensor/tensor.h"

namespace tsr::capi {

// Note [Scopes]
// A scope owns one reference for each of its entries, until the scope ends or that reference is
// released. Releasing a handle that a scope owns, on any thread, removes the entry; so does handing
// the handle over to the library. References that the caller adds by retain belong to the caller.
// So code that releases the handles it was given and those it retained is correct inside a scope
// and outside. `scope_place` in the tensor is 0 if no scope has an entry of the tensor, so that a
// release outside a scope costs one test. Otherwise it is the index of the entry modulo kPlaces
// (plus 1), or says that there may be several. The mutex in the slot of the scope's thread protects
// the entries.
struct ScopeObject final : Object {
  ScopeObject(ThreadSlot& owner, ScopeObject* outside)
      : Object(ObjectTag::kScope), slot(&owner), outer(outside) {}

  // Allocated from the small lists, so that the tag of a destroyed scope can still be read.
  static void* operator new(size_t size);
  static void operator delete(void* block, size_t size) noexcept;
  static void destroy(ScopeObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }

  std::vector<TensorImpl*> entries;
  ThreadSlot* slot;
  ScopeObject* outer;
  ScopeObject* next_open = nullptr;  // in the list of the slot
  bool open = true;                  // a saved state may keep the object after the end
};

// The innermost scope of this thread; usually null.
extern constinit thread_local ScopeObject* t_scope;

// Adds a handle that is being given out to the innermost scope.
void add_to_scope(TensorImpl* impl);
// Removes one entry from the scope that owns it, if there is one. The caller then owns the
// reference.
[[gnu::cold]] void leave_scope(TensorImpl* impl) noexcept;

inline bool in_scope(const TensorImpl* impl) noexcept {
  return impl->scope_place.load(std::memory_order_relaxed) != 0;
}

}  // namespace tsr::capi
