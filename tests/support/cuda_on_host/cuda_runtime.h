// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA run time that the CUDA backend uses, on the host: the threads of a block
// take turns (Note [Threads on the host]), blocks run one after the other, and memory is host
// memory. So the backend's own sources are compiled by the C++ compiler and tested on machines
// without a GPU. This tests the results of kernels and their waits, not truly parallel execution.
//
// Note [Late work]
// Work that is queued on a stream runs as late as possible: when somebody waits for it, or when the
// queue is long. So a missing wait between two streams, or before the host reads, gives a wrong
// result every time. Memory and devices are checked as CUDA does. A copy must have the right kind,
// a stream must be used while its device is current, and the accesses of a kernel must be aligned
// (the plugin is compiled with -fsanitize=alignment, whose reports come here). After failed work,
// every later call on its device fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>

#include "block_threads.h"

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
inline void __threadfence_system() {}
inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at += value;
  return before;
}

// ---- The run time ----

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorECCUncorrectable = 214,
  cudaErrorNvlinkUncorrectable = 220,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorAssert = 710,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor = 75 };
struct cudaDeviceProp {
  char name[256];
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline constexpr unsigned cudaHostAllocPortable = 1;
inline constexpr unsigned cudaHostAllocMapped = 2;
#define CUDART_VERSION 13000
#define cudaEnableDefault 0x00
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

#pragma GCC visibility push(default)
extern "C" {
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** out, size_t nbytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaHostAlloc(void** out, size_t nbytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t nbytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device,
                                size_t nbytes, cudaStream_t stream);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaMemsetAsync(void* dst, int value, size_t nbytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

// ---- For tests, which call them through ctypes ----

// After `calls` more calls, the function of this name fails with `error`; if `calls` is negative,
// every call fails. The name "kernel" means running a kernel, and then the device fails for good.
void cuda_on_host_fail(const char* name, int error, int64_t calls);
// The number of calls of a function. "launch" counts kernels, and "wait" the times when the host
// had to wait for queued work.
int64_t cuda_on_host_calls(const char* name);
// Removes all requested failures and counts, and repairs all devices.
void cuda_on_host_reset();
// As the driver's cuDevicePrimaryCtxGetState: active is 1 for a device that the process has used.
int cuda_on_host_context_state(int device, unsigned* flags, int* active);
}

namespace tsr::cuda::on_host {

// Counts a call of a function. Returns 0, or the error that a test has requested.
int failure(const char* name);
// Reports that the threads of a kernel that is running wait for one another for ever.
void report_stuck();
// Queues work on the stream, whose device must be the current one; returns the error of a launch.
cudaError_t enqueue(const char* name, cudaStream_t stream, std::function<void()> work);

}  // namespace tsr::cuda::on_host
#pragma GCC visibility pop

// ---- Kernels ----

namespace tsr::cuda {

namespace on_host {

// Three blocks have all kinds of boundaries between blocks.
inline constexpr unsigned kBlocks = 3;

template <class... Parameters>
struct Kernel {
  void (*entry)(Parameters...);
  std::tuple<Parameters...> arguments;

  static void run(const void* kernel) {
    const auto& own = *static_cast<const Kernel*>(kernel);
    std::apply(own.entry, own.arguments);
  }
};

template <class... Parameters>
cudaError_t launch(unsigned blocks, int threads, cudaStream_t stream, void (*entry)(Parameters...),
                   std::tuple<Parameters...> arguments) {
  const Kernel<Parameters...> kernel{entry, std::move(arguments)};
  return enqueue("launch", stream, [blocks, threads, kernel] {
    gridDim.x = blocks < kBlocks ? blocks : kBlocks;
    blockDim.x = static_cast<unsigned>(threads) < kThreadsOfBlock ? static_cast<unsigned>(threads)
                                                                  : kThreadsOfBlock;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
      if (!run_block(blockDim.x, &threadIdx.x, &Kernel<Parameters...>::run, &kernel))
        report_stuck();
    }
  });
}

}  // namespace on_host
}  // namespace tsr::cuda
