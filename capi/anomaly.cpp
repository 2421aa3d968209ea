// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Anomaly mode: the host's call stack and the mode of a thread.
#include "capi/anomaly.h"

#include <new>

#include "autograd/anomaly.h"
#include "base/thread_exit.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// See Note [Thread-local state].
constinit thread_local ThreadValue<std::shared_ptr<const StackSource>> t_stack;

// For a thread that ends in the mode. Host code must not run in such a thread.
void forget_stack() noexcept {
  set_drops_deferred(true);
  set_stack_source(nullptr);
  set_anomaly_mode({});
  t_stack.end();
}

int32_t flags_of(AnomalyMode mode) {
  return (mode.on ? TSR_ANOMALY_ENABLED : 0) | (mode.check_nan ? TSR_ANOMALY_CHECK_NAN : 0);
}

void set_host_stack(std::shared_ptr<const StackSource> source) {
  if (source != nullptr && !at_thread_exit(ThreadPart::kAnomaly, forget_stack)) {
    throw std::bad_alloc();
  }
  // The old callback is released last: its drop may call the library.
  std::shared_ptr<const StackSource>& now = t_stack.get();
  source.swap(now);
  set_stack_source(now.get());
}

struct AnomalyState {
  AnomalyMode mode;
  std::shared_ptr<const StackSource> stack;
};

// Null for a thread that never had to do with the mode.
std::shared_ptr<const void> save_state() {
  AnomalyState state{anomaly_mode(), t_stack.get()};
  if (!state.mode.on && !state.mode.check_nan && state.stack == nullptr) return nullptr;
  return std::make_shared<const AnomalyState>(std::move(state));
}
void restore_state(const std::shared_ptr<const void>& saved) {
  const auto state =
      saved == nullptr ? AnomalyState{} : *static_cast<const AnomalyState*>(saved.get());
  set_host_stack(state.stack);
  set_anomaly_mode(state.mode);
}

}  // namespace

namespace tsr::capi {

AmbientPart anomaly_part() noexcept {
  return {save_state, restore_state, AmbientUse::kThread};
}

}  // namespace tsr::capi

extern "C" {

int32_t tsr_anomaly_mode(void) {
  return flags_of(anomaly_mode());
}

tsr_status tsr_anomaly_mode_set(int32_t mode, int32_t* previous) {
  return guard(Call(kInfo_anomaly_mode_set, mode), [&] {
    check_flags(mode, TSR_ANOMALY_ENABLED | TSR_ANOMALY_CHECK_NAN, "mode");
    *out_arg(previous, "previous") = flags_of(anomaly_mode());
    set_anomaly_mode({(mode & TSR_ANOMALY_ENABLED) != 0, (mode & TSR_ANOMALY_CHECK_NAN) != 0});
  });
}

tsr_status tsr_anomaly_stack_set(tsr_stack_fn callback, void* user, tsr_drop_fn drop) {
  UserData data(user, drop);
  return guard(Call(kInfo_anomaly_stack_set, callback), [&] {
    if (callback == nullptr) return set_host_stack(nullptr);
    auto call = [callback, owner = share(std::move(data))] {
      const char* text = nullptr;
      int64_t length = 0;
      call_host("stack", callback, owner->get(), &text, &length);
      return text != nullptr && length > 0 ? std::string(text, static_cast<size_t>(length))
                                           : std::string();
    };
    set_host_stack(std::make_shared<const StackSource>(std::move(call)));
  });
}

}  // extern "C"
