// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011): four 32-bit numbers from a 64-bit seed and a 128-bit counter, the same on
// every device.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace tsr {

// The product of the low halves; a vector of 64-bit lanes has a function of the same name.
TSR_HD inline uint64_t multiply_low_words(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) * static_cast<uint32_t>(b);
}
template <int kBits>
TSR_HD inline uint64_t shift_right(uint64_t a) {
  return a >> kBits;
}

// The four numbers of one block (of one block per lane), in the low halves; the high halves hold
// left-over bits of products.
template <class V>
struct PhiloxBlock {
  V words[4];
};

// The keys of the rounds. A loop over many blocks keeps them, so that none is computed twice.
struct PhiloxKeys {
  uint64_t first[10], second[10];

  TSR_HD explicit PhiloxKeys(uint64_t seed) {
    auto k0 = static_cast<uint32_t>(seed);
    auto k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
      first[round] = k0;
      second[round] = k1;
    }
  }
};

// V is a 64-bit unsigned number or a vector of them: one block per lane's counter. `attempt` is the
// third word of the counter: other blocks of the same element.
template <class V>
TSR_HD inline PhiloxBlock<V> philox(const PhiloxKeys& keys, V counter, uint32_t attempt = 0) {
  V c0 = counter;
  V c1 = shift_right<32>(counter);
  V c2(uint64_t{attempt});
  V c3(uint64_t{0});
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const V p0 = multiply_low_words(c0, V(uint64_t{0xD2511F53U}));
    const V p1 = multiply_low_words(c2, V(uint64_t{0xCD9E8D57U}));
    c0 = shift_right<32>(p1) ^ c1 ^ V(keys.first[round]);
    c1 = p1;
    c2 = shift_right<32>(p0) ^ c3 ^ V(keys.second[round]);
    c3 = p0;
  }
  return {{c0, c1, c2, c3}};
}
template <class V>
TSR_HD inline PhiloxBlock<V> philox(uint64_t seed, V counter, uint32_t attempt = 0) {
  return philox(PhiloxKeys(seed), counter, attempt);
}

}  // namespace tsr
