// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The memory in use over a profile, for each device.
#pragma once

#include <vector>

#include "profile/events.h"

namespace tsr::profile {

struct MemoryCurve {
  Device device;
  std::vector<int64_t> times, bytes;  // in use from each time on
  int64_t peak = 0;
};

// Only devices whose memory changed.
std::vector<MemoryCurve> memory_curves(const Profile& profile);

}  // namespace tsr::profile
