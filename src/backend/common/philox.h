// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011): four 32-bit numbers from a 64-bit seed and a 128-bit counter, on every device
// alike.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace tsr {

struct PhiloxBlock {
  uint32_t words[4];

  TSR_HD uint64_t low() const { return words[0] | static_cast<uint64_t>(words[1]) << 32; }
  TSR_HD uint64_t high() const { return words[2] | static_cast<uint64_t>(words[3]) << 32; }
};

TSR_HD inline PhiloxBlock philox(uint64_t seed, uint64_t counter) {
  uint32_t c0 = static_cast<uint32_t>(counter);
  uint32_t c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = 0;
  uint32_t c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(seed);
  uint32_t k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53U) * c0;
    const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57U) * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace tsr
