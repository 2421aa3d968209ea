// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: raw pages from the operating system, no streams, no events.
#pragma once

#include "base/device_interface.h"

namespace tsr {

// Raw allocations of 2 MiB and more start at a multiple of 2 MiB; larger ones also ask for huge
// pages. memory_info respects the limit of the control group.
const DeviceInterface& cpu_device_interface() noexcept;

}  // namespace tsr
