// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The threads of a block on the host: each has a stack of its own, and one runs at a time until it
// must wait for others. So barriers, shared memory and warps work as on a device, and results are
// those of kThreadsOfBlock threads.
//
// Note [Threads on the host]
// After each barrier the threads run in the reverse order of the time before. A kernel that lacks a
// barrier so reads shared memory before it is written, whichever order it relies on; it does not
// show every race. A warp function waits for all lanes of the warp. If threads wait for others that
// have ended, or that wait elsewhere, the kernel fails with cudaErrorLaunchFailure.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

inline constexpr int warpSize = 32;

#pragma GCC visibility push(default)
namespace tsr::cuda::on_host {

// Two warps have all kinds of boundaries between warps.
inline constexpr unsigned kThreadsOfBlock = 64;

// Calls body(argument) in every thread of a block. `index` is where the number of the running
// thread is kept. Returns false if the threads wait for one another for ever.
bool run_block(unsigned threads, unsigned* index, void (*body)(const void*), const void* argument);

// Waits for all lanes of the warp. Gives what every lane passed: `size` bytes each, in order.
const unsigned char* exchange(const void* value, unsigned size);

template <class T>
T from_lane(T value, int lane) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  const unsigned char* const all = exchange(&value, sizeof(T));
  T found;
  std::memcpy(&found, all + static_cast<unsigned>(lane) * sizeof(T), sizeof(T));
  return found;
}
int lane();

}  // namespace tsr::cuda::on_host

void __syncthreads();
#pragma GCC visibility pop

// ---- Warp functions: all lanes take part ----

inline void __syncwarp(unsigned = 0xffffffff) {
  const char nothing = 0;
  static_cast<void>(tsr::cuda::on_host::from_lane(nothing, 0));
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return tsr::cuda::on_host::from_lane(value, lane % warpSize);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return tsr::cuda::on_host::from_lane(value, tsr::cuda::on_host::lane() ^ mask);
}
// A lane that has no such neighbour gets its own value.
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned reach) {
  const int me = tsr::cuda::on_host::lane();
  const int from = me - static_cast<int>(reach);
  return tsr::cuda::on_host::from_lane(value, from < 0 ? me : from);
}
