// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stream of trace events: calls, kernels, nodes, memory, annotated ranges. Costs one test when
// nobody traces.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/device.h"
#include "base/device_interface.h"

namespace tsr {

// Bits, so that a listener can ask for several kinds.
enum class TraceKind : uint32_t {
  kCall = 1,    // a function of the ABI
  kLaunch = 2,  // a kernel
  kNode = 4,    // a node of the graph in a backward
  kAllocate = 8,
  kFree = 16,
  kAnnotation = 32  // a range of the host's program
};
inline constexpr uint32_t kAllTraceKinds = 63;

enum class TracePhase : int32_t { kBegin, kEnd, kInstant };

struct TraceEvent {
  TraceKind kind;
  TracePhase phase;
  int32_t id;            // of a function or a kernel, else 0
  const char* name;      // lives as long as the span; for longer use lasting_name
  const char* family;    // of a kernel, else null
  int64_t begin, end;    // nanoseconds of CLOCK_MONOTONIC; end is 0 at the beginning
  uint64_t correlation;  // of the span
  uint64_t parent;       // correlation of the span around it on its thread, or 0
  int64_t value;         // bytes; a node's sequence number; at the end of others the status
  const void* object;    // block or node
  StreamHandle stream;
  DeviceType device_type;  // of a kernel or of memory, else 0
  int32_t device_index;
  int32_t thread;  // the number that the system gave it
  int32_t n_args;
  const void* args;  // of a call, at its beginning: tsr_value (capi/call.h)
  const void* plan;  // of a kernel, until its end: the plan, whose type the family tells
};

// Each listener has its own slot, so that they do not replace each other.
enum class TraceListener : uint8_t {
  kHandles,
  kHost,
  kBuffer,
  kProfiler,
  kProgram,
  kMemory,
  kTests
};
inline constexpr size_t kTraceListeners = 7;

// An event with a beginning and an end, on the stack of the traced function. Uninitialised: only
// begin_span and end_span touch it.
struct TraceSpan {
  TraceEvent event;
  TraceSpan* outer;
  void* kept[kTraceListeners];  // malloc'ed by a hook at the beginning; freed after the end unless
                                // it takes it then
};

// The kinds that any listener wants.
extern std::atomic<uint32_t> g_traced_kinds;
inline bool is_traced(TraceKind kind) noexcept {
  return (g_traced_kinds.load(std::memory_order_relaxed) & static_cast<uint32_t>(kind)) != 0;
}

// Fills the common fields, calls the hooks, and makes the span the innermost of this thread. Every
// span must end, on the same thread. Functions end innermost first; ranges as they like.
[[gnu::cold]] void begin_span(TraceSpan& span, const TraceEvent& event) noexcept;
[[gnu::cold]] void end_span(TraceSpan& span, int64_t value) noexcept;
[[gnu::cold]] void trace_instant(const TraceEvent& event) noexcept;

// The innermost open span of this thread, null outside all; `outer` leads to those around it. There
// are spans only of kinds that somebody traces.
[[nodiscard]] const TraceSpan* innermost_span() noexcept;

// ---- Annotated ranges ----

// Begins a span that the host names, and returns its number; 0 if nobody traces annotations. The
// name is copied.
[[gnu::cold]] int64_t begin_traced_range(std::string_view name) noexcept;
inline int64_t begin_range(std::string_view name) noexcept {
  return is_traced(TraceKind::kAnnotation) ? begin_traced_range(name) : 0;
}
// On the thread that began it, in any order, also after the listener has gone. Ignores numbers that
// are no open range of this thread.
void end_range(int64_t range) noexcept;

inline void trace_memory(TraceKind kind, Device device, uint64_t nbytes, const void* block,
                         StreamHandle stream = nullptr) noexcept {
  if (!is_traced(kind)) [[likely]]
    return;
  TraceEvent event{};
  event.kind = kind;
  event.name = "memory";
  event.value = static_cast<int64_t>(nbytes);
  event.object = block;
  event.stream = stream;
  event.device_type = device.type;
  event.device_index = device.index;
  trace_instant(event);
}

// ---- Listeners ----

// May be called on any thread, on the one where the event happens, also inside a release. `kept` is
// the listener's own in the span, null for instants. Events that happen inside a hook on the same
// thread are not traced.
using TraceHook = void (*)(const TraceEvent& event, void** kept) noexcept;

// From now on `hook` gets the events of these kinds; a null hook or no kinds end it. Other threads
// may still be inside the old hook when this returns.
void set_trace_hook(TraceListener listener, TraceHook hook, uint32_t kinds) noexcept;

// The same text in memory that is never freed. Only the first few thousand different texts are
// kept; later ones become "...".
const char* lasting_name(const char* name) noexcept;

}  // namespace tsr
