// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Transposition of a square of registers. The moves are those that have an instruction without a
// table of lanes: inside groups of 128 bits, and of whole groups.
#pragma once

#include <utility>

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

template <class T>
using LaneSequence = std::make_index_sequence<Vec<T>::kSize>;

// Lanes of a group of 128 bits, and the groups of a register.
template <class T>
inline constexpr size_t kGroupLanes = 16 / sizeof(T);
template <class T>
inline constexpr size_t kGroups = Vec<T>::kSize / kGroupLanes<T>;

// From each group of `a` and of `b` the lower half (kHalf 0) or the upper one: units of kUnit lanes
// by turns.
template <size_t kUnit, size_t kHalf, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> interleave(Vec<T> a, Vec<T> b, std::index_sequence<kLane...>) {
  constexpr size_t kSize = Vec<T>::kSize;
  constexpr size_t kGroup = kGroupLanes<T>;
  return Vec<T>(__builtin_shufflevector(
      a.v, b.v,
      (kLane / kGroup * kGroup + kHalf * kGroup / 2 + kLane % kGroup / (2 * kUnit) * kUnit +
       kLane % kUnit + kLane / kUnit % 2 * kSize)...));
}
// The groups of `a` with even (kOdd 0) or odd numbers, then those of `b`.
template <size_t kOdd, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> choose_groups(Vec<T> a, Vec<T> b,
                                                   std::index_sequence<kLane...>) {
  constexpr size_t kGroup = kGroupLanes<T>;
  return Vec<T>(__builtin_shufflevector(
      a.v, b.v, ((2 * (kLane / kGroup) + kOdd) * kGroup + kLane % kGroup)...));
}

// Group j of register i becomes group i of register j; the registers are `kStep` apart.
template <size_t kStep, class T>
[[gnu::always_inline]] inline void transpose_groups(Vec<T>* square) {
  constexpr LaneSequence<T> kLanes;
  if constexpr (kGroups<T> == 2) {
    const Vec<T> even = choose_groups<0>(square[0], square[kStep], kLanes);
    square[kStep] = choose_groups<1>(square[0], square[kStep], kLanes);
    square[0] = even;
  } else if constexpr (kGroups<T> == 4) {
    const Vec<T> first = choose_groups<0>(square[0], square[kStep], kLanes);
    const Vec<T> second = choose_groups<1>(square[0], square[kStep], kLanes);
    const Vec<T> third = choose_groups<0>(square[2 * kStep], square[3 * kStep], kLanes);
    const Vec<T> fourth = choose_groups<1>(square[2 * kStep], square[3 * kStep], kLanes);
    square[0] = choose_groups<0>(first, third, kLanes);
    square[kStep] = choose_groups<0>(second, fourth, kLanes);
    square[2 * kStep] = choose_groups<1>(first, third, kLanes);
    square[3 * kStep] = choose_groups<1>(second, fourth, kLanes);
  }
}

// Unit j of register i becomes unit i of register j, for units of kUnit lanes: there are as many
// registers as units.
template <size_t kUnit, class T>
[[gnu::always_inline]] inline void transpose_units(Vec<T>* square) {
  constexpr LaneSequence<T> kLanes;
  constexpr size_t kInGroup = kGroupLanes<T> / kUnit;
#pragma GCC unroll 16
  for (size_t i = 0; i < Vec<T>::kSize / kUnit; i += kInGroup) {
    Vec<T>* const row = square + i;
    if constexpr (kInGroup == 2) {
      const Vec<T> low = interleave<kUnit, 0>(row[0], row[1], kLanes);
      row[1] = interleave<kUnit, 1>(row[0], row[1], kLanes);
      row[0] = low;
    } else if constexpr (kInGroup == 4) {
      const Vec<T> first = interleave<kUnit, 0>(row[0], row[1], kLanes);
      const Vec<T> second = interleave<kUnit, 1>(row[0], row[1], kLanes);
      const Vec<T> third = interleave<kUnit, 0>(row[2], row[3], kLanes);
      const Vec<T> fourth = interleave<kUnit, 1>(row[2], row[3], kLanes);
      row[0] = interleave<2 * kUnit, 0>(first, third, kLanes);
      row[1] = interleave<2 * kUnit, 1>(first, third, kLanes);
      row[2] = interleave<2 * kUnit, 0>(second, fourth, kLanes);
      row[3] = interleave<2 * kUnit, 1>(second, fourth, kLanes);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < kInGroup; ++i) transpose_groups<kInGroup>(square + i);
}

// Lane j of register i becomes lane i of register j.
template <class T>
[[gnu::always_inline]] inline void transpose(Vec<T>* square) {
  transpose_units<1>(square);
}

}  // namespace tsr::cpu::TSR_ISA
