// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/history_context.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/guarded_mutex.h"
#include "base/host_stack.h"
#include "base/immortal.h"
#include "base/trace.h"
#include "memory/debug_flags.h"

namespace tsr {
namespace {

constexpr size_t kMostTexts = size_t{1} << 16;
constexpr size_t kMostSpans = 16;
constexpr std::string_view kSeparator = " > ";
constexpr uint32_t kOtherText = 1;  // "..."

// The texts since the recording began that no other was running beside. Entries do not move.
struct Texts {
  GuardedMutex mutex;
  std::deque<std::string> texts;
  std::unordered_map<std::string_view, uint32_t> numbers;
  uint32_t first = kOtherText + 1;  // the number of the first text; numbers are not used again
};
Texts& texts() {
  return immortal<Texts>();
}

std::atomic<uint32_t> g_frames{0};  // kept of each stack; 0: no history wants stacks

struct Counts {
  GuardedMutex mutex{LockLevel::kOuter};
  int64_t histories = 0;
  int64_t with_stacks = 0;
};

// The stack of the call that this thread is in, so that its blocks ask the host once.
struct KnownStack {
  uint64_t call = 0;
  uint32_t number = kNoText;
};
constinit thread_local KnownStack t_known = {};

std::string_view first_lines(std::string_view text, uint32_t count) noexcept {
  size_t end = 0;
  for (uint32_t i = 0; i < count && end < text.size(); ++i) {
    const size_t line = text.find('\n', end);
    end = line == std::string_view::npos ? text.size() : line + 1;
  }
  while (end > 0 && text[end - 1] == '\n') --end;
  return text.substr(0, end);
}

uint32_t ask_host() noexcept {
  const std::string stack = host_stack_or_none();
  if (stack.empty()) return kNoText;
  return history_text(first_lines(stack, g_frames.load(std::memory_order_relaxed)));
}

// Note [When the host is asked]
// Inside a node the library may hold a lock of a gradient, under which the host must not run. There
// the stack is the one that was noted when the call's first node began. Elsewhere a call's first
// block asks.
uint32_t stack_here() noexcept {
  const TraceSpan* span = innermost_span();
  bool in_node = false;
  while (span != nullptr && span->event.kind != TraceKind::kCall) {
    in_node = in_node || span->event.kind == TraceKind::kNode;
    span = span->outer;
  }
  if (span == nullptr) return kNoText;
  const uint64_t call = span->event.correlation;
  if (t_known.call == call) return t_known.number;
  if (in_node) return kNoText;
  t_known = {call, ask_host()};
  return t_known.number;
}

// Without what the host annotates: a name with the number of a step would make each step another
// holder.
uint32_t operation_here() noexcept {
  std::array<const TraceEvent*, kMostSpans> events{};
  size_t count = 0;
  for (const TraceSpan* span = innermost_span(); span != nullptr && count < kMostSpans;
       span = span->outer) {
    if (span->event.kind != TraceKind::kAnnotation) events[count++] = &span->event;
  }
  if (count == 0) return kNoText;
  try {
    std::string path;
    while (count > 0) {
      const TraceEvent& event = *events[--count];
      if (!path.empty()) path += kSeparator;
      path += event.name;
      if (event.kind == TraceKind::kLaunch) path += " kernel";
    }
    return history_text(path);
  } catch (...) {  // no memory for the text
    return kNoText;
  }
}

// Under the lock of the counts, the outer one.
void forget_texts() noexcept {
  const std::lock_guard lock(texts().mutex);
  texts().first += static_cast<uint32_t>(texts().texts.size());
  texts().numbers.clear();
  texts().texts.clear();
}

// Makes the spans by listening. At the beginning of a node no lock is held.
void listen(const TraceEvent& event, void**) noexcept {
  if (event.kind != TraceKind::kNode || event.phase != TracePhase::kBegin) return;
  if (g_frames.load(std::memory_order_relaxed) == 0) return;
  const TraceSpan* span = innermost_span();
  while (span != nullptr && span->event.kind != TraceKind::kCall) span = span->outer;
  if (span == nullptr || t_known.call == span->event.correlation) return;
  t_known = {span->event.correlation, ask_host()};
}

}  // namespace

uint32_t history_text(std::string_view text) noexcept {
  try {
    const std::lock_guard lock(texts().mutex);
    const auto found = texts().numbers.find(text);
    if (found != texts().numbers.end()) return found->second;
    if (texts().texts.size() >= kMostTexts) return kOtherText;
    const auto number = texts().first + static_cast<uint32_t>(texts().texts.size());
    const std::string& kept = texts().texts.emplace_back(text);
    texts().numbers.emplace(kept, number);
    return number;
  } catch (...) {  // no memory for the text
    return kNoText;
  }
}

std::string text_of_history(uint32_t number) {
  if (number == kNoText) return {};
  const std::lock_guard lock(texts().mutex);
  const uint32_t place = number - texts().first;  // large for a number from before
  return place < texts().texts.size() ? texts().texts[place] : "...";
}

std::string operation_name(uint32_t number) {
  const std::string path = text_of_history(number);
  const size_t last = path.rfind(kSeparator);
  return last == std::string::npos ? path : path.substr(last + kSeparator.size());
}

HistoryContext history_context(bool operations, bool stacks) noexcept {
  HistoryContext context;
  context.thread = static_cast<int32_t>(gettid());
  if (operations) context.operation = operation_here();
  if (stacks) context.stack = stack_here();
  return context;
}

void begin_history(uint32_t stack_frames) noexcept {
  Counts& counts = immortal<Counts>();
  const std::lock_guard lock(counts.mutex);
  if (counts.histories++ == 0) forget_texts();
  if (stack_frames > 0) {
    ++counts.with_stacks;
    g_frames.store(stack_frames);
  }
  set_trace_hook(TraceListener::kMemory, listen, kAllTraceKinds);
  set_debug_flag(kHistoryKept, true);
}

void end_history(bool stacks) noexcept {
  Counts& counts = immortal<Counts>();
  const std::lock_guard lock(counts.mutex);
  if (stacks && --counts.with_stacks == 0) g_frames.store(0);
  if (--counts.histories > 0) return;
  set_trace_hook(TraceListener::kMemory, nullptr, 0);
  set_debug_flag(kHistoryKept, false);
}

}  // namespace tsr
