// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <cuda_runtime.h>

#include "backend/cuda/host.h"

namespace tsr::cuda {
namespace {

// The device's own error number; the runtime must not report it a second time.
int32_t result(cudaError_t error) {
  if (error == cudaSuccess) return kDeviceOk;
  static_cast<void>(cudaGetLastError());
  return error == cudaErrorMemoryAllocation ? kDeviceOutOfMemory : static_cast<int32_t>(error);
}

cudaStream_t stream_of(StreamHandle stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t event_of(EventHandle event) {
  return static_cast<cudaEvent_t>(event);
}

int32_t device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

int32_t raw_allocate(int32_t device, uint64_t nbytes, void** out) {
  const DeviceGuard guard(device);
  return result(cudaMalloc(out, nbytes));
}
// cudaFree waits for the whole device.
int32_t raw_free(int32_t device, void* data, uint64_t) {
  const DeviceGuard guard(device);
  return result(cudaFree(data));
}
int32_t memory_info(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes) {
  const DeviceGuard guard(device);
  size_t free = 0;
  size_t total = 0;
  const cudaError_t error = cudaMemGetInfo(&free, &total);
  *free_bytes = free;
  *total_bytes = total;
  return result(error);
}

int32_t stream_create(int32_t device, StreamHandle* out) {
  const DeviceGuard guard(device);
  cudaStream_t stream = nullptr;
  const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  *out = stream;
  return result(error);
}
int32_t stream_destroy(int32_t device, StreamHandle stream) {
  const DeviceGuard guard(device);
  return result(cudaStreamDestroy(stream_of(stream)));
}
int32_t stream_synchronize(int32_t device, StreamHandle stream) {
  const DeviceGuard guard(device);
  return result(cudaStreamSynchronize(stream_of(stream)));
}
int32_t stream_wait_event(int32_t device, StreamHandle stream, EventHandle event) {
  const DeviceGuard guard(device);
  return result(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
}

int32_t event_create(int32_t device, EventHandle* out) {
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  *out = event;
  return result(error);
}
int32_t event_destroy(int32_t device, EventHandle event) {
  const DeviceGuard guard(device);
  return result(cudaEventDestroy(event_of(event)));
}
int32_t event_record(int32_t device, EventHandle event, StreamHandle stream) {
  const DeviceGuard guard(device);
  return result(cudaEventRecord(event_of(event), stream_of(stream)));
}
int32_t event_query(int32_t device, EventHandle event, int32_t* done) {
  const DeviceGuard guard(device);
  const cudaError_t error = cudaEventQuery(event_of(event));
  *done = error == cudaSuccess ? 1 : 0;
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return kDeviceOk;
  }
  return result(error);
}
int32_t event_synchronize(int32_t device, EventHandle event) {
  const DeviceGuard guard(device);
  return result(cudaEventSynchronize(event_of(event)));
}

cudaMemcpyKind kind_of(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice:
      return cudaMemcpyHostToDevice;
    case CopyKind::kDeviceToHost:
      return cudaMemcpyDeviceToHost;
    case CopyKind::kDeviceToDevice:
      break;
  }
  return cudaMemcpyDeviceToDevice;
}

// What touches host memory is done when the call returns: the caller may free or read it at once.
int32_t copy(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
             StreamHandle stream) {
  const DeviceGuard guard(device);
  const cudaStream_t queue = stream_of(stream);
  const cudaError_t error = cudaMemcpyAsync(dst, src, nbytes, kind_of(kind), queue);
  if (error != cudaSuccess || kind == CopyKind::kDeviceToDevice) return result(error);
  return result(cudaStreamSynchronize(queue));
}

const char* error_text(int32_t code) {
  return code == kDeviceOutOfMemory ? "out of memory"
                                    : cudaGetErrorString(static_cast<cudaError_t>(code));
}

constexpr DeviceInterface make_interface() {
  DeviceInterface device{};
  device.device_count = device_count;
  device.raw_allocate = raw_allocate;
  device.raw_free = raw_free;
  device.memory_info = memory_info;
  device.stream_create = stream_create;
  device.stream_destroy = stream_destroy;
  device.stream_synchronize = stream_synchronize;
  device.stream_wait_event = stream_wait_event;
  device.event_create = event_create;
  device.event_destroy = event_destroy;
  device.event_record = event_record;
  device.event_query = event_query;
  device.event_synchronize = event_synchronize;
  device.copy = copy;
  device.allocation_granularity = 512;
  device.error_text = error_text;
  return device;
}
constexpr DeviceInterface kDevice = make_interface();

}  // namespace

const DeviceInterface& device_interface() noexcept {
  return kDevice;
}

}  // namespace tsr::cuda
