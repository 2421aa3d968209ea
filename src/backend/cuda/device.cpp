// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <cuda_runtime.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "backend/cuda/cupti.h"
#include "backend/cuda/fault.h"
#include "backend/cuda/host.h"
#include "backend/cuda/staging.h"

namespace tsr::cuda {
namespace {

cudaStream_t stream_of(StreamHandle stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t event_of(EventHandle event) {
  return static_cast<cudaEvent_t>(event);
}

// Events without timing that are free to be used again: tensors that several streams use and copies
// to and from pinned memory take one each.
class EventPool {
 public:
  // The event freed first, if what was recorded with it is done: an event that was never recorded
  // counts as done. Else a new one.
  cudaError_t take(int32_t device, cudaEvent_t& event) {
    {
      const std::lock_guard lock(mutex_);
      auto& free = free_[static_cast<size_t>(device)];
      while (!free.empty()) {
        const cudaError_t done = cudaEventQuery(free.front());
        if (done == cudaErrorNotReady) break;
        event = free.front();
        free.pop_front();
        if (done == cudaSuccess) return cudaSuccess;
        static_cast<void>(cudaEventDestroy(event));  // recorded in a capture: never done
      }
    }
    static_cast<void>(cudaGetLastError());  // "not ready" is no failure
    event = nullptr;
    return cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  // Events for other processes (ipc.cpp) are of another kind and are destroyed.
  cudaError_t give(int32_t device, cudaEvent_t event) {
    if (!forget_shared_event(event)) {
      try {
        const std::lock_guard lock(mutex_);
        auto& free = free_[static_cast<size_t>(device)];
        if (free.size() < kMost) {
          free.push_back(event);
          return cudaSuccess;
        }
      } catch (...) {  // no memory: the event is destroyed
      }
    }
    return cudaEventDestroy(event);
  }

 private:
  static constexpr size_t kMost = 1024;
  std::mutex mutex_;
  std::deque<cudaEvent_t> free_[kMaxDevices];
};
// Never destroyed: threads may still run while the process exits.
EventPool& events() {
  static auto& one = *new EventPool;
  return one;
}

int32_t raw_allocate(int32_t device, uint64_t nbytes, void** out) {
  return on_device(device, [&] { return cudaMalloc(out, nbytes); });
}
// Slow: cudaFree waits for the whole device.
int32_t raw_free(int32_t device, void* data, uint64_t) {
  return on_device(device, [&] { return cudaFree(data); });
}
int32_t memory_info(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes) {
  size_t free = 0;
  size_t total = 0;
  const int32_t code = on_device(device, [&] { return cudaMemGetInfo(&free, &total); });
  *free_bytes = free;
  *total_bytes = total;
  return code;
}

// ---- Streams and events ----

int32_t stream_create(int32_t device, StreamHandle* out) {
  cudaStream_t stream = nullptr;
  const int32_t code =
      on_device(device, [&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
  *out = stream;
  return code;
}
int32_t stream_destroy(int32_t device, StreamHandle stream) {
  return on_device(device, [&] { return cudaStreamDestroy(stream_of(stream)); });
}
int32_t stream_synchronize(int32_t device, StreamHandle stream) {
  return on_device(device, [&] { return cudaStreamSynchronize(stream_of(stream)); });
}
int32_t stream_wait_event(int32_t device, StreamHandle stream, EventHandle event) {
  return on_device(device,
                   [&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0); });
}
int32_t device_synchronize(int32_t device) {
  return on_device(device, [] { return cudaDeviceSynchronize(); });
}

// Refuses the per-thread default stream: its one handle is a different stream on every thread, so
// the allocator would pass memory between streams that are not ordered.
int32_t adopt_stream(int32_t, StreamHandle given, StreamHandle* own) {
  if (given == StreamHandle{cudaStreamPerThread}) return kDeviceStreamRefused;
  *own = given == StreamHandle{cudaStreamLegacy} ? nullptr : given;
  return kDeviceOk;
}

int32_t event_create(int32_t device, EventHandle* out) {
  cudaEvent_t event = nullptr;
  const int32_t code = on_device(device, [&] { return events().take(device, event); });
  *out = event;
  return code;
}
int32_t event_destroy(int32_t device, EventHandle event) {
  return on_device(device, [&] { return events().give(device, event_of(event)); });
}
int32_t event_record(int32_t device, EventHandle event, StreamHandle stream) {
  return on_device(device, [&] { return cudaEventRecord(event_of(event), stream_of(stream)); });
}
int32_t event_query(int32_t device, EventHandle event, int32_t* done) {
  const int32_t code = on_device(device, [&] { return cudaEventQuery(event_of(event)); });
  *done = code == kDeviceOk ? 1 : 0;
  return code == static_cast<int32_t>(cudaErrorNotReady) ? kDeviceOk : code;
}
int32_t event_synchronize(int32_t device, EventHandle event) {
  return on_device(device, [&] { return cudaEventSynchronize(event_of(event)); });
}

// ---- Copies ----

int32_t copy(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
             StreamHandle stream) {
  // A graph would read the host's memory when it runs, and nobody could wait for it.
  if (kind != CopyKind::kDeviceToDevice && is_captured(stream)) return kNotInGraph;
  const cudaStream_t queue = stream_of(stream);
  return on_device(device, [&] {
    if (kind == CopyKind::kHostToDevice) return upload(device, dst, src, nbytes, queue);
    if (kind == CopyKind::kDeviceToHost) return download(device, dst, src, nbytes, queue);
    return cudaMemcpyAsync(dst, src, nbytes, cudaMemcpyDeviceToDevice, queue);
  });
}
int32_t host_allocate(int32_t device, uint64_t nbytes, void** out) {
  return on_device(device, [&] { return cudaHostAlloc(out, nbytes, cudaHostAllocPortable); });
}
int32_t host_free(int32_t device, void* data, uint64_t) {
  return on_device(device, [&] { return cudaFreeHost(data); });
}
int32_t copy_unwaited(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
                      StreamHandle stream) {
  if (is_captured(stream)) return kNotInGraph;
  const cudaMemcpyKind how =
      kind == CopyKind::kHostToDevice ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  return on_device(device,
                   [&] { return cudaMemcpyAsync(dst, src, nbytes, how, stream_of(stream)); });
}
// Lets the current device read and write the other one's memory, once; CUDA copies through the
// host by itself if that is not possible.
void reach_peer(int32_t device, int32_t peer) {
  static std::atomic<uint64_t> tried[kMaxDevices];  // bit `peer` of `device`
  const uint64_t bit = uint64_t{1} << peer;
  if ((tried[device].fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, device, peer) == cudaSuccess && can != 0)
    static_cast<void>(cudaDeviceEnablePeerAccess(peer, 0));
  static_cast<void>(cudaGetLastError());  // another library may have done it before
}
int32_t copy_peer(int32_t dst_device, void* dst, int32_t src_device, const void* src,
                  uint64_t nbytes, StreamHandle stream) {
  return on_device(src_device, [&] {
    if (dst_device != src_device) reach_peer(src_device, dst_device);
    return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, nbytes, stream_of(stream));
  });
}

// ---- What went wrong ----

int32_t fault_taken(int32_t device) {
  return take_fault(device) == nullptr ? kDeviceOk : kDeviceFault;
}

const char* text_of(int32_t code) {
  switch (code) {
    case kDeviceOutOfMemory:
      return "out of memory";
    case kDeviceFault:
      return last_fault();
    case kDeviceStreamRefused:
      return "expected a stream that is the same on every thread, got the per-thread default "
             "stream (cudaStreamPerThread)";
    case kNoCupti:
      return "expected CUPTI (libcupti) to record what the device does, got none that works";
    case kNotInGraph:
      return "a graph cannot hold a copy from or to the host's memory";
    default:
      return error_text(static_cast<cudaError_t>(code));
  }
}

int32_t count_devices() {
  return device_count();
}

DeviceInterface make_interface() {
  DeviceInterface device{};
  device.device_count = count_devices;
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
  device.copy_peer = copy_peer;
  device.host_allocate = host_allocate;
  device.host_free = host_free;
  device.copy_unwaited = copy_unwaited;
  device.device_synchronize = device_synchronize;
  device.adopt_stream = adopt_stream;
  device.take_fault = fault_taken;
  device.timeline = timeline();
  device.allocation_granularity = 512;
  device.error_text = text_of;
  return device;
}
}  // namespace

const DeviceInterface& device_interface() noexcept {
  static const DeviceInterface device = make_interface();
  return device;
}

}  // namespace tsr::cuda
