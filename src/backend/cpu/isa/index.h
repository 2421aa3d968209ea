// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The index family's rows: checks of many indices at once, and sums of rows.
#pragma once

#include <cstring>

#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/isa/half_vec.h"

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

template <class Short>
void add_short_row(int64_t count, void* to, const void* from) {
  auto* target = static_cast<float*>(to);
  const auto* source = static_cast<const uint16_t*>(from);
  int64_t i = 0;
  for (; i + VF::kSize <= count; i += VF::kSize)
    (VF::load(target + i) + Short::load(source + i)).store(target + i);
  if (i == count) return;
  const VF last = VF::load_part(target + i, count - i, 0.0F);
  (last + load_short_part<Short>(source + i, count - i)).store_part(target + i, count - i);
}

inline constexpr IndexRows kIndexRows{outside_signs, add_row<float>, add_row<double>,
                                      add_short_row<Float16>, add_short_row<Brain16>};

}  // namespace tsr::cpu::TSR_ISA
