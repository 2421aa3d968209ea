// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/backend.h"

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise.h"
#include "base/cpu_device.h"

namespace tsr::cpu {

const kernel::Backend* backend_entry(const kernel::HostServices* services) {
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  set_host(services);
  if (best_level() == nullptr) {
    failure(Code::kBackend,
            concat("expected a processor with ", least_processor(), ", got one without").c_str());
    return nullptr;
  }
  fill_pointwise_tables();
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kCpu, "tessera-cpu",
                                       &cpu_device_interface(), &kKernels};
  return &backend;
}

}  // namespace tsr::cpu
