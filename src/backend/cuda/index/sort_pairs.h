// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorts pairs of a key and a position: CUB's radix sort, compiled once for every family.
#pragma once

#include "backend/cuda/host.h"

namespace tsr::cuda {

// Arrays of `count` elements. The sort alternates between them and the spare ones.
struct Pairs {
  uint64_t* keys;
  uint64_t* spare_keys;
  int64_t* positions;
  int64_t* spare_positions;

  static constexpr int64_t kBytes = 2 * (sizeof(uint64_t) + sizeof(int64_t));  // of one pair
  // Places the arrays in count * kBytes of memory.
  static Pairs in(void* memory, int64_t count) {
    auto* keys = static_cast<uint64_t*>(memory);
    auto* positions = reinterpret_cast<int64_t*>(keys + 2 * count);
    return {keys, keys + count, positions, positions + count};
  }
};

// Stable sort by the lowest `bits` of the keys; the other bits must be 0. The result is in `keys`
// and `positions`.
kernel::Status sort_pairs(kernel::Place place, Pairs& pairs, int64_t count, int bits);

}  // namespace tsr::cuda
