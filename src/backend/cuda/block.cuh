// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collective functions of the threads of a warp and of a block (see Note [Grid-stride]). Values are
// joined in the order of the threads, so that results are the same in every run; join(a, b) has a
// before b. All threads of the warp or block call them.
#pragma once

#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

__device__ inline int lane_of_thread() {
  return static_cast<int>(threadIdx.x) % kWarp;
}
__device__ inline int warp_of_thread() {
  return static_cast<int>(threadIdx.x) / kWarp;
}
__device__ inline int warps_of_block() {
  return static_cast<int>(blockDim.x) / kWarp;
}

// ---- Warps ----

// Sends a value of any size through move(word), a function between lanes for 32 bits.
template <class T, class Move>
__device__ T sent(const T& value, const Move& move) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint32_t) == 0);
  constexpr int kWords = sizeof(T) / sizeof(uint32_t);
  uint32_t words[kWords];
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < kWords; ++w) words[w] = move(words[w]);
  T found;
  std::memcpy(&found, words, sizeof(T));
  return found;
}
inline constexpr unsigned kAllLanes = 0xffffffff;
// The value of the lane whose number differs in the bits of `mask`.
template <class T>
__device__ T from_across(const T& value, int mask) {
  return sent(value, [mask](uint32_t word) { return __shfl_xor_sync(kAllLanes, word, mask); });
}
template <class T>
__device__ T from_lane(const T& value, int lane) {
  return sent(value, [lane](uint32_t word) { return __shfl_sync(kAllLanes, word, lane); });
}
// The value of the lane `reach` before; its own in the first lanes.
template <class T>
__device__ T from_before(const T& value, int reach) {
  return sent(value, [reach](uint32_t word) {
    return __shfl_up_sync(kAllLanes, word, static_cast<unsigned>(reach));
  });
}

// All lanes receive the same bits.
template <class T, class Join>
__device__ T join_warp(T value, const Join& join) {
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const T other = from_across(value, reach);
    value = (lane_of_thread() & reach) != 0 ? join(other, value) : join(value, other);
  }
  return value;
}

// What the values of the lanes up to this one join to. Hillis and Steele (1986).
template <class T, class Join>
__device__ T joined_to(T value, const Join& join) {
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const T other = from_before(value, reach);
    if (lane_of_thread() >= reach) value = join(other, value);
  }
  return value;
}

// ---- Blocks ----
// `place` is shared memory for kWarps values.

template <class T, class Join>
__device__ T join_block(T value, T* place, const Join& join) {
  value = join_warp(value, join);
  if (lane_of_thread() == 0) place[warp_of_thread()] = value;
  __syncthreads();
  T whole = place[0];
  for (int warp = 1; warp < warps_of_block(); ++warp) whole = join(whole, place[warp]);
  __syncthreads();  // the next call writes here
  return whole;
}

// What the values of the threads before this one join to, `none` for the first; `total` becomes
// what all join to.
template <class T, class Join>
__device__ T joined_before(const T& value, const T& none, T* place, T& total, const Join& join) {
  const T reached = joined_to(value, join);
  if (lane_of_thread() == kWarp - 1) place[warp_of_thread()] = reached;
  T before = from_before(reached, 1);
  if (lane_of_thread() == 0) before = none;
  __syncthreads();
  T ahead = none;
  total = none;
  for (int warp = 0; warp < warps_of_block(); ++warp) {
    if (warp == warp_of_thread()) ahead = total;
    total = join(total, place[warp]);
  }
  __syncthreads();  // the next call writes here
  return join(ahead, before);
}

// The exclusive prefix sum over the threads; `total` becomes the sum of all.
__device__ inline int64_t sum_before(int64_t value, int64_t* place, int64_t& total) {
  return joined_before(value, int64_t{0}, place, total, [](int64_t a, int64_t b) { return a + b; });
}

}  // namespace tsr::cuda
