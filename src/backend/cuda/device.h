// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CUDA devices as the allocator and the runtime see them: memory, streams, events, copies.
#pragma once

#include "backend/cuda/host.h"
#include "base/device_interface.h"

namespace tsr::cuda {

const DeviceInterface& device_interface() noexcept;

// Whether the event was made for or came from another process (ipc.cpp). Forgets it: the caller
// destroys it.
bool forget_shared_event(cudaEvent_t event) noexcept;

// A code of the device that is neither CUDA's nor the library's; kNoCupti is another.
inline constexpr int32_t kNotInGraph = -4;

// Converts a CUDA error to the device's status and clears the runtime's last error, so that it is
// not reported a second time.
inline int32_t device_code(cudaError_t error) noexcept {
  if (error == cudaSuccess) return kDeviceOk;
  static_cast<void>(cudaGetLastError());
  return error == cudaErrorMemoryAllocation ? kDeviceOutOfMemory : static_cast<int32_t>(error);
}

// Makes the device current and calls the runtime; if that fails, does not call it.
template <class Call>
int32_t on_device(int32_t device, const Call& call) {
  const DeviceGuard guard(device);
  return device_code(guard.error() == cudaSuccess ? call() : guard.error());
}

}  // namespace tsr::cuda
