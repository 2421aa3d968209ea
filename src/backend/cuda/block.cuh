// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collective functions of the threads of a block (see Note [Grid-stride]).
#pragma once

#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

// Combines the values of all threads in the order of the threads, and returns the result to every
// thread. `place` is shared memory for kThreads values; join(a, b) has a before b.
template <class T, class Join>
__device__ T join_block(T value, T* place, const Join& join) {
  const int me = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(blockDim.x);
  place[me] = value;
  __syncthreads();
  for (int reach = 1; reach < count; reach *= 2) {
    if (me % (2 * reach) == 0 && me + reach < count) place[me] = join(place[me], place[me + reach]);
    __syncthreads();
  }
  const T whole = place[0];
  __syncthreads();  // the next call writes here
  return whole;
}

// The exclusive prefix sum over the threads; `total` becomes the sum of all. `place` is shared
// memory for 2 * kThreads of them. Hillis and Steele (1986).
template <class T>
__device__ T sum_before(T value, T* place, T& total) {
  const int me = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(blockDim.x);
  T* from = place;
  T* to = place + kThreads;
  from[me] = value;
  __syncthreads();
  for (int reach = 1; reach < count; reach *= 2) {
    to[me] = me >= reach ? from[me - reach] + from[me] : from[me];
    T* const other = from;
    from = to;
    to = other;
    __syncthreads();
  }
  total = from[count - 1];
  const T before = from[me] - value;
  __syncthreads();  // the next call writes here
  return before;
}

}  // namespace tsr::cuda
