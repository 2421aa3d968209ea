// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DeviceInterface: what a device must offer to memory and streams, as plain function pointers. A
// backend fills one in; the allocator and the runtime know no other way to a device.
#pragma once

#include <cstdint>

namespace tsr {

// A queue of work; null is the device's default stream. What it points to belongs to the backend.
using StreamHandle = void*;
using EventHandle = void*;

enum class CopyKind : int32_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

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

  // ---- streams and events (null on devices that finish work before they return, as the CPU) ----
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
  // Ordered after the work of the stream. The host may read what it got, and change or free what it
  // gave, as soon as the call returns; towards a device the copy itself may still be under way.
  int32_t (*copy)(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
                  StreamHandle stream);

  // ---- optional: null where a device has no such thing ----
  // From one device of this type to another, on a stream of the SOURCE's; null: through the host.
  int32_t (*copy_peer)(int32_t dst_device, void* dst, int32_t src_device, const void* src,
                       uint64_t nbytes, StreamHandle stream);
  // Page-locked memory of the host, and a copy for which the host's side is such memory: it returns
  // at once, and both sides stay as they are until the stream has come there. All three or none.
  int32_t (*host_allocate)(int32_t device, uint64_t nbytes, void** out);
  int32_t (*host_free)(int32_t device, void* data, uint64_t nbytes);
  int32_t (*copy_unwaited)(int32_t device, void* dst, const void* src, uint64_t nbytes,
                           CopyKind kind, StreamHandle stream);
  // Waits for all streams, also those of other libraries; null: our streams are all.
  int32_t (*device_synchronize)(int32_t device);
  // The handle under which a stream of another library is known here: two names of one stream
  // become the same. Refuses what cannot be a stream of ours.
  int32_t (*adopt_stream)(int32_t device, StreamHandle given, StreamHandle* own);
  // kDeviceFault when a kernel that has finished found its arguments wrong; told once, and
  // error_text then says what it was. Asked after every wait that a caller has asked for.
  int32_t (*take_fault)(int32_t device);

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
