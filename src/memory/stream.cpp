// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/stream.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/thread_exit.h"

namespace tsr {
namespace {

void check_same(Device expected, Device got, const char* what) {
  TSR_CHECK(expected == got, Code::kDevice, what, "expected one of ", expected, ", got one of ",
            got);
}

[[noreturn]] void fail_with(int32_t code, const std::string& message, Code status) {
  Error error(status, nullptr, message, __FILE__, __LINE__);
  error.set_native_code(code);
  throw error;
}

const char* text_of(int32_t code, const DeviceInterface& interface) {
  return interface.error_text != nullptr ? interface.error_text(code) : "no description";
}

// ---- Native streams of ours ----

struct Native {
  Device device;
  StreamHandle stream;  // null while the device makes it
  bool in_use;
};
struct Natives {
  GuardedMutex mutex;
  std::vector<Native> all;
};
Natives& natives() {
  return immortal<Natives>();
}

StreamHandle reuse_native(Device device) {
  const std::lock_guard lock(natives().mutex);
  for (Native& native : natives().all) {
    if (native.in_use || native.device != device) continue;
    native.in_use = true;
    return native.stream;
  }
  return nullptr;
}

// Reserves the place in the list first: nothing may fail after the device has made the stream.
StreamHandle new_native(Device device, const DeviceInterface& interface) {
  auto& all = natives().all;
  {
    const std::lock_guard lock(natives().mutex);
    all.push_back({device, nullptr, true});
  }
  StreamHandle made = nullptr;
  const int32_t code = interface.stream_create(device.index, &made);
  {
    const std::lock_guard lock(natives().mutex);
    const auto place = std::find_if(all.begin(), all.end(), [&](const Native& native) {
      return native.device == device && native.stream == nullptr;
    });
    if (code == kDeviceOk) {
      place->stream = made;
    } else {
      all.erase(place);
    }
  }
  check_call(code, device, interface, "create a stream");
  return made;
}

void give_native_back(StreamHandle stream) noexcept {
  if (stream == nullptr) return;  // of a Stream whose making failed
  const std::lock_guard lock(natives().mutex);
  for (Native& native : natives().all) {
    if (native.stream == stream) native.in_use = false;
  }
}

std::vector<StreamHandle> natives_of(Device device) {
  const std::lock_guard lock(natives().mutex);
  std::vector<StreamHandle> found = {nullptr};
  for (const Native& native : natives().all) {
    if (native.device == device && native.stream != nullptr) found.push_back(native.stream);
  }
  return found;
}

}  // namespace

// ---- Errors ----

void check_work(int32_t code, Device device, const DeviceInterface& interface) {
  if (code == kDeviceOk) return;
  fail_with(code, concat("earlier work on ", device, " failed: ", text_of(code, interface)),
            Code::kAsync);
}

void check_call(int32_t code, Device device, const DeviceInterface& interface, const char* what) {
  if (code == kDeviceOk) return;
  fail_with(code, concat(device, " could not ", what, ": ", text_of(code, interface)),
            code == kDeviceOutOfMemory ? Code::kOutOfMemory : Code::kBackend);
}

void check_faults(Device device, const DeviceInterface& interface) {
  if (interface.take_fault != nullptr)
    check_work(interface.take_fault(device.index), device, interface);
}

// ---- Stream ----

Stream::Stream(Device device, const DeviceInterface& interface, StreamHandle native,
               bool owned) noexcept
    : Object(ObjectTag::kStream),
      device_(device),
      interface_(interface),
      native_(native),
      owned_(owned) {}

IntrusivePtr<Stream> Stream::create(Device device, const DeviceInterface& interface) {
  if (interface.stream_create == nullptr) return wrap(device, interface, nullptr);
  // Owned from the first moment: what fails on the way gives the native stream back.
  auto stream = IntrusivePtr<Stream>::adopt(new Stream(device, interface, nullptr, true));
  stream->native_ = reuse_native(device);
  if (stream->native_ == nullptr) stream->native_ = new_native(device, interface);
  return stream;
}

IntrusivePtr<Stream> Stream::wrap(Device device, const DeviceInterface& interface,
                                  StreamHandle native) {
  if (interface.adopt_stream != nullptr) {
    const int32_t code = interface.adopt_stream(device.index, native, &native);
    TSR_CHECK(code == kDeviceOk, Code::kValue, "native", text_of(code, interface));
  }
  return IntrusivePtr<Stream>::adopt(new Stream(device, interface, native, false));
}

void Stream::destroy(Stream* stream) noexcept {
  if (stream->owned_) give_native_back(stream->native_);
  stream->tag = ObjectTag::kDead;
  delete stream;
}

void Stream::synchronize() const {
  if (interface_.stream_synchronize == nullptr) return;
  check_work(interface_.stream_synchronize(device_.index, native_), device_, interface_);
  check_faults(device_, interface_);
}

bool Stream::done() const {
  if (interface_.event_create == nullptr) return true;
  const IntrusivePtr<Event> here = Event::create(device_, interface_);
  here->record(*this);
  return here->done();
}

void Stream::wait(const Event& event) const {
  check_same(device_, event.device(), "event");
  if (interface_.stream_wait_event == nullptr) return;
  check_work(interface_.stream_wait_event(device_.index, native_, event.native()), device_,
             interface_);
}

// ---- Event ----

Event::Event(Device device, const DeviceInterface& interface, EventHandle native) noexcept
    : Object(ObjectTag::kEvent), device_(device), interface_(interface), native_(native) {}

IntrusivePtr<Event> Event::create(Device device, const DeviceInterface& interface) {
  auto event = IntrusivePtr<Event>::adopt(new Event(device, interface, nullptr));
  if (interface.event_create != nullptr) {
    check_call(interface.event_create(device.index, &event->native_), device, interface,
               "create an event");
  }
  return event;
}

void Event::destroy(Event* event) noexcept {
  if (event->native_ != nullptr) {
    event->interface_.event_destroy(event->device_.index, event->native_);
  }
  event->tag = ObjectTag::kDead;
  delete event;
}

void Event::record(const Stream& stream) {
  check_same(device_, stream.device(), "stream");
  if (native_ == nullptr) return;
  check_work(interface_.event_record(device_.index, native_, stream.native()), device_, interface_);
}

bool Event::done() const {
  if (native_ == nullptr) return true;
  int32_t done = 0;
  check_work(interface_.event_query(device_.index, native_, &done), device_, interface_);
  return done != 0;
}

void Event::synchronize() const {
  if (native_ == nullptr) return;
  check_work(interface_.event_synchronize(device_.index, native_), device_, interface_);
  check_faults(device_, interface_);
}

void synchronize_device(Device device, const DeviceInterface& interface) {
  if (interface.stream_synchronize == nullptr) return;
  if (interface.device_synchronize != nullptr) {
    check_work(interface.device_synchronize(device.index), device, interface);
  } else {
    for (StreamHandle stream : natives_of(device))
      check_work(interface.stream_synchronize(device.index, stream), device, interface);
  }
  check_faults(device, interface);
}

// ---- The current streams of a thread ----

StreamSetPtr StreamSet::with(const StreamSet* before, IntrusivePtr<Stream> stream) {
  auto set = StreamSetPtr::adopt(new StreamSet);
  if (before != nullptr) {
    for (const IntrusivePtr<Stream>& other : before->streams_) {
      if (other->device() != stream->device()) set->streams_.push_back(other);
    }
  }
  if (stream->native() != nullptr) set->streams_.push_back(std::move(stream));
  return set->streams_.empty() ? nullptr : set;
}

Stream* StreamSet::find(Device device) const noexcept {
  for (const IntrusivePtr<Stream>& stream : streams_) {
    if (stream->device() == device) return stream.get();
  }
  return nullptr;
}

namespace detail {

constinit thread_local StreamSet* t_current_streams = nullptr;

StreamHandle find_current_stream(Device device) noexcept {
  const Stream* stream = t_current_streams->find(device);
  return stream == nullptr ? nullptr : stream->native();
}

namespace {

void forget_streams() noexcept {
  (void)StreamSetPtr::adopt(std::exchange(t_current_streams, nullptr));
}

}  // namespace
}  // namespace detail

IntrusivePtr<Stream> current_stream_object(Device device) noexcept {
  if (on_default_streams()) return {};
  return IntrusivePtr<Stream>::share(detail::t_current_streams->find(device));
}

IntrusivePtr<Stream> stream_of_this_thread(Device device, const DeviceInterface& interface) {
  if (IntrusivePtr<Stream> stream = current_stream_object(device)) return stream;
  return Stream::wrap(device, interface, nullptr);
}

void set_current_stream(IntrusivePtr<Stream> stream) {
  if (stream->device().is_cpu()) return;  // has the one
  set_current_streams(StreamSet::with(detail::t_current_streams, std::move(stream)));
}

StreamSetPtr current_streams() noexcept {
  return StreamSetPtr::share(detail::t_current_streams);
}

void set_current_streams(StreamSetPtr streams) {
  if (streams && !at_thread_exit(ThreadPart::kStreams, detail::forget_streams))
    throw std::bad_alloc();
  (void)StreamSetPtr::adopt(std::exchange(detail::t_current_streams, streams.detach()));
}

}  // namespace tsr
