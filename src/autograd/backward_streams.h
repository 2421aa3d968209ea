// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// BackwardStreams: the streams of one backward, and the events between them.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "autograd/hooks.h"
#include "autograd/node.h"
#include "base/small_vector.h"
#include "memory/stream.h"

namespace tsr {

// Note [Backward on streams]
// The calling thread queues the work of the whole backward. Each node runs under the current
// streams of its forward, each accumulator under those of the caller. What this class adds is the
// order between streams:
// - A stream that the backward uses first waits for the caller's current stream of its device.
// - A gradient waits with an event of the stream that made it; the stream that uses it waits for
//   that event just before. Two gradients of one place are added on the stream of the consumer, in
//   place only if no other stream has used their memory.
// - At the end the caller's current streams wait for all streams that the backward used.
// So for its caller a backward is one function on the current streams, as any op is. Memory that a
// second stream uses is reported to the allocator, which lends it again only after that use.
// The class does nothing between equal streams, and is not even made while the caller and all nodes
// of the process are on default streams: needed().
class BackwardStreams {
 public:
  [[nodiscard]] static bool needed() noexcept {
    return !on_default_streams() || nodes_on_streams();
  }
  BackwardStreams() noexcept : caller_(current_streams()) {}
  BackwardStreams(const BackwardStreams&) = delete;
  BackwardStreams& operator=(const BackwardStreams&) = delete;

  // The streams under which a node runs.
  [[nodiscard]] StreamSetPtr of(const Node& node) const noexcept;

  // While the streams of `node` are current, before its work: makes its streams wait for the
  // caller's, and reports the memory that the node saved.
  void start(const Node& node);
  // While the streams of the producer are current: the gradient `place` is made, and the consumer
  // will call receive. A gradient of the caller needs no event of its own.
  void send(const Tensor& place, const Node& consumer, bool from_caller);
  // While the streams of the consumer are current: waits until `place` can be used there.
  void receive(const Tensor& place);
  // While the streams of the producer are current: an event to wait for where `grad` is used on
  // another stream by `consumer`; else null.
  [[nodiscard]] IntrusivePtr<Event> ready(const Tensor& grad, const Node& consumer);
  // While the streams of the consumer are current: waits for ready's event.
  void wait(const IntrusivePtr<Event>& ready, const Tensor& grad);
  // Whether a stream other than the tensor's first one has used its memory in this backward.
  [[nodiscard]] bool crossed(const Tensor& tensor) const noexcept {
    return crossed_.contains(tensor.storage().get());
  }
  // The caller will have the tensor: its streams may use the memory.
  void keep_for_caller(const Tensor& tensor);

  // At the end, while the caller's streams are current.
  void finish();
  // The same while an error is on its way, which no second one may replace.
  void finish_after_error() noexcept;

 private:
  struct OnDevice {
    Device device;
    IntrusivePtr<Stream> caller;
    IntrusivePtr<Event> start;                  // the work of the caller before the backward
    SmallVector<IntrusivePtr<Stream>, 4> used;  // other than the caller's
  };
  struct Sent {
    IntrusivePtr<Event> ready;  // null: start of the caller covers it
  };

  OnDevice& on(Device device);
  void use(Device device);
  void use_memory(const Tensor& tensor);
  [[nodiscard]] StreamHandle stream_of(const Node& node, Device device) const noexcept;

  StreamSetPtr caller_;
  SmallVector<OnDevice, 2> devices_;
  std::unordered_map<const Tensor*, Sent> sent_;  // by the place of the gradient
  std::unordered_set<const Storage*> crossed_;    // also those that are gone
};

// Makes `stream` wait for the work queued on `other` so far; null is the default stream.
void wait_for(const IntrusivePtr<Stream>& stream, const IntrusivePtr<Stream>& other, Device device);

}  // namespace tsr
