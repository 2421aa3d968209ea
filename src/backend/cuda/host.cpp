// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/host.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend/cuda/fault.h"

namespace tsr::cuda {

using kernel::Status;

namespace {

const kernel::HostServices* g_host = nullptr;
bool g_waits_for_each = false;
thread_local StreamHandle t_captured = nullptr;
std::atomic<bool> g_forked{false};  // this process is a child; CUDA's state stayed with the parent

// The CUDA error for it; the text is ours.
constexpr cudaError_t kForked = cudaErrorInitializationError;

// Whether TSR_DEBUG, a comma-separated list, contains "sync".
bool asks_for_waits() {
  const char* value = std::getenv("TSR_DEBUG");
  while (value != nullptr) {
    const size_t length = std::strcspn(value, ",");
    if (length == 4 && std::strncmp(value, "sync", 4) == 0) return true;
    value = value[length] == ',' ? value + length + 1 : nullptr;
  }
  return false;
}

// Whether the process uses the device; also true if the driver cannot say.
bool has_context(int device) noexcept {
  // The driver's types, without its header: CUresult, CUdevice.
  using GetState = int (*)(int device, unsigned* flags, int* active);
  static const auto get_state = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr const char* kName = "cuDevicePrimaryCtxGetState";
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(kName, &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(kName, &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess
               ? reinterpret_cast<GetState>(found)
               : nullptr;
  }();
  unsigned flags = 0;
  int active = 1;
  return get_state == nullptr || get_state(device, &flags, &active) != 0 || active != 0;
}

// Whether the process has lost its context, so that every further call to the device fails.
bool is_lost(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return true;
    default:
      return false;
  }
}

}  // namespace

void set_host(const kernel::HostServices* services) noexcept {
  if (g_host != nullptr) return;
  g_host = services;
  g_waits_for_each = asks_for_waits();
  pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
}

int32_t device_count() noexcept {
  static const int32_t found = [] {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
    return error == cudaSuccess ? std::min(count, kMaxDevices) : 0;
  }();
  return found;
}

void missing_devices(char* text, size_t size) noexcept {
  int count = 0;
  int driver = 0;
  int runtime = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  static_cast<void>(cudaGetLastError());
  const auto major = [](int version) { return version / 1000; };
  const auto minor = [](int version) { return version % 1000 / 10; };
  if (driver == 0) {
    std::snprintf(text, size, "expected an NVIDIA driver for CUDA %d.%d or later, got none (%s)",
                  major(runtime), minor(runtime), cudaGetErrorString(error));
  } else if (error == cudaErrorInsufficientDriver) {
    std::snprintf(
        text, size, "expected an NVIDIA driver for CUDA %d.%d or later, got one for CUDA %d.%d: %s",
        major(runtime), minor(runtime), major(driver), minor(driver), cudaGetErrorString(error));
  } else {
    std::snprintf(
        text, size, "expected a CUDA device, got none: %s (CUDA %d.%d, its driver for CUDA %d.%d)",
        cudaGetErrorString(error), major(runtime), minor(runtime), major(driver), minor(driver));
  }
}

const char* error_text(cudaError_t error) noexcept {
  static thread_local char text[256];
  if (error == kForked && g_forked.load(std::memory_order_relaxed))
    return "CUDA does not work in a process forked from one that has used it; start the process "
           "anew (in Python: multiprocessing with the method \"spawn\")";
  if (!is_lost(error)) return cudaGetErrorString(error);
  std::snprintf(text, sizeof text,
                "%s; the process has lost its context on the device and must be started anew; with "
                "TSR_DEBUG=sync the op that did it says so",
                cudaGetErrorString(error));
  return text;
}

Status failure(Code code, const char* text, int64_t native_code) noexcept {
  g_host->set_error(text, native_code);
  return static_cast<Status>(code);
}

Status cuda_failure(cudaError_t error) noexcept {
  static_cast<void>(cudaGetLastError());
  const Code code = error == cudaErrorMemoryAllocation ? Code::kOutOfMemory
                    : is_lost(error)                   ? Code::kAsync
                                                       : Code::kBackend;
  return failure(code, error_text(error), static_cast<int64_t>(error));
}

DeviceGuard::DeviceGuard(int32_t device) noexcept {
  if (g_forked.load(std::memory_order_relaxed)) {
    error_ = kForked;
    return;
  }
  int current = device;
  error_ = cudaGetDevice(&current);
  if (error_ != cudaSuccess || current == device) return;
  error_ = cudaSetDevice(device);
  if (error_ == cudaSuccess && has_context(current)) former_ = current;
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

void release_cached(kernel::Place place) noexcept {
  g_host->release_cached(DeviceType::kCuda, place);
}

bool waits_for_each() noexcept {
  return g_waits_for_each;
}

bool is_captured(StreamHandle stream) noexcept {
  return stream != nullptr && stream == t_captured;
}

void set_captured(StreamHandle stream) noexcept {
  t_captured = stream;
}

Status queued(kernel::Place place) noexcept {
  if (!g_waits_for_each) [[likely]]
    return kernel::kOk;
  if (is_captured(place.stream)) return kernel::kOk;
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  TSR_CUDA_TRY(cudaStreamSynchronize(static_cast<cudaStream_t>(place.stream)));
  return fault_status(place);
}

}  // namespace tsr::cuda
