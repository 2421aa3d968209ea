// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Launching kernels, and walking over the elements of a plan inside them.
//
// Note [Grid-stride]
// Kernels are correct for every number of blocks and threads: they visit elements with `for (i =
// first_index(); i < n; i += index_step())`, and threads that cooperate use the functions of
// block.cuh. So one thread can do all the work. The tests run kernels that way on a machine without
// a GPU (tests/support/cuda_on_host).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "backend/cuda/host.h"

namespace tsr::cuda {

inline constexpr int kThreads = 256;
// Enough to fill the largest device several times; with more elements, threads loop.
inline constexpr int64_t kMaxBlocks = 8192;

inline cudaStream_t stream_of(kernel::Place place) {
  return static_cast<cudaStream_t>(place.stream);
}

#if defined(__CUDACC__)
__device__ inline int64_t first_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t index_step() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}
#endif

// Starts a kernel and returns the error of this launch only. cudaGetLastError after <<<>>> would
// also return an error that other code has left on this thread.
#if defined(__CUDACC__)
template <class Parameter, class Argument>
using Passed = std::conditional_t<std::is_same_v<Parameter, Argument>, const Parameter&, Parameter>;

template <class... Parameters, class... Arguments>
cudaError_t start(unsigned blocks, int threads, cudaStream_t stream, void (*entry)(Parameters...),
                  const Arguments&... arguments) {
  const std::tuple<Passed<Parameters, Arguments>...> values(arguments...);
  return std::apply(
      [&](const auto&... each) {
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&each))...};
        return cudaLaunchKernel(reinterpret_cast<const void*>(entry), dim3(blocks),
                                dim3(static_cast<unsigned>(threads)), pointers, 0, stream);
      },
      values);
}
#else
template <class... Parameters, class... Arguments>
cudaError_t start(unsigned blocks, int threads, cudaStream_t stream, void (*entry)(Parameters...),
                  const Arguments&... arguments) {
  return on_host::launch(blocks, threads, stream, entry, std::tuple<Parameters...>(arguments...));
}
#endif

// Runs `entry` in `blocks` blocks on the plan's device and stream.
template <class... Parameters, class... Arguments>
kernel::Status launch_blocks(kernel::Place place, int64_t blocks, int threads,
                             void (*entry)(Parameters...), const Arguments&... arguments) {
  if (blocks <= 0) return kernel::kOk;
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  const auto grid = static_cast<unsigned>(std::min(blocks, kMaxBlocks));
  TSR_CUDA_TRY(start(grid, threads, stream_of(place), entry, arguments...));
  return queued(place);
}

// Runs `entry` with one thread per element, up to kMaxBlocks blocks.
template <class... Parameters, class... Arguments>
kernel::Status launch(kernel::Place place, int64_t numel, void (*entry)(Parameters...),
                      const Arguments&... arguments) {
  return launch_blocks(place, (numel + kThreads - 1) / kThreads, kThreads, entry, arguments...);
}

// ---- Walking ----

// The iteration part of a plan over K operands; strides in bytes.
template <int K>
struct Walk {
  int32_t ndim;
  int64_t numel;
  int64_t sizes[kernel::kMaxRank];
  int64_t strides[K][kernel::kMaxRank];

  // The byte offset of element `linear` (in row-major order of the dims) in each operand.
  __device__ void offsets(int64_t linear, int64_t (&found)[K]) const {
    for (int k = 0; k < K; ++k) found[k] = 0;
    for (int d = ndim - 1; d > 0; --d) {
      const int64_t rest = divide(linear, sizes[d]);
      const int64_t index = linear - rest * sizes[d];
      for (int k = 0; k < K; ++k) found[k] += index * strides[k][d];
      linear = rest;
    }
    for (int k = 0; k < K; ++k) found[k] += linear * strides[k][0];
  }

  // 64-bit division takes about a hundred instructions on a GPU, the 32-bit one about twenty.
  __device__ static int64_t divide(int64_t a, int64_t b) {
    if (((a | b) >> 32) == 0)
      return static_cast<int64_t>(static_cast<uint32_t>(a) / static_cast<uint32_t>(b));
    return a / b;
  }
};

template <int K>
Walk<K> walk_of(const kernel::ElementwisePlan& plan) {
  Walk<K> walk;
  walk.ndim = plan.ndim;
  walk.numel = plan.numel;
  const size_t bytes = sizeof(int64_t) * static_cast<size_t>(plan.ndim);
  std::memcpy(walk.sizes, plan.sizes, bytes);
  for (int k = 0; k < K; ++k) std::memcpy(walk.strides[k], plan.strides[k], bytes);
  return walk;
}

}  // namespace tsr::cuda
