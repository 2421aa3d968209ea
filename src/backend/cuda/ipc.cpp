// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Device memory and events for other processes of the machine, by CUDA's own handles.
#include <cuda_runtime_api.h>

#include <cstring>

#include "backend/cuda/device.h"
#include "backend/cuda/host.h"
#include "base/ipc_interface.h"

namespace tsr::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(IpcBytes));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(IpcBytes));

// Calls the runtime with the device current; clears the runtime's last error.
template <class Call>
int32_t on_device(int32_t device, const Call& call) {
  const DeviceGuard guard(device);
  const cudaError_t error = guard.error() == cudaSuccess ? call() : guard.error();
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error == cudaErrorMemoryAllocation ? kDeviceOutOfMemory : static_cast<int32_t>(error);
}

template <class Handle>
Handle handle_of(const IpcBytes& bytes) {
  Handle handle;
  std::memcpy(&handle, &bytes, sizeof(handle));
  return handle;
}

int32_t memory_handle(int32_t device, void* base, IpcBytes* out) {
  return on_device(device, [&] {
    cudaIpcMemHandle_t handle{};
    const cudaError_t error = cudaIpcGetMemHandle(&handle, base);
    std::memcpy(out, &handle, sizeof(handle));
    return error;
  });
}
int32_t memory_open(int32_t device, const IpcBytes* handle, void** base) {
  return on_device(device, [&] {
    return cudaIpcOpenMemHandle(base, handle_of<cudaIpcMemHandle_t>(*handle),
                                cudaIpcMemLazyEnablePeerAccess);
  });
}
int32_t memory_close(int32_t device, void* base) {
  return on_device(device, [&] { return cudaIpcCloseMemHandle(base); });
}

int32_t event_create(int32_t device, EventHandle* out) {
  cudaEvent_t event = nullptr;
  const int32_t code = on_device(device, [&] {
    return cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess);
  });
  *out = event;
  return code;
}
int32_t event_handle(int32_t device, EventHandle event, IpcBytes* out) {
  return on_device(device, [&] {
    cudaIpcEventHandle_t handle{};
    const cudaError_t error = cudaIpcGetEventHandle(&handle, static_cast<cudaEvent_t>(event));
    std::memcpy(out, &handle, sizeof(handle));
    return error;
  });
}
int32_t event_open(int32_t device, const IpcBytes* handle, EventHandle* out) {
  cudaEvent_t event = nullptr;
  const int32_t code = on_device(device, [&] {
    return cudaIpcOpenEventHandle(&event, handle_of<cudaIpcEventHandle_t>(*handle));
  });
  *out = event;
  return code;
}

constexpr IpcInterface kIpc{kIpcVersion,  memory_handle, memory_open, memory_close,
                            event_create, event_handle,  event_open};

}  // namespace
}  // namespace tsr::cuda

extern "C" [[gnu::visibility("default")]] const tsr::IpcInterface* tsr_backend_ipc() {
  return &tsr::cuda::kIpc;
}
