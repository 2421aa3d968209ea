// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events as handles, and the current stream of a thread.
#include "memory/stream.h"

#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "kernel/registry.h"
#include "tensor/storage.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

Stream& stream_arg(tsr_stream handle, const char* arg = "stream") {
  return *object_arg<Stream>(handle, ObjectTag::kStream, "stream", arg);
}

Event& event_arg(tsr_event handle) {
  return *object_arg<Event>(handle, ObjectTag::kEvent, "event", "event");
}

const DeviceInterface& interface_of(Device device) {
  return *kernel::backend_for(device).device;
}

}  // namespace

extern "C" {

tsr_status tsr_stream_create(tsr_device_type device_type, int32_t device_index,
                             tsr_stream* stream) {
  clear(stream);
  return guard(Call(kInfo_stream_create, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    out_arg(stream, "stream");
    give_object(Stream::create(device, interface_of(device)).detach(), stream);
  });
}

tsr_status tsr_stream_wrap(tsr_device_type device_type, int32_t device_index, void* native,
                           tsr_stream* stream) {
  clear(stream);
  return guard(Call(kInfo_stream_wrap, DeviceOf{device_type, device_index}, native), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    out_arg(stream, "stream");
    const DeviceInterface& interface = interface_of(device);
    TSR_CHECK(native == nullptr || interface.stream_create != nullptr, Code::kDevice, "native",
              "expected NULL on ", device, ", which has no streams");
    give_object(Stream::wrap(device, interface, native).detach(), stream);
  });
}

void tsr_stream_retain(tsr_stream stream) {
  retain_handle(stream, ObjectTag::kStream);
}

void tsr_stream_release(tsr_stream stream) {
  release_handle<Stream>(stream, ObjectTag::kStream);
}

tsr_status tsr_stream_native(tsr_stream stream, void** native) {
  return guard(Call(kInfo_stream_native, stream),
               [&] { *out_arg(native, "native") = stream_arg(stream).native(); });
}

tsr_status tsr_stream_device(tsr_stream stream, tsr_device_type* device_type,
                             int32_t* device_index) {
  return guard(Call(kInfo_stream_device, stream), [&] {
    give_device(stream_arg(stream).device(), device_type, device_index, "device");
  });
}

tsr_status tsr_stream_current(tsr_device_type device_type, int32_t device_index,
                              tsr_stream* stream) {
  clear(stream);
  return guard(Call(kInfo_stream_current, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    out_arg(stream, "stream");
    give_object(stream_of_this_thread(device, interface_of(device)).detach(), stream);
  });
}

tsr_status tsr_stream_set_current(tsr_stream stream, tsr_stream* previous) {
  clear(previous);
  return guard(Call(kInfo_stream_set_current, stream), [&] {
    Stream& next = stream_arg(stream);
    out_arg(previous, "previous");
    IntrusivePtr<Stream> before = stream_of_this_thread(next.device(), interface_of(next.device()));
    set_current_stream(IntrusivePtr<Stream>::share(&next));
    give_object(before.detach(), previous);
  });
}

tsr_status tsr_stream_query(tsr_stream stream, int32_t* done) {
  return guard(Call(kInfo_stream_query, stream), [&] {
    const Stream& queue = stream_arg(stream);
    out_arg(done, "done");
    *done = queue.done() ? 1 : 0;
  });
}

tsr_status tsr_stream_synchronize(tsr_stream stream) {
  return guard(Call(kInfo_stream_synchronize, stream), [&] { stream_arg(stream).synchronize(); });
}

tsr_status tsr_stream_wait_event(tsr_stream stream, tsr_event event) {
  return guard(Call(kInfo_stream_wait_event, stream, event),
               [&] { stream_arg(stream).wait(event_arg(event)); });
}

tsr_status tsr_event_create(tsr_device_type device_type, int32_t device_index, tsr_event* event) {
  clear(event);
  return guard(Call(kInfo_event_create, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    out_arg(event, "event");
    give_object(Event::create(device, interface_of(device)).detach(), event);
  });
}

void tsr_event_retain(tsr_event event) {
  retain_handle(event, ObjectTag::kEvent);
}

void tsr_event_release(tsr_event event) {
  release_handle<Event>(event, ObjectTag::kEvent);
}

tsr_status tsr_event_native(tsr_event event, void** native) {
  return guard(Call(kInfo_event_native, event),
               [&] { *out_arg(native, "native") = event_arg(event).native(); });
}

tsr_status tsr_event_record(tsr_event event, tsr_stream stream) {
  return guard(Call(kInfo_event_record, event, stream),
               [&] { event_arg(event).record(stream_arg(stream)); });
}

tsr_status tsr_event_query(tsr_event event, int32_t* done) {
  return guard(Call(kInfo_event_query, event), [&] {
    const Event& mark = event_arg(event);
    out_arg(done, "done");
    *done = mark.done() ? 1 : 0;
  });
}

tsr_status tsr_event_synchronize(tsr_event event) {
  return guard(Call(kInfo_event_synchronize, event), [&] { event_arg(event).synchronize(); });
}

tsr_status tsr_tensor_record_stream(tsr_tensor tensor, tsr_stream stream) {
  return guard(Call(kInfo_tensor_record_stream, tensor, stream), [&] {
    const TensorArg arg(tensor, "tensor");
    const Stream& user = stream_arg(stream);
    const Device pinned = pinned_for(*arg.get().storage());
    const Device home = pinned.is_cpu() ? arg.get().device() : pinned;
    TSR_CHECK(user.device() == home, Code::kDevice, "stream", "expected a stream of ", home,
              ", got one of ", user.device());
    record_stream(*arg.get().storage(), user.native());
  });
}

}  // extern "C"
