// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The state that the library keeps for each thread, as an object that another thread can restore.
#include "autograd/grad_mode.h"
#include "base/ambient_parts.h"
#include "base/generator.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "memory/stream.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// Immutable, so that any number of threads may restore it.
struct AmbientObject final : Object {
  AmbientObject() : Object(ObjectTag::kAmbient) {}
  static void destroy(AmbientObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }

  GradMode grad_mode = t_grad_mode;
  bool defer_drops = drops_deferred();
  Device default_device = t_default_device;
  IntrusivePtr<Generator> generator = IntrusivePtr<Generator>::share(&current_generator());
  StreamSetPtr streams = current_streams();
  AmbientParts parts = AmbientParts::save(AmbientUse::kThread);
  // A scope belongs to one thread, so only that thread restores it.
  uint64_t thread = this_slot().thread;
  IntrusivePtr<ScopeObject> scope = IntrusivePtr<ScopeObject>::share(t_scope);
};

}  // namespace

extern "C" {

tsr_status tsr_ambient_save(tsr_ambient* ambient) {
  clear(ambient);
  return guard(kInfo_ambient_save, [&] {
    out_arg(ambient, "ambient");
    give_object(new AmbientObject, ambient);
  });
}

tsr_status tsr_ambient_restore(tsr_ambient ambient) {
  return guard(Call(kInfo_ambient_restore, ambient), [&] {
    const auto& state =
        *object_arg<AmbientObject>(ambient, ObjectTag::kAmbient, "saved state", "ambient");
    const bool at_home = state.thread == this_slot().thread;
    TSR_CHECK(!at_home || !state.scope || state.scope->open, Code::kInvalidArgument, "ambient",
              "expected one whose scope is open, got one whose scope has ended");
    set_current_streams(state.streams);      // may run out of memory, so it comes first
    set_current_generator(state.generator);  // so may this
    set_drops_deferred(state.defer_drops);   // before what lets go of data of the host
    state.parts.restore();                   // may run out of memory too
    set_grad_mode(state.grad_mode);
    t_default_device = state.default_device;
    if (at_home) t_scope = state.scope.get();
  });
}

void tsr_ambient_retain(tsr_ambient ambient) {
  retain_handle(ambient, ObjectTag::kAmbient);
}

void tsr_ambient_release(tsr_ambient ambient) {
  release_handle<AmbientObject>(ambient, ObjectTag::kAmbient);
}

}  // extern "C"
