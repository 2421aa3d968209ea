// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows that move elements by their size alone.
#pragma once

#include <cstring>
#include <utility>

#include "backend/common/vec.h"
#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/isa/find.h"

namespace tsr::cpu::TSR_ISA {

struct MovedPair {
  int64_t low, high;
};

// Every lane gets the element. The last store may repeat what the one before it wrote.
template <class T>
inline void repeat_lanes(int64_t count, void* to, const void* element) {
  using V = Vec<T>;
  T one;
  std::memcpy(&one, element, sizeof(T));
  T* const target = static_cast<T*>(to);
  if (count < V::kSize) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(target + i, &one, sizeof(T));
    return;
  }
  const V value(one);
  int64_t i = 0;
  for (; i + 4 * V::kSize <= count; i += 4 * V::kSize) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) value.store(target + i + k * V::kSize);
  }
  for (; i + V::kSize <= count; i += V::kSize) value.store(target + i);
  if (i < count) value.store(target + count - V::kSize);
}
inline void repeat_element(int64_t count, int64_t size, void* to, const void* element) {
  switch (size) {
    case 1:
      return repeat_lanes<int8_t>(count, to, element);
    case 2:
      return repeat_lanes<int16_t>(count, to, element);
    case 4:
      return repeat_lanes<int32_t>(count, to, element);
    case 8:
      return repeat_lanes<int64_t>(count, to, element);
    default: {
      auto* target = static_cast<MovedPair*>(to);
      MovedPair one;
      std::memcpy(&one, element, sizeof(MovedPair));
      for (int64_t i = 0; i < count; ++i) std::memcpy(target + i, &one, sizeof(MovedPair));
    }
  }
}

template <class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> reversed_lanes(Vec<T> a, std::index_sequence<kLane...>) {
  return Vec<T>(__builtin_shufflevector(a.v, a.v, (sizeof...(kLane) - 1 - kLane)...));
}
template <class T>
void reverse_elements(int64_t count, void* to, const void* from) {
  using V = Vec<T>;
  T* target = static_cast<T*>(to);
  const T* source = static_cast<const T*>(from);
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) {
    reversed_lanes(V::load(source + count - i - V::kSize), std::make_index_sequence<V::kSize>())
        .store(target + i);
  }
  for (; i < count; ++i) std::memcpy(target + i, source + count - 1 - i, sizeof(T));
}
inline void reverse_row(int64_t count, int64_t size, void* to, const void* from) {
  switch (size) {
    case 1:
      return reverse_elements<int8_t>(count, to, from);
    case 2:
      return reverse_elements<int16_t>(count, to, from);
    case 4:
      return reverse_elements<int32_t>(count, to, from);
    case 8:
      return reverse_elements<int64_t>(count, to, from);
    default: {
      auto* target = static_cast<MovedPair*>(to);
      const auto* last = static_cast<const MovedPair*>(from) + count - 1;
      for (int64_t i = 0; i < count; ++i) std::memcpy(target + i, last - i, sizeof(MovedPair));
    }
  }
}

inline constexpr CopyRows kCopyRows{
    .cast = find_cast,
    .stream = stream_copy,
    .repeat = repeat_element,
    .reverse = reverse_row,
};

}  // namespace tsr::cpu::TSR_ISA
