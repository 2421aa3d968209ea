// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the index family.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// The sign bit is set if the index lies outside [-below, size): i + below is negative below the
// range, size - 1 - i above it; if one of them wraps, the other one is negative. `below` is size,
// or 0 where negative indices do not count from the end.
[[gnu::always_inline]] inline uint64_t outside_sign(uint64_t index, uint64_t below, uint64_t size) {
  return (index + below) | (size - 1 - index);
}

struct IndexRows {
  // The bitwise or of outside_sign over `count` contiguous int64 indices.
  uint64_t (*outside_signs)(int64_t count, const void* indices, uint64_t below, uint64_t size);
  // to[i] += from[i]; the two do not overlap.
  void (*add_float)(int64_t count, void* to, const void* from);
  void (*add_double)(int64_t count, void* to, const void* from);
  // The same of 16-bit floats, which are widened, to float32.
  void (*add_half)(int64_t count, void* to, const void* from);
  void (*add_bfloat)(int64_t count, void* to, const void* from);
};

}  // namespace tsr::cpu
