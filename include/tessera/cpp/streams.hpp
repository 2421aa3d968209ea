// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events: the order of asynchronous work on devices. The CPU works in order.
#pragma once

#include <cstdint>

#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/device.h"

namespace tessera {

class Event;

class Stream {
 public:
  // A new stream.
  static Stream create(Device device) {
    tsr_stream handle = nullptr;
    check(tsr_stream_create(device.type, device.index, &handle));
    return Stream(handle);
  }
  // A handle of a native stream (a cudaStream_t) that somebody else owns and keeps alive.
  static Stream wrap(Device device, void* native) {
    tsr_stream handle = nullptr;
    check(tsr_stream_wrap(device.type, device.index, native, &handle));
    return Stream(handle);
  }
  // The stream on which functions of this thread queue their work.
  static Stream current(Device device = {}) {
    tsr_stream handle = nullptr;
    check(tsr_stream_current(device.type, device.index, &handle));
    return Stream(handle);
  }

  tsr_stream handle() const noexcept { return handle_.get(); }
  void* native() const {
    void* found = nullptr;
    check(tsr_stream_native(handle(), &found));
    return found;
  }
  Device device() const {
    Device found;
    check(tsr_stream_device(handle(), &found.type, &found.index));
    return found;
  }
  // Whether all work queued so far is done.
  bool is_done() const {
    int32_t done = 0;
    check(tsr_stream_query(handle(), &done));
    return done != 0;
  }
  void synchronize() const { check(tsr_stream_synchronize(handle())); }
  // Work queued from now on starts after the work that the event marks.
  void wait(const Event& event) const;
  // The allocator uses the tensor's memory again only after the work of this stream is done.
  void record_use(const Tensor& tensor) const {
    check(tsr_tensor_record_stream(tensor.handle(), handle()));
  }

 private:
  friend class StreamGuard;

  explicit Stream(tsr_stream handle) noexcept : handle_(handle) {}

  detail::Counted<tsr_stream, &tsr_stream_retain, &tsr_stream_release> handle_;
};

// Marks a point in the work of a stream.
class Event {
 public:
  explicit Event(Device device = {}) : handle_(create(device)) {}

  tsr_event handle() const noexcept { return handle_.get(); }
  void* native() const {
    void* found = nullptr;
    check(tsr_event_native(handle(), &found));
    return found;
  }
  // Marks the work queued so far; replaces the earlier mark.
  void record(const Stream& stream) const { check(tsr_event_record(handle(), stream.handle())); }
  bool is_done() const {
    int32_t done = 0;
    check(tsr_event_query(handle(), &done));
    return done != 0;
  }
  void synchronize() const { check(tsr_event_synchronize(handle())); }

 private:
  static tsr_event create(Device device) {
    tsr_event handle = nullptr;
    check(tsr_event_create(device.type, device.index, &handle));
    return handle;
  }

  detail::Counted<tsr_event, &tsr_event_retain, &tsr_event_release> handle_;
};

inline void Stream::wait(const Event& event) const {
  check(tsr_stream_wait_event(handle(), event.handle()));
}

// Makes a stream the current one of its device, for this thread, until the guard is destroyed.
class StreamGuard {
 public:
  [[nodiscard]] explicit StreamGuard(const Stream& stream) : before_(exchange(stream)) {}
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard() {
    tsr_stream ours = nullptr;
    detail::ignore(tsr_stream_set_current(before_.handle(), &ours));
    tsr_stream_release(ours);
  }

 private:
  static Stream exchange(const Stream& stream) {
    tsr_stream previous = nullptr;
    check(tsr_stream_set_current(stream.handle(), &previous));
    return Stream(previous);
  }

  Stream before_;
};

}  // namespace tessera
