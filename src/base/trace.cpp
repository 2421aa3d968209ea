// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/thread_exit.h"

namespace tsr {

constinit std::atomic<uint32_t> g_traced_kinds{0};

namespace {

struct Listener {
  std::atomic<TraceHook> hook;
  std::atomic<uint32_t> kinds;
};
constinit Listener g_listeners[kTraceListeners] = {};
constinit std::atomic<uint64_t> g_correlations{0};

// A range is no function, so its span is on the heap, followed by the text of its name.
struct Range {
  TraceSpan span;
  Range* next;
};

// See Note [Thread-local state].
struct ThreadTrace {
  TraceSpan* innermost;
  Range* ranges;   // that are open
  int32_t number;  // of the thread, in the process of `mark`
  uint8_t mark;
  bool in_hook;
};
constinit thread_local ThreadTrace t_trace = {};

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

// A system call costs more than the rest of an event.
int32_t thread_number() noexcept {
  if (t_trace.mark != fork_mark()) {
    t_trace.mark = fork_mark();
    t_trace.number = static_cast<int32_t>(gettid());
  }
  return t_trace.number;
}

void call_hooks(const TraceEvent& event, TraceSpan* span) noexcept {
  if (t_trace.in_hook) return;
  t_trace.in_hook = true;
  for (size_t i = 0; i < kTraceListeners; ++i) {
    const Listener& listener = g_listeners[i];
    const uint32_t wanted = listener.kinds.load(std::memory_order_acquire);
    if ((wanted & static_cast<uint32_t>(event.kind)) == 0) continue;
    listener.hook.load(std::memory_order_relaxed)(event,
                                                  span == nullptr ? nullptr : &span->kept[i]);
  }
  t_trace.in_hook = false;
}

void fill(TraceEvent& event, TracePhase phase) noexcept {
  event.phase = phase;
  event.thread = thread_number();
  event.correlation = g_correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  event.parent = t_trace.innermost == nullptr ? 0 : t_trace.innermost->event.correlation;
  event.begin = now();
}

void finish(TraceSpan& span, int64_t value) noexcept {
  span.event.end = now();
  span.event.phase = TracePhase::kEnd;
  if (span.event.kind != TraceKind::kNode) span.event.value = value;
  call_hooks(span.event, &span);
  for (void* kept : span.kept) std::free(kept);
}

// Takes the span out of the open ones. A range may have begun inside it and still be open.
void take_out(const TraceSpan& span) noexcept {
  for (TraceSpan** link = &t_trace.innermost; *link != nullptr; link = &(*link)->outer) {
    if (*link != &span) continue;
    *link = span.outer;
    return;
  }
}

// Other parts of the thread's end may still be traced, so no freed range stays among the open ones.
void forget_ranges() noexcept {
  while (t_trace.ranges != nullptr) {
    Range* range = std::exchange(t_trace.ranges, t_trace.ranges->next);
    take_out(range->span);
    for (void* kept : range->span.kept) std::free(kept);
    std::free(range);
  }
}

}  // namespace

int64_t begin_traced_range(std::string_view name) noexcept {
  void* memory = std::malloc(sizeof(Range) + name.size() + 1);
  if (memory == nullptr || !at_thread_exit(ThreadPart::kTracedRanges, forget_ranges)) {
    std::free(memory);
    return 0;
  }
  auto* range = new (memory) Range;
  char* text = reinterpret_cast<char*>(range + 1);
  std::memcpy(text, name.data(), name.size());
  text[name.size()] = '\0';
  range->next = std::exchange(t_trace.ranges, range);
  TraceEvent event{};
  event.kind = TraceKind::kAnnotation;
  event.name = text;
  begin_span(range->span, event);
  return static_cast<int64_t>(range->span.event.correlation);
}

void end_range(int64_t number) noexcept {
  Range** link = &t_trace.ranges;
  while (*link != nullptr && (*link)->span.event.correlation != static_cast<uint64_t>(number))
    link = &(*link)->next;
  Range* range = *link;
  if (range == nullptr) return;
  *link = range->next;
  take_out(range->span);
  finish(range->span, 0);
  std::free(range);
}

void begin_span(TraceSpan& span, const TraceEvent& event) noexcept {
  span.event = event;
  fill(span.event, TracePhase::kBegin);
  span.outer = t_trace.innermost;
  std::fill(std::begin(span.kept), std::end(span.kept), nullptr);
  t_trace.innermost = &span;
  call_hooks(span.event, &span);
  span.event.args = nullptr;  // the arguments no longer exist at the end
  span.event.n_args = 0;
}

void end_span(TraceSpan& span, int64_t value) noexcept {
  take_out(span);
  finish(span, value);
}

void trace_instant(const TraceEvent& event) noexcept {
  TraceEvent filled = event;
  fill(filled, TracePhase::kInstant);
  filled.end = filled.begin;
  call_hooks(filled, nullptr);
}

const TraceSpan* innermost_span() noexcept {
  return t_trace.innermost;
}

void set_trace_hook(TraceListener listener, TraceHook hook, uint32_t kinds) noexcept {
  Listener& own = g_listeners[static_cast<size_t>(listener)];
  own.kinds.store(0);
  if (hook != nullptr) {
    own.hook.store(hook, std::memory_order_relaxed);
    own.kinds.store(kinds);
  }
  // No lock: callers hold locks of their own. Another thread may change its kinds meanwhile, so
  // look again after each store; the last thread that stores has seen everything.
  const auto wanted_by_anybody = [] {
    uint32_t kinds_of_all = 0;
    for (const Listener& each : g_listeners) kinds_of_all |= each.kinds.load();
    return kinds_of_all;
  };
  uint32_t all;
  do g_traced_kinds.store(all = wanted_by_anybody());
  while (wanted_by_anybody() != all);
}

const char* lasting_name(const char* name) noexcept {
  constexpr size_t kMost = 4096;
  struct Names {
    GuardedMutex mutex;
    std::set<std::string, std::less<>> texts;
  };
  try {
    auto& names = immortal<Names>();
    const std::lock_guard lock(names.mutex);
    const auto found = names.texts.find(name);
    if (found != names.texts.end()) return found->c_str();
    if (names.texts.size() < kMost) return names.texts.emplace(name).first->c_str();
  } catch (...) {  // no memory for the name
  }
  return "...";
}

}  // namespace tsr
