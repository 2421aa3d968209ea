// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Transposition of a square of registers.
#pragma once

#include <utility>

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

template <class T>
using LaneSequence = std::make_index_sequence<Vec<T>::kSize>;

// Exchanges the lanes with bit kBit of `a` for those without it of `b`.
template <int kBit, class T, size_t... kLane>
[[gnu::always_inline]] inline void exchange_lanes(Vec<T>& a, Vec<T>& b,
                                                  std::index_sequence<kLane...>) {
  constexpr size_t kSize = Vec<T>::kSize;
  constexpr size_t kStep = kBit;
  const auto low =
      __builtin_shufflevector(a.v, b.v, ((kLane & kStep) == 0 ? kLane : kSize + kLane - kStep)...);
  const auto high =
      __builtin_shufflevector(a.v, b.v, ((kLane & kStep) == 0 ? kLane + kStep : kSize + kLane)...);
  a = Vec<T>(low);
  b = Vec<T>(high);
}

// Lane j of register i becomes lane i of register j.
template <int kBit, class T>
[[gnu::always_inline]] inline void transpose_from(Vec<T>* square) {
  if constexpr (kBit > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < Vec<T>::kSize; ++i) {
      if ((i & kBit) == 0) exchange_lanes<kBit>(square[i], square[i + kBit], LaneSequence<T>());
    }
    transpose_from<kBit / 2>(square);
  }
}
template <class T>
[[gnu::always_inline]] inline void transpose(Vec<T>* square) {
  transpose_from<Vec<T>::kSize / 2>(square);
}

}  // namespace tsr::cpu::TSR_ISA
