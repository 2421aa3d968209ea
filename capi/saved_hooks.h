// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The saved-tensor hooks that a thread has pushed.
#pragma once

#include <memory>
#include <string>

#include "autograd/saved_tensor.h"
#include "base/ambient_parts.h"

namespace tsr::capi {

// One push, and the pushes before it. Immutable, so that threads may share it.
struct PushedHooks {
  std::shared_ptr<SavedTensorHooks> hooks;  // null turns hooks off
  std::shared_ptr<const PushedHooks> outer;
  std::shared_ptr<const std::string> refusal;  // the error of pushing hooks here; null: allowed
};

// The innermost push of this thread; usually null.
std::shared_ptr<const PushedHooks> pushed_hooks();
void set_pushed_hooks(std::shared_ptr<const PushedHooks> innermost);

// The pushed hooks as a part of a thread's state.
AmbientPart saved_hooks_part() noexcept;

}  // namespace tsr::capi
