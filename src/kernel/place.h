// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// place_on: where a kernel on a device runs.
#pragma once

#include "kernel/contract.h"
#include "memory/stream.h"

namespace tsr::kernel {

// The place of a kernel on this device: the calling thread's current stream.
[[nodiscard]] inline Place place_on(Device device) noexcept {
  return {device.index, current_stream(device)};
}

}  // namespace tsr::kernel
