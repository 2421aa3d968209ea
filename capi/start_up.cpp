// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/start_up.h"

#include "base/ambient_parts.h"
#include "base/device.h"
#include "capi/anomaly.h"
#include "capi/autocast.h"
#include "capi/saved_hooks.h"
#include "kernel/registry.h"
#include "ops/start_up.h"

namespace tsr::cpu {
// Backends are leaves: no header of theirs is included here, only this function is declared.
const kernel::Backend* backend_entry(const kernel::HostServices* services);
}  // namespace tsr::cpu

namespace tsr::capi {
namespace {

// Autocast belongs to a thread's state, but its regions do not: they end where they began.
std::shared_ptr<const void> save_autocast() {
  return std::make_shared<const AutocastState>(autocast_state());
}
void restore_autocast(const std::shared_ptr<const void>& saved) {
  set_autocast_state(*static_cast<const AutocastState*>(saved.get()));
}

}  // namespace

void start_up() {
  static const bool kReady = [] {
    kernel::register_backend(cpu::backend_entry);
    ops::start_up();
    add_ambient_part({save_autocast, restore_autocast, AmbientUse::kReruns});
    add_ambient_part(anomaly_part());
    add_ambient_part(saved_hooks_part());
    return true;
  }();
  static_cast<void>(kReady);
}

bool has_feature(std::string_view name) noexcept {
  if (name == "cpu") return kernel::device_count(DeviceType::kCpu) > 0;
  if (name == "cuda") return kernel::device_count(DeviceType::kCuda) > 0;
  return name == "dlpack";
}

}  // namespace tsr::capi
