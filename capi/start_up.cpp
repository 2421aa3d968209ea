// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/start_up.h"

#include "base/device.h"
#include "kernel/registry.h"
#include "ops/start_up.h"

namespace tsr::cpu {
// Backends are leaves: no header of theirs is included here, only this function is declared.
const kernel::Backend* backend_entry(const kernel::HostServices* services);
}  // namespace tsr::cpu

namespace tsr::capi {

void start_up() {
  static const bool kReady = [] {
    kernel::register_backend(cpu::backend_entry);
    ops::start_up();
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
