// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DeviceInterface: the functions that memory and streams need from a device, as plain function
// pointers. A backend fills one in; the allocator and the runtime use a device only through it.
#pragma once

#include <cstdint>

namespace tsr {

// A queue of work; null is the device's default stream. The backend owns the object behind the
// handle.
using StreamHandle = void*;
using EventHandle = void*;

enum class CopyKind : int32_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

// One piece of work that the device has done.
struct DeviceActivity {
  uint64_t correlation;  // see DeviceTimeline::enter; 0 if the library did not queue it
  const char* name;      // of the kernel or copy; valid during the call only
  int64_t begin, end;    // nanoseconds of CLOCK_MONOTONIC
  uint64_t stream;       // a number that tells the streams of a device apart
  uint64_t nbytes;       // of a copy, else 0
  int32_t device;
  int32_t copies;  // 1: moves or fills memory; 0: a kernel
};

// When the work of the streams ran. The functions follow the rules of DeviceInterface.
struct DeviceTimeline {
  // Records the work of all devices of this type that is queued from now on.
  int32_t (*start)();
  int32_t (*stop)();
  // What this thread queues until the matching `leave` belongs to `correlation`. Calls nest.
  int32_t (*enter)(uint64_t correlation);
  int32_t (*leave)();
  // Hands over the work that has finished, in any order, and forgets it. The caller has waited for
  // the devices. May be called between start and stop and after stop.
  int32_t (*take)(void (*give)(void* user, const DeviceActivity* activity), void* user);
};

// Every function may be called from any thread and returns 0 or a backend error number; it never
// throws. `device` is the index within the device type. Null entries mean "not offered".
struct DeviceInterface {
  int32_t (*device_count)();

  // ---- memory ----
  // Device memory aligned to at least 256 bytes. Fails with kDeviceOutOfMemory when full. raw_free
  // waits for work of any stream that may still use the memory.
  int32_t (*raw_allocate)(int32_t device, uint64_t nbytes, void** out);
  int32_t (*raw_free)(int32_t device, void* data, uint64_t nbytes);
  int32_t (*memory_info)(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes);
  // Optional: address ranges that grow in place (null: fixed segments).
  int32_t (*reserve)(int32_t device, uint64_t nbytes, void** out);
  int32_t (*map)(int32_t device, void* data, uint64_t nbytes);
  int32_t (*unmap)(int32_t device, void* data, uint64_t nbytes);
  int32_t (*unreserve)(int32_t device, void* data, uint64_t nbytes);

  // ---- streams and events (null on devices that finish work before they return, like a CPU) ----
  int32_t (*stream_create)(int32_t device, StreamHandle* out);
  int32_t (*stream_destroy)(int32_t device, StreamHandle stream);
  int32_t (*stream_synchronize)(int32_t device, StreamHandle stream);
  int32_t (*stream_wait_event)(int32_t device, StreamHandle stream, EventHandle event);
  int32_t (*event_create)(int32_t device, EventHandle* out);
  int32_t (*event_destroy)(int32_t device, EventHandle event);
  int32_t (*event_record)(int32_t device, EventHandle event, StreamHandle stream);
  // *done is 1 when all work recorded before the event has finished.
  int32_t (*event_query)(int32_t device, EventHandle event, int32_t* done);
  int32_t (*event_synchronize)(int32_t device, EventHandle event);

  // ---- copies between host and device ----
  // Ordered after the earlier work of the stream. When the call returns, the host may read the
  // result, and may change or free the source. A copy to the device may still be running then.
  int32_t (*copy)(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
                  StreamHandle stream);

  // ---- optional: null if the device does not offer it ----
  // Between two devices of this type, on a stream of the SOURCE device. If null, the library copies
  // through the host.
  int32_t (*copy_peer)(int32_t dst_device, void* dst, int32_t src_device, const void* src,
                       uint64_t nbytes, StreamHandle stream);
  // Page-locked host memory, and a copy whose host side is such memory. The copy returns at once;
  // neither side may change until the stream has done it. Offer all three functions or none.
  int32_t (*host_allocate)(int32_t device, uint64_t nbytes, void** out);
  int32_t (*host_free)(int32_t device, void* data, uint64_t nbytes);
  int32_t (*copy_unwaited)(int32_t device, void* dst, const void* src, uint64_t nbytes,
                           CopyKind kind, StreamHandle stream);
  // Waits for all streams, also those of other libraries. If null, the library's own streams are
  // all.
  int32_t (*device_synchronize)(int32_t device);
  // Translates a stream of another library into the handle that is used here, so that two names of
  // one stream become equal. Refuses handles that cannot be a stream of this device.
  int32_t (*adopt_stream)(int32_t device, StreamHandle given, StreamHandle* own);
  // kDeviceFault if a finished kernel found an invalid argument; reported once, and error_text then
  // describes it. Called after every wait that a caller has asked for.
  int32_t (*take_fault)(int32_t device);
  const DeviceTimeline* timeline;

  // ---- facts ----
  uint64_t allocation_granularity;  // rounding of small blocks: CUDA 512, CPU 64
  // Valid until the next call on this thread.
  const char* (*error_text)(int32_t code);
};

inline constexpr int32_t kDeviceOk = 0;
inline constexpr int32_t kDeviceOutOfMemory = 2;
inline constexpr int32_t kDeviceFault = -1;          // see take_fault
inline constexpr int32_t kDeviceStreamRefused = -2;  // by adopt_stream

}  // namespace tsr
