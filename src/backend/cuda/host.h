// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The services that the library gives to the CUDA backend, and how its kernels report failures.
#pragma once

#include <cuda_runtime.h>

#include "base/error.h"
#include "kernel/kernels.h"

// Leaves the calling function, which returns a Status, when a CUDA call fails.
#define TSR_CUDA_TRY(call)                                      \
  do {                                                          \
    if (const cudaError_t error = (call); error != cudaSuccess) \
      return ::tsr::cuda::cuda_failure(error);                  \
  } while (false)

namespace tsr::cuda {

inline constexpr int32_t kMaxDevices = 64;  // device_count is at most this

// Set once, by the backend's entry, before any kernel runs.
void set_host(const kernel::HostServices* services) noexcept;

// The number of devices, queried once: it does not change while a process lives. 0 also if CUDA
// fails; missing_devices then gives the reason.
int32_t device_count() noexcept;
void missing_devices(char* text, size_t size) noexcept;

// CUDA's text of an error; if the error has cost the process its context, the text says so.
const char* error_text(cudaError_t error) noexcept;

// Stores the text as the host's error message and returns the status of `code`.
kernel::Status failure(Code code, const char* text, int64_t native_code = 0) noexcept;

// The status of a failed CUDA call. Clears the runtime's last error, so that the next call does not
// report it again. Out of memory is kOutOfMemory, a failure of earlier work kAsync, any other
// kBackend.
kernel::Status cuda_failure(cudaError_t error) noexcept;

// Makes `device` this thread's current device, and restores the former one at the end: the thread
// is the user's, who may use another CUDA library beside ours. A former device without a context is
// not restored, because that would make one there, which takes hundreds of megabytes: all threads
// begin with device 0, also in a process that only uses another. If this fails, as in a process
// forked from one that uses CUDA, no CUDA function may be called.
class DeviceGuard {
 public:
  explicit DeviceGuard(int32_t device) noexcept;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  [[nodiscard]] cudaError_t error() const { return error_; }

 private:
  int former_ = -1;  // -1: nothing to restore
  cudaError_t error_ = cudaSuccess;
};

// Device memory for the duration of a kernel call; `data` is null if the allocation failed. It
// returns to the caching allocator at once: its next user comes later on the same stream.
class Workspace {
 public:
  Workspace(kernel::Place place, int64_t nbytes) noexcept;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  template <class T>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] bool missing() const { return data_ == nullptr && nbytes_ != 0; }

 private:
  kernel::Place place_;
  void* data_;
  uint64_t nbytes_;
};

kernel::Status no_workspace() noexcept;

// Returns the allocator's cached memory to the device, so that a second attempt may find memory.
void release_cached(kernel::Place place) noexcept;

// Called after work was queued. With TSR_DEBUG=sync it waits for the work and returns its status,
// so that the op that failed reports the failure; otherwise it does nothing.
kernel::Status queued(kernel::Place place) noexcept;
[[nodiscard]] bool waits_for_each() noexcept;

// Whether what this thread queues on the stream becomes part of a graph, so that nobody can wait
// for it (graphs.cpp). A thread captures one stream at a time; null ends the capture.
[[nodiscard]] bool is_captured(StreamHandle stream) noexcept;
void set_captured(StreamHandle stream) noexcept;

// Copies one value from the device, and so WAITS for all earlier work: only for values that the
// caller needs before it continues (see README.md).
template <class T>
kernel::Status read_back(kernel::Place place, const T* from, T* to) noexcept {
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  const auto stream = static_cast<cudaStream_t>(place.stream);
  TSR_CUDA_TRY(cudaMemcpyAsync(to, from, sizeof(T), cudaMemcpyDeviceToHost, stream));
  TSR_CUDA_TRY(cudaStreamSynchronize(stream));
  return kernel::kOk;
}

// Fills device memory with zero bytes.
inline kernel::Status clear(kernel::Place place, void* data, int64_t nbytes) noexcept {
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  TSR_CUDA_TRY(cudaMemsetAsync(data, 0, static_cast<size_t>(nbytes),
                               static_cast<cudaStream_t>(place.stream)));
  return queued(place);
}

}  // namespace tsr::cuda
