// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The plugin's entry: the table of kernels, and whether there is a device to run them on.
#include "backend/cuda/device.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/host.h"

extern "C" [[gnu::visibility("default")]] const tsr::kernel::Backend* tsr_backend_entry(
    const tsr::kernel::HostServices* services) {
  using namespace tsr;
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  cuda::set_host(services);
  if (cuda::device_count() == 0) {
    char text[256];
    cuda::missing_devices(text, sizeof text);
    cuda::failure(Code::kBackend, text);
    return nullptr;
  }
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kCuda, "tessera-cuda",
                                       &cuda::device_interface(), &cuda::kKernels};
  return &backend;
}
