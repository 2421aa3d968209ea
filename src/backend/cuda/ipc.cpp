// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Device memory and events for other processes of the machine, by CUDA's own handles.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/host.h"
#include "base/ipc_interface.h"

namespace tsr::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(IpcBytes));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(IpcBytes));

// The events of this file that are not destroyed yet.
struct SharedEvents {
  std::mutex mutex;
  std::vector<cudaEvent_t> all;
  std::atomic<size_t> count{0};
};
SharedEvents& shared_events() {
  static auto& one = *new SharedEvents;  // never destroyed: threads may still run at the end
  return one;
}

// Gives out an event that was made; destroys it if there is no memory to remember it.
cudaError_t remember(cudaEvent_t& event) {
  SharedEvents& shared = shared_events();
  try {
    const std::lock_guard lock(shared.mutex);
    shared.all.push_back(event);
    shared.count.store(shared.all.size(), std::memory_order_relaxed);
    return cudaSuccess;
  } catch (...) {
    static_cast<void>(cudaEventDestroy(std::exchange(event, nullptr)));
    return cudaErrorMemoryAllocation;
  }
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
    const cudaError_t error =
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess);
    return error == cudaSuccess ? remember(event) : error;
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
    const cudaError_t error =
        cudaIpcOpenEventHandle(&event, handle_of<cudaIpcEventHandle_t>(*handle));
    return error == cudaSuccess ? remember(event) : error;
  });
  *out = event;
  return code;
}

constexpr IpcInterface kIpc{kIpcVersion,  memory_handle, memory_open, memory_close,
                            event_create, event_handle,  event_open};

}  // namespace

bool forget_shared_event(cudaEvent_t event) noexcept {
  SharedEvents& shared = shared_events();
  if (shared.count.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(shared.mutex);
  const auto found = std::find(shared.all.begin(), shared.all.end(), event);
  if (found == shared.all.end()) return false;
  shared.all.erase(found);
  shared.count.store(shared.all.size(), std::memory_order_relaxed);
  return true;
}

}  // namespace tsr::cuda

extern "C" [[gnu::visibility("default")]] const tsr::IpcInterface* tsr_backend_ipc() {
  return &tsr::cuda::kIpc;
}
