// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Launching kernels, and walking over the elements of a plan inside them.
//
// Note [Grid-stride]
// Kernels are correct for every number of blocks, and for every number of threads that is a
// multiple of kWarp: they visit elements with `for (i = first_index(); i < n; i += index_step())`,
// and threads that cooperate use the functions of block.cuh. The tests run them on a machine
// without a GPU with few of both (tests/support/cuda_on_host).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "backend/cuda/host.h"

namespace tsr::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / kWarp;
// Enough to fill the largest device several times; with more elements, threads loop.
inline constexpr int64_t kMaxBlocks = 8192;

inline cudaStream_t stream_of(kernel::Place place) {
  return static_cast<cudaStream_t>(place.stream);
}

__device__ inline int64_t first_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t index_step() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

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

// 64-bit division takes about a hundred instructions on a GPU, the 32-bit one about twenty.
__device__ inline int64_t divide(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0)
    return static_cast<int64_t>(static_cast<uint32_t>(a) / static_cast<uint32_t>(b));
  return a / b;
}
__device__ inline int64_t modulo(int64_t a, int64_t b) {
  return a - divide(a, b) * b;
}

// The iteration part of a plan over K operands; strides in bytes.
//
// Note [Short walks]
// A kernel's arguments are copied at each launch, and constant memory holds them while it runs. A
// walk over kMaxRank dims takes 1 KiB and 512 bytes for each operand, a short one an eighth. Plans
// come with neighbouring dims merged, so that almost none has more than kShortRank dims; one that
// has runs as several launches (each_short_walk).
template <int K, int kDims = kernel::kMaxRank>
struct Walk {
  int32_t ndim;
  int64_t numel;
  int64_t sizes[kDims];
  int64_t strides[K][kDims];

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
};

inline constexpr int kShortRank = 8;
template <int K>
using ShortWalk = Walk<K, kShortRank>;

// Calls launch(walk over the last dims, byte offset of each operand) for every index of the dims
// before them: once, unless the plan has more than kShortRank dims.
template <int K, class Launch>
kernel::Status each_short_walk(const kernel::ElementwisePlan& plan, const Launch& launch) {
  const int32_t outer = std::max(plan.ndim - kShortRank, 0);
  ShortWalk<K> walk;
  walk.ndim = plan.ndim - outer;
  walk.numel = plan.numel;
  const size_t bytes = sizeof(int64_t) * static_cast<size_t>(walk.ndim);
  std::memcpy(walk.sizes, plan.sizes + outer, bytes);
  for (int k = 0; k < K; ++k) std::memcpy(walk.strides[k], plan.strides[k] + outer, bytes);
  int64_t launches = 1;
  for (int32_t d = 0; d < outer; ++d) launches *= plan.sizes[d];
  if (launches != 0) walk.numel /= launches;
  for (int64_t i = 0; i < launches; ++i) {
    int64_t at[K] = {};
    int64_t rest = i;
    for (int32_t d = outer - 1; d >= 0; --d) {
      for (int k = 0; k < K; ++k) at[k] += rest % plan.sizes[d] * plan.strides[k][d];
      rest /= plan.sizes[d];
    }
    const kernel::Status status = launch(walk, at);
    if (status != kernel::kOk) return status;
  }
  return kernel::kOk;
}

}  // namespace tsr::cuda
