// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scopes: thread-local arenas that own the handles made inside them.
#include <algorithm>

#include "capi/generated/infos.h"
#include "capi/handle.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// Moves the kept handles out of the arena to whoever owns them next.
void keep_handles(ScopeObject& scope, std::span<const Tensor> kept) {
  for (const Tensor& tensor : kept) {
    const auto found = std::find_if(scope.tensors.begin(), scope.tensors.end(),
                                    [&](const Tensor& entry) { return entry.is_same(tensor); });
    TSR_CHECK(found != scope.tensors.end(), Code::kInvalidArgument, "keep",
              "expected handles that were made in this scope");
  }
  if (scope.outer != nullptr)
    scope.outer->tensors.reserve(scope.outer->tensors.size() + kept.size());
  for (const Tensor& tensor : kept) {
    const auto found = std::find_if(scope.tensors.begin(), scope.tensors.end(),
                                    [&](const Tensor& entry) { return entry.is_same(tensor); });
    if (found == scope.tensors.end()) continue;  // named twice
    if (scope.outer != nullptr) {
      scope.outer->tensors.push_back(std::move(*found));
    } else {
      static_cast<void>(found->detach_impl());
    }
    scope.tensors.erase(found);
  }
}

}  // namespace

extern "C" {

tsr_status tsr_scope_begin(tsr_scope* scope) {
  clear(scope);
  return guard(kInfo_scope_begin, [&] {
    out_arg(scope, "scope");
    auto* object = new ScopeObject(t_scope);
    give_object(object, scope);
    t_scope = object;
  });
}

tsr_status tsr_scope_end(tsr_scope scope, const tsr_tensor* keep, int32_t n_keep) {
  return guard(kInfo_scope_end, [&] {
    auto* object = object_arg<ScopeObject>(scope, ObjectTag::kScope, "scope", "scope");
    TSR_CHECK(object == t_scope, Code::kInvalidArgument, "scope",
              "expected the innermost open scope of this thread");
    keep_handles(*object, tensors_arg(keep, n_keep, "keep"));
    t_scope = object->outer;
    object->open = false;
    for (Tensor& tensor : object->tensors) {
      static_cast<void>(take_back(tensor.impl()));
      tensor.reset();
      count_handle(-1);
    }
    release_handle<ScopeObject>(scope, ObjectTag::kScope);
  });
}

tsr_status tsr_scope_set_current(tsr_scope scope, tsr_scope* previous) {
  return guard(kInfo_scope_set_current, [&] {
    ScopeObject* object = nullptr;
    if (scope != nullptr)
      object = object_arg<ScopeObject>(scope, ObjectTag::kScope, "scope", "scope");
    TSR_CHECK(object == nullptr || object->open, Code::kInvalidArgument, "scope",
              "expected a scope that is open");
    *out_arg(previous, "previous") = reinterpret_cast<tsr_scope>(std::exchange(t_scope, object));
  });
}

}  // extern "C"
