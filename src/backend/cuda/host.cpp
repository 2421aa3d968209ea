// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/host.h"

namespace tsr::cuda {

using kernel::Status;

namespace {

const kernel::HostServices* g_host = nullptr;

}  // namespace

void set_host(const kernel::HostServices* services) noexcept {
  g_host = services;
}

Status failure(Code code, const char* text, int64_t native_code) noexcept {
  g_host->set_error(text, native_code);
  return static_cast<Status>(code);
}

Status cuda_failure(cudaError_t error) noexcept {
  static_cast<void>(cudaGetLastError());
  const Code code = error == cudaErrorMemoryAllocation ? Code::kOutOfMemory : Code::kBackend;
  return failure(code, cudaGetErrorString(error), static_cast<int64_t>(error));
}

DeviceGuard::DeviceGuard(int32_t device) noexcept {
  int current = device;
  if (cudaGetDevice(&current) == cudaSuccess && current != device &&
      cudaSetDevice(device) == cudaSuccess) {
    former_ = current;
  }
}
DeviceGuard::~DeviceGuard() {
  if (former_ >= 0) static_cast<void>(cudaSetDevice(former_));
}

Workspace::Workspace(kernel::Place place, int64_t nbytes) noexcept
    : place_(place), data_(nullptr), nbytes_(static_cast<uint64_t>(nbytes)) {
  if (nbytes > 0) data_ = g_host->workspace_allocate(DeviceType::kCuda, place, nbytes_);
}
Workspace::~Workspace() {
  if (data_ != nullptr) g_host->workspace_free(DeviceType::kCuda, place_, data_, nbytes_);
}

Status no_workspace() noexcept {
  return failure(Code::kOutOfMemory, "expected workspace on the device, got none");
}

}  // namespace tsr::cuda
