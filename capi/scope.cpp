// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/scope.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/thread_exit.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "memory/small_alloc.h"

namespace tsr::capi {

constinit thread_local ScopeObject* t_scope = nullptr;

void* ScopeObject::operator new(size_t size) {
  return small_allocate(size);
}
void ScopeObject::operator delete(void* block, size_t size) noexcept {
  small_free(block, size);
}

namespace {

constexpr uint16_t kNoPlace = 0;
constexpr uint16_t kSeveral = UINT16_MAX;
constexpr size_t kPlaces = UINT16_MAX - 1;
constexpr size_t kNowhere = SIZE_MAX;

uint16_t place_of(size_t index) noexcept {
  return static_cast<uint16_t>(index % kPlaces + 1);
}

// A second entry sets kSeveral for good, also one that another thread adds at the same time.
void note_place(TensorImpl* impl, size_t index) noexcept {
  uint16_t before = kNoPlace;
  if (!impl->scope_place.compare_exchange_strong(before, place_of(index))) {
    impl->scope_place.store(kSeveral);
  }
}
void change_place(TensorImpl* impl, size_t from, uint16_t to) noexcept {
  uint16_t before = place_of(from);
  impl->scope_place.compare_exchange_strong(before, to);
}

size_t find(const ScopeObject& scope, const TensorImpl* impl) noexcept {
  const auto& entries = scope.entries;
  const uint16_t place = impl->scope_place.load();
  if (place == kNoPlace) return kNowhere;
  if (place != kSeveral) {
    for (size_t i = size_t{place} - 1; i < entries.size(); i += kPlaces) {
      if (entries[i] == impl) return i;
    }
    return kNowhere;
  }
  const auto found = std::find(entries.rbegin(), entries.rend(), impl);
  return found == entries.rend() ? kNowhere : static_cast<size_t>(entries.rend() - found) - 1;
}

// Removes an entry; the last entry moves to its index.
void take_out(ScopeObject& scope, size_t index) noexcept {
  auto& entries = scope.entries;
  change_place(entries[index], index, kNoPlace);
  const size_t last = entries.size() - 1;
  if (index != last) {
    change_place(entries[last], last, place_of(index));
    entries[index] = entries[last];
  }
  entries.pop_back();
}

// The caller has reserved memory for the entry.
void enter(ScopeObject& scope, TensorImpl* impl) noexcept {
  scope.entries.push_back(impl);
  note_place(impl, scope.entries.size() - 1);
}

bool leave_scope_of(ThreadSlot& slot, TensorImpl* impl) {
  const std::lock_guard lock(slot.mutex);
  for (ScopeObject* scope = slot.scopes; scope != nullptr; scope = scope->next_open) {
    const size_t index = find(*scope, impl);
    if (index == kNowhere) continue;
    take_out(*scope, index);
    return true;
  }
  return false;
}

// Removes a scope from its slot. The caller holds the slot's mutex.
std::vector<TensorImpl*> close(ScopeObject& scope) noexcept {
  ScopeObject** link = &scope.slot->scopes;
  while (*link != &scope) link = &(*link)->next_open;
  *link = scope.next_open;
  for (ScopeObject* other = scope.slot->scopes; other != nullptr; other = other->next_open) {
    if (other->outer == &scope) other->outer = scope.outer;
  }
  scope.open = false;
  scope.slot->open_scopes.fetch_sub(1, std::memory_order_relaxed);
  for (size_t i = 0; i < scope.entries.size(); ++i) change_place(scope.entries[i], i, kNoPlace);
  return std::move(scope.entries);
}

void give_back(const std::vector<TensorImpl*>& entries) noexcept {
  for (TensorImpl* impl : entries) {
    static_cast<void>(take_back(impl));
    Tensor::adopt(impl).reset();
    count_handle(-1);
  }
}

// For a thread that ends with open scopes. Host code must not run in such a thread.
void end_scopes() noexcept {
  set_drops_deferred(true);
  t_scope = nullptr;
  ThreadSlot* slot = t_slot;
  while (slot != nullptr && slot->scopes != nullptr) {
    ScopeObject* scope = slot->scopes;
    std::vector<TensorImpl*> entries;
    {
      const std::lock_guard lock(slot->mutex);
      entries = close(*scope);
    }
    give_back(entries);
    release_handle<ScopeObject>(reinterpret_cast<tsr_scope>(static_cast<Object*>(scope)),
                                ObjectTag::kScope);
  }
}

// Moves the kept handles to the outer scope, or to the caller if there is none. The caller holds
// the slot's mutex.
void keep_handles(ScopeObject& scope, std::span<const Tensor> kept) {
  for (const Tensor& tensor : kept) {
    TSR_CHECK(find(scope, tensor.impl()) != kNowhere, Code::kInvalidArgument, "keep",
              "expected handles that were made in this scope and not released since");
  }
  ScopeObject* outer = scope.outer;
  if (outer != nullptr) outer->entries.reserve(outer->entries.size() + kept.size());
  for (const Tensor& tensor : kept) {
    const size_t index = find(scope, tensor.impl());
    if (index == kNowhere) continue;  // given twice
    take_out(scope, index);
    if (outer != nullptr) enter(*outer, tensor.impl());
  }
}

// Checks that the scope is open and belongs to this thread.
ScopeObject* scope_arg(tsr_scope handle) {
  auto* scope = object_arg<ScopeObject>(handle, ObjectTag::kScope, "scope", "scope");
  TSR_CHECK(scope->open, Code::kInvalidArgument, "scope",
            "expected an open scope, got one that has ended");
  TSR_CHECK(scope->slot == t_slot, Code::kInvalidArgument, "scope",
            "expected a scope that this thread began, got one of another thread");
  return scope;
}

}  // namespace

void add_to_scope(TensorImpl* impl) {
  const std::lock_guard lock(t_scope->slot->mutex);
  auto& entries = t_scope->entries;
  if (entries.size() == entries.capacity()) entries.reserve(2 * entries.size() + 8);
  enter(*t_scope, impl);
}

void leave_scope(TensorImpl* impl) noexcept {
  if (t_slot != nullptr && leave_scope_of(*t_slot, impl)) return;
  for (ThreadSlot* slot = first_slot(); slot != nullptr; slot = slot->next) {
    if (slot == t_slot || slot->open_scopes.load(std::memory_order_relaxed) == 0) continue;
    if (leave_scope_of(*slot, impl)) return;
  }
}

}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_scope_begin(tsr_scope* scope) {
  clear(scope);
  return guard(kInfo_scope_begin, [&] {
    out_arg(scope, "scope");
    ThreadSlot& slot = this_slot();
    if (!at_thread_exit(ThreadPart::kScopes, end_scopes)) throw std::bad_alloc();
    auto* object = new ScopeObject(slot, t_scope);
    {
      const std::lock_guard lock(slot.mutex);
      object->next_open = std::exchange(slot.scopes, object);
    }
    slot.open_scopes.fetch_add(1, std::memory_order_relaxed);
    give_object(object, scope);
    t_scope = object;
  });
}

tsr_status tsr_scope_end(tsr_scope scope, const tsr_tensor* keep, int32_t n_keep) {
  return guard(Call(kInfo_scope_end, scope, ListOf{keep, n_keep}), [&] {
    ScopeObject* object = scope_arg(scope);
    TSR_CHECK(object == t_scope, Code::kInvalidArgument, "scope",
              "expected the innermost open scope of this thread");
    const auto kept = tensors_arg(keep, n_keep, "keep");
    std::vector<TensorImpl*> entries;
    {
      const std::lock_guard lock(object->slot->mutex);
      keep_handles(*object, kept);
      t_scope = object->outer;
      entries = close(*object);
    }
    give_back(entries);
    release_handle<ScopeObject>(scope, ObjectTag::kScope);
  });
}

tsr_status tsr_scope_set_current(tsr_scope scope, tsr_scope* previous) {
  clear(previous);
  return guard(Call(kInfo_scope_set_current, scope), [&] {
    out_arg(previous, "previous");
    ScopeObject* object = scope == nullptr ? nullptr : scope_arg(scope);
    ScopeObject* before = std::exchange(t_scope, object);
    *previous = reinterpret_cast<tsr_scope>(static_cast<Object*>(before));
  });
}

}  // extern "C"
