// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/deferred_frees.h"

#include "base/error.h"

namespace tsr {

DeferredFrees::~DeferredFrees() {
  for (const auto& use : storage_) {
    state_.interface.event_destroy(state_.device.index, use->event);
  }
}

void DeferredFrees::add_use(Block* block, StreamHandle stream) {
  if (stream == block->pool->stream) return;
  for (const StreamUse* use = block->uses; use != nullptr; use = use->next) {
    if (use->stream == stream) return;
  }
  queue_of(stream);  // defer() pushes there and must not fail
  StreamUse* use = new_use();
  use->stream = stream;
  use->block = block;
  use->next = block->uses;
  block->uses = use;
}

void DeferredFrees::defer(Block* block) noexcept {
  for (StreamUse* use = block->uses; use != nullptr;) {
    StreamUse* next = use->next;
    use->recorded =
        state_.interface.event_record(state_.device.index, use->event, use->stream) == kDeviceOk;
    queue_of(use->stream).push(use);
    ++block->pending;
    ++pending_;
    use = next;
  }
  block->uses = nullptr;
}

// An event that could not be recorded is tried again: until then its block stays out of use.
bool DeferredFrees::is_done(StreamUse& use) noexcept {
  const int32_t device = state_.device.index;
  if (!use.recorded) {
    use.recorded = state_.interface.event_record(device, use.event, use.stream) == kDeviceOk;
  }
  int32_t done = 0;
  return use.recorded && state_.interface.event_query(device, use.event, &done) == kDeviceOk &&
         done != 0;
}

void DeferredFrees::finish_events() noexcept {
  if (pending_ == 0) return;
  for (const auto& queue : queues_) {
    while (queue->first != nullptr && is_done(*queue->first)) {
      StreamUse* use = queue->first;
      queue->first = use->next;
      if (queue->first == nullptr) queue->last = &queue->first;
      finish(use);
    }
  }
}

void DeferredFrees::finish(StreamUse* use) noexcept {
  Block* block = use->block;
  use->block = nullptr;
  use->next = spare_;
  spare_ = use;
  --pending_;
  if (--block->pending == 0) blocks_.become_free(block);
}

// The uses leave their queues first, so that other threads can go on while this one waits.
bool DeferredFrees::wait(CachingLock& lock) {
  StreamUse* waiting = nullptr;
  for (const auto& queue : queues_) {
    *queue->last = waiting;
    waiting = queue->first;
    queue->first = nullptr;
    queue->last = &queue->first;
  }
  if (waiting == nullptr) return false;
  ++state_.stats.num_sync_all_streams;
  lock.unlock();
  const int32_t device = state_.device.index;
  for (StreamUse* use = waiting; use != nullptr; use = use->next) {
    const int32_t code = use->recorded ? state_.interface.event_synchronize(device, use->event)
                                       : state_.interface.stream_synchronize(device, use->stream);
    use->recorded = code == kDeviceOk;
  }
  lock.lock();
  while (waiting != nullptr) {
    StreamUse* use = waiting;
    waiting = use->next;
    if (use->recorded)
      finish(use);
    else
      queue_of(use->stream).push(use);
  }
  return true;
}

DeferredFrees::Queue& DeferredFrees::queue_of(StreamHandle stream) {
  for (const auto& queue : queues_) {
    if (queue->stream == stream) return *queue;
  }
  return *queues_.emplace_back(std::make_unique<Queue>(stream));
}

StreamUse* DeferredFrees::new_use() {
  if (spare_ != nullptr) {
    StreamUse* use = spare_;
    spare_ = use->next;
    return use;
  }
  storage_.reserve(storage_.size() + 1);
  auto use = std::make_unique<StreamUse>();
  const int32_t code = state_.interface.event_create(state_.device.index, &use->event);
  if (code != kDeviceOk) state_.fail_device(code, "create an event");
  return storage_.emplace_back(std::move(use)).get();
}

void DeferredFrees::verify() const {
  uint64_t uses = 0;
  for (const auto& queue : queues_) {
    for (const StreamUse* use = queue->first; use != nullptr; use = use->next) {
      TSR_ASSERT(use->block->pending > 0 && !use->block->lent, "event of a block in use");
      ++uses;
    }
  }
  TSR_ASSERT(uses <= pending_, "more events queued than counted");
  size_t count = 0;
  for (const StreamUse* use = spare_; use != nullptr; use = use->next) {
    TSR_ASSERT(owns(storage_, use), "spare event without an owner");
    TSR_ASSERT(++count <= storage_.size(), "spare events run in a circle");
  }
}

}  // namespace tsr
