// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The index family's rows: checks of many indices at once, and sums of rows.
#pragma once

#include <cstring>

#include "backend/cpu/index/index_rows.h"

namespace tsr::cpu::TSR_ISA {

inline uint64_t outside_signs(int64_t count, const void* indices, uint64_t below, uint64_t size) {
  const auto* bytes = static_cast<const char*>(indices);
  uint64_t signs = 0;
#pragma omp simd reduction(| : signs)
  for (int64_t i = 0; i < count; ++i) {
    uint64_t index = 0;
    std::memcpy(&index, bytes + i * 8, sizeof(index));
    signs |= outside_sign(index, below, size);
  }
  return signs;
}

template <class T>
void add_row(int64_t count, void* to, const void* from) {
  auto* target = static_cast<T*>(to);
  const auto* source = static_cast<const T*>(from);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) target[i] += source[i];
}

inline constexpr IndexRows kIndexRows{outside_signs, add_row<float>, add_row<double>};

}  // namespace tsr::cpu::TSR_ISA
