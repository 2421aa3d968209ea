// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Roof: what a device can do at most, measured.
#pragma once

#include <vector>

#include "base/device.h"

namespace tsr::profile {

struct Roof {
  Device device;
  double bytes_per_second;  // a copy of float32, read and written bytes
  double flops_per_second;  // a product of float32 matrices
};

// Measures at the first call for a device, with the threads that the library then uses; about half
// a second. Throws what the operations throw.
Roof measured_roof(Device device);
// Those that were measured so far.
std::vector<Roof> known_roofs();

}  // namespace tsr::profile
