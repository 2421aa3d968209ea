// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Packs: neighbouring elements that one instruction moves. A thread that moves 16 bytes at a time
// reaches the memory's bandwidth with few instructions, also for elements of one or two bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tsr::cuda {

inline constexpr int kPackBytes = 16;

// Elements of a size in a pack.
template <class T>
inline constexpr int kPackOf = sizeof(T) < kPackBytes ? kPackBytes / static_cast<int>(sizeof(T))
                                                      : 1;

template <class T, int kItems>
struct alignas(sizeof(T) * kItems < kPackBytes ? sizeof(T) * kItems : kPackBytes) Pack {
  T items[kItems];
};

// Elements from `data` on to the first address that a pack may have, at most `most`.
template <class T, int kItems>
__device__ int64_t elements_before_pack(const T* data, int64_t most) {
  constexpr uintptr_t kAlignment = alignof(Pack<T, kItems>);
  const uintptr_t beyond = reinterpret_cast<uintptr_t>(data) % kAlignment;
  const auto count = static_cast<int64_t>((kAlignment - beyond) % kAlignment / sizeof(T));
  return count < most ? count : most;
}

}  // namespace tsr::cuda
