// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GradMode: whether the calling thread records, and whether it is in inference mode. Defined in
// this low layer because new tensors are made here, and inference mode marks each of them.
#pragma once

namespace tsr {

struct GradMode {
  bool record = true;          // false: results never require grad
  bool inference = false;      // results also lose version counting and view tracking
  bool record_outside = true;  // what record goes back to when inference mode is set off
};

// The mode of the calling thread; every thread starts with the defaults.
extern constinit thread_local GradMode t_grad_mode;

[[nodiscard]] inline bool grad_enabled() noexcept {
  return t_grad_mode.record;
}
[[nodiscard]] inline bool inference_enabled() noexcept {
  return t_grad_mode.inference;
}

}  // namespace tsr
