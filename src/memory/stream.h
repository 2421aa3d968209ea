// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events: queues of work on a device, marks in these queues, and the streams that a
// thread uses.
#pragma once

#include <utility>
#include <vector>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/intrusive_ptr.h"

namespace tsr {

class Event;

// Work on one stream runs in order, streams run beside each other. On a device without streams, as
// the CPU, work is done when the call that queues it returns: every stream there is the null stream
// and every wait returns at once.
class Stream final : public Object {
 public:
  // A stream of our own. Native streams are never destroyed but reused, because the allocator may
  // still record events on the stream of a lent block.
  static IntrusivePtr<Stream> create(Device device, const DeviceInterface& interface);
  // A stream of another library, which must keep it alive as long as our memory is used on it. Null
  // is the device's default stream. Throws kValue for a stream that we cannot use.
  static IntrusivePtr<Stream> wrap(Device device, const DeviceInterface& interface,
                                   StreamHandle native);
  static void destroy(Stream* stream) noexcept;

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] StreamHandle native() const noexcept { return native_; }

  // All throw kAsync when earlier work has failed.
  void synchronize() const;
  [[nodiscard]] bool done() const;
  // Work queued from now on starts after what the event marks. Throws kDevice for another device.
  void wait(const Event& event) const;

 private:
  Stream(Device device, const DeviceInterface& interface, StreamHandle native, bool owned) noexcept;

  Device device_;
  const DeviceInterface& interface_;
  StreamHandle native_;
  bool owned_;
};

class Event final : public Object {
 public:
  static IntrusivePtr<Event> create(Device device, const DeviceInterface& interface);
  static void destroy(Event* event) noexcept;

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] EventHandle native() const noexcept { return native_; }

  // Marks the work queued on the stream so far, instead of what it marked before. Throws kDevice
  // for a stream of another device.
  void record(const Stream& stream);
  // An event that was never recorded is done. Both throw kAsync when the marked work has failed.
  [[nodiscard]] bool done() const;
  void synchronize() const;

 private:
  Event(Device device, const DeviceInterface& interface, EventHandle native) noexcept;

  Device device_;
  const DeviceInterface& interface_;
  EventHandle native_;
};

// Throws when a call of the device has failed: kAsync for a failure of earlier work, kOutOfMemory
// when there is no memory, and else kBackend with `what` the device could not do.
void check_work(int32_t code, Device device, const DeviceInterface& interface);
void check_call(int32_t code, Device device, const DeviceInterface& interface, const char* what);
// After a wait: throws kAsync when a kernel that has finished found its arguments wrong.
void check_faults(Device device, const DeviceInterface& interface);

// Waits for all work of the device. Throws kAsync.
void synchronize_device(Device device, const DeviceInterface& interface);

// ---- The current streams of a thread ----

// The streams that a thread uses, one for each device on which it does not use the default stream.
// A set never changes, so that threads, nodes of a graph and saved states can share it.
class StreamSet final : public Object {
 public:
  // `before` (null: an empty set) with `stream` for its device. Null if that leaves only default
  // streams.
  static IntrusivePtr<StreamSet> with(const StreamSet* before, IntrusivePtr<Stream> stream);
  static void destroy(StreamSet* set) noexcept { delete set; }

  // Null: the default stream.
  [[nodiscard]] Stream* find(Device device) const noexcept;

 private:
  // No handle names a set, so its tag is that of no handle.
  StreamSet() noexcept : Object(ObjectTag::kDead) {}
  std::vector<IntrusivePtr<Stream>> streams_;
};
using StreamSetPtr = IntrusivePtr<StreamSet>;  // null: default streams only

namespace detail {
extern constinit thread_local StreamSet* t_current_streams;  // owned; null mostly
StreamHandle find_current_stream(Device device) noexcept;
}  // namespace detail

// Whether the thread uses the default stream of every device.
[[nodiscard]] inline bool on_default_streams() noexcept {
  return detail::t_current_streams == nullptr;
}
// The stream on which the calling thread queues work and allocates memory; null is the default
// stream, with which every thread starts.
[[nodiscard]] inline StreamHandle current_stream(Device device) noexcept {
  if (device.is_cpu() || on_default_streams()) [[likely]]
    return nullptr;
  return detail::find_current_stream(device);
}
// The same as an object; null for the default stream.
[[nodiscard]] IntrusivePtr<Stream> current_stream_object(Device device) noexcept;
// The same; never null. `interface` is the device's.
[[nodiscard]] IntrusivePtr<Stream> stream_of_this_thread(Device device,
                                                         const DeviceInterface& interface);
void set_current_stream(IntrusivePtr<Stream> stream);
// All current streams of the thread, for a node or another thread to take over.
[[nodiscard]] StreamSetPtr current_streams() noexcept;
void set_current_streams(StreamSetPtr streams);

// Gives the thread other current streams for a scope, and gives back those it had, also when the
// scope ends by an exception.
class CurrentStreams {
 public:
  explicit CurrentStreams(StreamSetPtr streams) noexcept
      : before_(std::exchange(detail::t_current_streams, streams.detach())) {}
  CurrentStreams(const CurrentStreams&) = delete;
  CurrentStreams& operator=(const CurrentStreams&) = delete;
  ~CurrentStreams() {
    (void)StreamSetPtr::adopt(std::exchange(detail::t_current_streams, before_));
  }

 private:
  StreamSet* before_;
};

}  // namespace tsr
