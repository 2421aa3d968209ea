// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <set>
#include <string>

#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {

constinit std::atomic<uint32_t> g_traced_kinds{0};

namespace {

constinit std::atomic<TraceHook> g_hooks[kTraceListeners] = {};
constinit std::atomic<uint64_t> g_correlations{0};

// See Note [Thread-local state].
struct ThreadTrace {
  TraceSpan* innermost;
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

void call_hooks(const TraceEvent& event, void** kept) noexcept {
  if (t_trace.in_hook) return;
  t_trace.in_hook = true;
  uint32_t wanted = g_traced_kinds.load(std::memory_order_acquire);
  for (size_t i = 0; wanted != 0; ++i, wanted >>= kTraceKindBits) {
    if ((wanted & static_cast<uint32_t>(event.kind)) == 0) continue;
    g_hooks[i].load(std::memory_order_relaxed)(event, kept);
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

}  // namespace

void begin_span(TraceSpan& span, const TraceEvent& event) noexcept {
  span.event = event;
  fill(span.event, TracePhase::kBegin);
  span.outer = t_trace.innermost;
  span.kept = nullptr;
  t_trace.innermost = &span;
  call_hooks(span.event, &span.kept);
  span.event.args = nullptr;  // the arguments no longer exist at the end
  span.event.n_args = 0;
}

void end_span(TraceSpan& span, int64_t value) noexcept {
  span.event.end = now();
  span.event.phase = TracePhase::kEnd;
  if (span.event.kind != TraceKind::kNode) span.event.value = value;
  t_trace.innermost = span.outer;
  call_hooks(span.event, &span.kept);
  std::free(span.kept);
}

void trace_instant(const TraceEvent& event) noexcept {
  TraceEvent filled = event;
  fill(filled, TracePhase::kInstant);
  filled.end = filled.begin;
  call_hooks(filled, nullptr);
}

void set_trace_hook(TraceListener listener, TraceHook hook, uint32_t kinds) noexcept {
  const auto place = static_cast<int>(listener);
  const uint32_t own = kAllTraceKinds << (place * kTraceKindBits);
  g_traced_kinds.fetch_and(~own, std::memory_order_relaxed);
  if (hook == nullptr) return;
  g_hooks[place].store(hook, std::memory_order_relaxed);
  g_traced_kinds.fetch_or(kinds << (place * kTraceKindBits), std::memory_order_release);
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
