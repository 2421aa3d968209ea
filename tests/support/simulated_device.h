// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A device that exists only in tests: capacity, streams, events and a clock that tests move by
// hand. It includes headers of base/ only, so that it can also be built as a plugin.
#pragma once

#include <cstdint>
#include <functional>

#include "base/device.h"
#include "base/device_interface.h"

namespace tsr::sim {

inline constexpr int32_t kDeviceCount = 4;
inline constexpr uint64_t kDefaultCapacity = uint64_t{1} << 30;
inline constexpr uint64_t kGranularity = 512;
inline constexpr int32_t kBrokenDevice = 77;  // the code of an injected failure

inline constexpr uint64_t kKernelTime = 10;
inline constexpr uint64_t kPeerCopyTime = 10;  // the duration of a copy to another device
inline constexpr uint64_t kHostCopyTime = 10;  // and of a copy from or to pinned host memory
// A handle that adopt_stream refuses, like cudaStreamPerThread.
inline void* const kRefusedStream = reinterpret_cast<void*>(2);

// The number of calls of the device since reset.
struct Calls {
  int64_t raw_allocate = 0;
  int64_t raw_free = 0;
  int64_t host_allocate = 0;
  int64_t copy_unwaited = 0;
  int64_t map = 0;
  int64_t unmap = 0;
  int64_t event_create = 0;
  int64_t event_record = 0;
  int64_t event_query = 0;
  int64_t event_synchronize = 0;
  int64_t stream_synchronize = 0;
};

// Memory is host memory, paged in lazily; only the accounting of capacity is simulated. Work is a
// duration on a stream: streams run concurrently, the work of one stream runs in order. Waiting for
// work moves the clock to its end. Kernels and copies write their results when they are queued, or,
// after delay_effects, at their end: a stream that does not wait for a slower one then reads what
// was there before.
const DeviceInterface& device_interface();
// The same device, which also supports reserve, map and unmap.
const DeviceInterface& expandable_device_interface();

// ---- For tests: everything below is thread-safe ----

inline Device device(int32_t index = 0) {
  return Device{DeviceType::kSimulated, index};
}

// An idle device with nothing allocated; existing handles become invalid.
void reset(int32_t index = 0, uint64_t capacity = kDefaultCapacity);
Calls calls(int32_t index = 0);
uint64_t used_bytes(int32_t index = 0);  // of the capacity
int64_t live_segments(int32_t index = 0);
int64_t live_events(int32_t index = 0);

StreamHandle make_stream(int32_t index = 0);
// Queues work of this duration that reads or writes the memory (null: none).
void launch(StreamHandle stream, uint64_t duration, const void* data = nullptr, uint64_t nbytes = 0,
            int32_t index = 0);
// Queues a kernel; `run` writes its results. `name` is what the timeline calls it.
void launch_kernel(StreamHandle stream, std::function<void()> run, int32_t index = 0,
                   const char* name = "kernel", uint64_t copied = 0);
// The timeline tells real time: a kernel begins when it is queued or when the work before it on its
// stream ends, and takes so many nanoseconds for each unit of its duration.
inline constexpr int64_t kTimelineUnit = 20'000;
// For all devices: their clocks then pass together. Switching it off ends all work.
void delay_effects(bool on);
// How long each kernel on the stream takes from now on; kKernelTime at first.
void set_kernel_time(StreamHandle stream, uint64_t duration, int32_t index = 0);
uint64_t now(int32_t index = 0);
void advance(uint64_t duration, int32_t index = 0);

// True if unfinished work of a stream other than `stream` uses any byte of the range. Using it on
// `stream` now would be a race.
bool in_use_by_others(StreamHandle stream, const void* data, uint64_t nbytes, int32_t index = 0);

// The next `count` calls fail: raw_allocate as if the device were full, or with kBrokenDevice.
void refuse_allocations(int32_t count, int32_t index = 0);
void break_allocations(int32_t count, int32_t index = 0);
void break_event_records(int32_t count, int32_t index = 0);
// Called in every raw_allocate and raw_free, before the device's own lock is taken.
void set_observer(void (*observer)(void* user), void* user, int32_t index = 0);

}  // namespace tsr::sim
