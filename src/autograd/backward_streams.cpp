// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/backward_streams.h"

#include <algorithm>
#include <atomic>

#include "memory/allocator.h"

namespace tsr {
namespace {

constinit std::atomic<int64_t> g_nodes_on_streams{0};

IntrusivePtr<Event> record_event(const Stream& stream, Device device) {
  IntrusivePtr<Event> event = Event::create(device, interface_of(device));
  event->record(stream);
  return event;
}

IntrusivePtr<Stream> stream_here(Device device) {
  return stream_of_this_thread(device, interface_of(device));
}

IntrusivePtr<Stream> or_default(IntrusivePtr<Stream> stream, Device device) {
  return stream ? stream : Stream::wrap(device, interface_of(device), nullptr);
}

}  // namespace

ForwardStreams::ForwardStreams(StreamSetPtr streams) noexcept : streams_(std::move(streams)) {
  if (streams_) g_nodes_on_streams.fetch_add(1, std::memory_order_relaxed);
}

ForwardStreams::~ForwardStreams() {
  if (streams_) g_nodes_on_streams.fetch_sub(1, std::memory_order_relaxed);
}

bool nodes_on_streams() noexcept {
  return g_nodes_on_streams.load(std::memory_order_relaxed) != 0;
}

void record_current_stream(const Storage& storage) {
  if (storage.device.is_cpu() || storage.foreign) return;
  record_stream(storage, current_stream(storage.device));
}

void wait_for(const IntrusivePtr<Stream>& stream, const IntrusivePtr<Stream>& other,
              Device device) {
  or_default(stream, device)->wait(*record_event(*or_default(other, device), device));
}

StreamSetPtr BackwardStreams::of(const Node& node) const noexcept {
  return node.is_accumulator() ? caller_ : StreamSetPtr::share(node.streams());
}

StreamHandle BackwardStreams::stream_of(const Node& node, Device device) const noexcept {
  const StreamSet* streams = node.is_accumulator() ? caller_.get() : node.streams();
  const Stream* stream = streams == nullptr ? nullptr : streams->find(device);
  return stream == nullptr ? nullptr : stream->native();
}

// The first time that the backward meets the device: nothing of it is queued there yet.
BackwardStreams::OnDevice& BackwardStreams::on(Device device) {
  for (OnDevice& known : devices_) {
    if (known.device == device) return known;
  }
  OnDevice fresh{device, {}, {}, {}};
  const CurrentStreams callers(caller_);
  fresh.caller = stream_here(device);
  fresh.start = record_event(*fresh.caller, device);
  return devices_.emplace_back(std::move(fresh));
}

void BackwardStreams::use(Device device) {
  if (device.is_cpu()) return;
  OnDevice& place = on(device);
  const StreamHandle here = current_stream(device);
  const auto is_here = [&](const IntrusivePtr<Stream>& stream) { return stream->native() == here; };
  if (is_here(place.caller) || std::any_of(place.used.begin(), place.used.end(), is_here)) return;
  IntrusivePtr<Stream> stream = stream_here(device);
  stream->wait(*place.start);
  place.used.emplace_back(std::move(stream));
}

void BackwardStreams::use_memory(const Tensor& tensor) {
  record_current_stream(*tensor.storage());
  crossed_.insert(tensor.storage().get());
}

void BackwardStreams::start(const Node& node) {
  for (const OutputMeta& output : node.outputs()) use(output.device);
  for (const Edge& edge : node.next_edges()) {
    if (edge.node) use(edge.node->outputs()[edge.output].device);
  }
  node.record_saved_use();
}

void BackwardStreams::send(const Tensor& place, const Node& consumer, bool from_caller) {
  const Device device = place.device();
  if (device.is_cpu() || stream_of(consumer, device) == current_stream(device)) return;
  Sent sent;
  if (!from_caller) sent.ready = record_event(*stream_here(device), device);
  sent_.emplace(&place, std::move(sent));
}

void BackwardStreams::receive(const Tensor& place) {
  const auto sent = sent_.find(&place);
  if (sent == sent_.end()) return;
  if (sent->second.ready) stream_here(place.device())->wait(*sent->second.ready);
  use_memory(place);
  sent_.erase(sent);
}

IntrusivePtr<Event> BackwardStreams::ready(const Tensor& grad, const Node& consumer) {
  const Device device = grad.device();
  if (device.is_cpu() || stream_of(consumer, device) == current_stream(device)) return {};
  return record_event(*stream_here(device), device);
}

void BackwardStreams::wait(const IntrusivePtr<Event>& ready, const Tensor& grad) {
  if (!ready) return;
  stream_here(grad.device())->wait(*ready);
  use_memory(grad);
}

void BackwardStreams::keep_for_caller(const Tensor& tensor) {
  if (!tensor.defined() || tensor.device().is_cpu()) return;
  const CurrentStreams callers(caller_);
  record_current_stream(*tensor.storage());
}

void BackwardStreams::finish() {
  for (OnDevice& place : devices_) {
    for (const IntrusivePtr<Stream>& stream : place.used) {
      place.caller->wait(*record_event(*stream, place.device));
    }
  }
}

void BackwardStreams::finish_after_error() noexcept {
  try {
    finish();
  } catch (...) {  // a device that fails for good
  }
}

}  // namespace tsr
