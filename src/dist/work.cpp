// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Work: waiting for operations, and what happens at their end.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/immortal.h"
#include "dist/channel.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "optim/optimizer.h"

namespace tsr::dist {
namespace {

// Operations that nobody waits for. Their memory is theirs until they have ended.
struct Discarded {
  ForkMutex mutex;
  std::vector<std::unique_ptr<Work::Parts>> running;
};

// Frees those that have ended. They are destroyed without the lock: freeing a channel may take
// long.
void sweep() {
  auto& discarded = immortal<Discarded>();
  std::vector<std::unique_ptr<Work::Parts>> ended;
  const std::lock_guard lock(discarded.mutex);
  auto& running = discarded.running;
  ended.reserve(running.size());  // before any is moved: an error must not leave holes
  const auto first = std::partition(running.begin(), running.end(),
                                    [](const auto& parts) { return !parts->transport_done(); });
  std::move(first, running.end(), std::back_inserter(ended));
  running.erase(first, running.end());
}

// Waits on the host for events, which a stream that no longer moves never reaches.
bool events_reached(std::span<const IntrusivePtr<Event>> events, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto reached = [&] {
    return std::all_of(events.begin(), events.end(),
                       [](const auto& event) { return event->done(); });
  };
  while (!reached()) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (!(spent.count() <= seconds)) return false;  // also for a time that is no number
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace

void throw_failure(Status status, const Failure& failure, const char* what) {
  Error error(static_cast<Code>(status), nullptr, concat(what, ": ", failure.text), __FILE__,
              __LINE__);
  error.set_native_code(failure.native_code);
  throw error;
}

void Work::Parts::throw_missing() const {
  fail(Code::kNotImplemented, nullptr, __FILE__, __LINE__, "expected a backend that offers ", what,
       ", got '", channel->table.name, "'");
}

Work::Parts::~Parts() {
  bool used = false;
  for (const WorkHandle work : works) {
    used = channel->table.release(channel->context, work) != 0 || used;
  }
  if (!used) return;
  // The transport may still write there after a failure.
  for (Tensor& tensor : kept) static_cast<void>(tensor.detach_impl());
}

bool Work::Parts::transport_done() {
  for (const WorkHandle work : works) {
    int32_t done = 0;
    Failure ignored;
    channel->table.test(channel->context, work, &done, &ignored);
    if (done == 0) return false;
  }
  try {
    return std::all_of(events.begin(), events.end(),
                       [](const auto& event) { return event->done(); });
  } catch (...) {
    return true;  // the stream has failed
  }
}

void Work::Parts::discard(std::unique_ptr<Parts> parts) noexcept {
  try {
    if (parts->ended || parts->transport_done()) return;
    auto& discarded = immortal<Discarded>();
    const std::lock_guard lock(discarded.mutex);
    discarded.running.push_back(std::move(parts));
  } catch (...) {
    static_cast<void>(parts.release());  // no memory for the list: it is never freed
  }
}

WorkPtr Work::Parts::give(Preparing parts) {
  if (parts->channel->table.stream_ordered != 0 && !parts->device.is_cpu()) {
    const DeviceInterface& interface = *kernel::backend_for(parts->device).device;
    parts->events.push_back(Event::create(parts->device, interface));
    parts->events.back()->record(parts->channel->stream_on(parts->device));
  }
  sweep();
  return WorkPtr::adopt(new Work(std::unique_ptr<Parts>(parts.release())));
}

Work::Work(std::unique_ptr<Parts> parts) noexcept : Object(kWorkTag), parts_(std::move(parts)) {}

void Work::destroy(Work* work) noexcept {
  work->tag = ObjectTag::kDead;
  Parts::discard(std::move(work->parts_));
  delete work;
}

bool Work::done() {
  {
    const std::lock_guard lock(parts_->mutex);
    if (parts_->ended) return true;
  }
  return parts_->transport_done();
}

void Work::wait(std::optional<double> seconds) {
  using Clock = std::chrono::steady_clock;
  Parts& parts = *parts_;
  const double limit = seconds.value_or(parts.channel->timeout);
  const auto start = Clock::now();
  const auto rest = [&] {
    const std::chrono::duration<double> spent = Clock::now() - start;
    return std::max(limit - spent.count(), 0.0);
  };
  Status status = kOk;
  Failure failure;
  // To the last, also after a failure: an operation must not be released while it is under way.
  for (const WorkHandle work : parts.works) {
    Failure reason;
    const bool first = work == parts.works.front();
    const Status ended =
        parts.channel->table.wait(parts.channel->context, work, first ? limit : rest(), &reason);
    if (status != kOk || ended == kOk) continue;
    status = ended;
    failure = reason;
  }
  if (status == kOk && (seconds || parts.on_host) && !events_reached(parts.events, rest())) {
    const std::string text = concat(parts.what, " was not done after ", limit, " s");
    parts.channel->table.abort(parts.channel->context, text.c_str(), nullptr);
    status = failure.set(Code::kCancelled, text);
  }
  const std::lock_guard lock(parts.mutex);
  if (!parts.ended) {
    parts.status = status;
    parts.failure = failure;
    if (status == kOk) finish();
    parts.ended = true;
  }
  if (parts.status != kOk) throw_failure(parts.status, parts.failure, parts.what);
  for (const auto& event : parts.events) {
    Stream::wrap(parts.device, *kernel::backend_for(parts.device).device,
                 current_stream(parts.device))
        ->wait(*event);
  }
}

// With the lock held, once.
void Work::finish() {
  Parts& parts = *parts_;
  for (const auto& event : parts.events) {
    Stream::wrap(parts.device, *kernel::backend_for(parts.device).device,
                 current_stream(parts.device))
        ->wait(*event);
  }
  for (const auto& [to, from] : parts.copies) ops::copy_memory(to, from);
  parts.copies.clear();
  const optim::Quiet quiet;
  // Each is removed at once, because a wait after an error begins here again.
  for (; !parts.sums.empty(); parts.sums.pop_back()) {
    const Tensor& sum = parts.sums.back();
    ops::divide(sum, static_cast<double>(parts.channel->size), ops::Out::inplace(sum));
  }
  if (!parts.works.empty()) {
    parts.source_rank = parts.channel->table.source(parts.channel->context, parts.works[0]);
  }
}

int32_t Work::source() {
  const std::lock_guard lock(parts_->mutex);
  return parts_->source_rank;
}

}  // namespace tsr::dist
