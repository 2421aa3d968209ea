// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The two ways for trace events to leave the library: a callback, and a buffer that the host reads.
#include "base/trace.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/structs.h"
#include "capi/trace_buffer.h"

namespace tsr::capi {
namespace {

constexpr int32_t kKinds = TSR_TRACE_EVERYTHING | TSR_TRACE_ANNOTATION;
constexpr int32_t kKnownFlags = kKinds | TSR_TRACE_ARGUMENTS;
static_assert(kKinds == kAllTraceKinds);

uint32_t kinds_arg(int32_t flags) {
  check_flags(flags, kKnownFlags, "flags");
  return static_cast<uint32_t>(flags & kKinds);
}
bool wants_arguments(int32_t flags) {
  return (flags & TSR_TRACE_ARGUMENTS) != 0;
}

// ---- The callback ----

struct Target {
  tsr_trace_fn callback;
  bool arguments;
  UserData data;
};

// A thread inside the callback shares ownership of the target, so that drop waits for it.
struct Host {
  GuardedMutex mutex;
  std::shared_ptr<Target> target;
};

void tell_host(const TraceEvent& event, void**) noexcept {
  std::shared_ptr<Target> target;
  {
    const std::lock_guard lock(immortal<Host>().mutex);
    target = immortal<Host>().target;
  }
  if (!target) return;
  tsr_trace_event told = to_public(event);
  if (target->arguments) {
    told.n_args = event.n_args;
    told.args = static_cast<const tsr_value*>(event.args);
  }
  try {
    target->callback(target->data.get(), &told);
  } catch (...) {  // an error of the callback cannot be reported
  }
}

// ---- The buffer ----

struct Recording {
  GuardedMutex mutex;
  TraceBuffer buffer;
  // Read without the lock at the beginning of a span: a stale value only loses or adds arguments.
  std::atomic<bool> arguments{false};
  bool running = false;
};
Recording& recording() {
  return immortal<Recording>();
}

void record(const TraceEvent& event, void** kept) noexcept {
  if (event.phase == TracePhase::kBegin) {
    if (recording().arguments.load(std::memory_order_relaxed)) *kept = describe_arguments(event);
    return;
  }
  const std::lock_guard lock(recording().mutex);
  if (recording().running) recording().buffer.add(event, kept);
}

}  // namespace
}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_trace_set(tsr_trace_fn callback, void* user, tsr_drop_fn drop, int32_t flags) {
  UserData data(user, drop);
  return guard(Call(kInfo_trace_set, callback, flags), [&] {
    const uint32_t kinds = kinds_arg(flags);
    std::shared_ptr<Target> target;
    if (callback != nullptr)
      target = std::make_shared<Target>(Target{callback, wants_arguments(flags), std::move(data)});
    // The old target is destroyed after the lock is released: its drop may call the library.
    const std::lock_guard lock(immortal<Host>().mutex);
    immortal<Host>().target.swap(target);
    const bool set = immortal<Host>().target != nullptr;
    set_trace_hook(TraceListener::kHost, set ? tell_host : nullptr, kinds);
  });
}

tsr_status tsr_trace_start(int64_t capacity, int32_t flags) {
  return guard(Call(kInfo_trace_start, capacity, flags), [&] {
    const uint32_t kinds = kinds_arg(flags);
    constexpr int64_t kMost = int64_t{1} << 26;
    TSR_CHECK(capacity > 0 && capacity <= kMost, Code::kValue, "capacity",
              "expected a number of events from 1 to ", kMost, ", got ", capacity);
    TraceBuffer fresh(static_cast<size_t>(capacity));
    const std::lock_guard lock(recording().mutex);
    TSR_CHECK(!recording().running, Code::kValue, nullptr,
              "expected no running trace, got one that has not been stopped");
    recording().buffer.swap(fresh);
    recording().running = true;
    recording().arguments.store(wants_arguments(flags), std::memory_order_relaxed);
    set_trace_hook(TraceListener::kBuffer, record, kinds);
  });
}

tsr_status tsr_trace_stop(void) {
  return guard(kInfo_trace_stop, [&] {
    const std::lock_guard lock(recording().mutex);
    recording().running = false;
    set_trace_hook(TraceListener::kBuffer, nullptr, 0);
  });
}

tsr_status tsr_trace_read(tsr_trace_event* events, int32_t n_events, int32_t* count,
                          int64_t* lost) {
  clear_count(count);
  return guard(Call(kInfo_trace_read, events), [&] {
    const auto places = list_arg(events, n_events, "events");
    if (!places.empty()) check_struct_size(events, "events");
    out_arg(count, "count");
    out_arg(lost, "lost");
    const std::lock_guard lock(recording().mutex);
    const uint32_t size = places.empty() ? 0 : events->struct_size;
    *count = recording().buffer.take(events, size, n_events);
    *lost = recording().buffer.take_lost();
  });
}

}  // extern "C"
