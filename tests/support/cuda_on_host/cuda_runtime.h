// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA run time that the CUDA backend uses, on the host: every block is one thread
// that does the work of the whole block, memory is the host's, streams finish at once. With it the
// backend's own sources are compiled by the C++ compiler and tested on machines without a GPU. It
// shows that kernels compute the right thing, not that they compute it in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __restrict__
#define __grid_constant__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline thread_local dim3 threadIdx{0, 0, 0};
inline thread_local dim3 blockIdx{0, 0, 0};
inline thread_local dim3 blockDim{1, 1, 1};
inline thread_local dim3 gridDim{1, 1, 1};
inline void __syncthreads() {}

namespace tsr::cuda {

inline int64_t first_index() {
  return blockIdx.x;
}
inline int64_t index_step() {
  return gridDim.x;
}

namespace on_host {

// A few blocks are enough to meet every boundary between them.
inline constexpr int64_t kBlocks = 3;

template <class Kernel>
void run(int64_t blocks, int, const Kernel& kernel) {
  gridDim.x = static_cast<unsigned>(blocks < kBlocks ? blocks : kBlocks);
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) kernel();
}

}  // namespace on_host
}  // namespace tsr::cuda

// ---- The run time ----

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;

inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the host's stand-in";
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaMalloc(void** out, size_t nbytes) {
  *out = std::aligned_alloc(256, (nbytes + 255) / 256 * 256);
  return *out != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* data) {
  std::free(data);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{4} << 30;
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t nbytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(dst, src, nbytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* dst, int value, size_t nbytes, cudaStream_t) {
  std::memset(dst, value, nbytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  *out = reinterpret_cast<cudaStream_t>(std::malloc(1));
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::free(stream);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  *out = reinterpret_cast<cudaEvent_t>(std::malloc(1));
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  std::free(event);
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
