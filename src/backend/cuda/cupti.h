// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The timeline of CUDA devices: CUPTI's activity records. CUPTI is opened, not linked.
#pragma once

#include "base/device_interface.h"

namespace tsr::cuda {

// A code of the device that is neither CUDA's nor the library's.
inline constexpr int32_t kNoCupti = -3;

// Null if the plugin was compiled without CUPTI's headers.
const DeviceTimeline* timeline() noexcept;

}  // namespace tsr::cuda
