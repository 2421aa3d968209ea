// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The profiler's hook: one branch when off, called by the shim, the launch, the allocator and the
// engine.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr {

enum class TracePoint : int32_t {
  kCallBegin,
  kCallEnd,
  kLaunchBegin,
  kLaunchEnd,
  kAllocate,
  kFree,
  kNodeBegin,
  kNodeEnd
};

struct TraceEvent {
  TracePoint point;
  const char* name;    // a string literal or text that lives as long as the process
  uint64_t value;      // bytes, or an id that pairs begin and end
  const void* object;  // block, node or stream; null when there is none
};

// Called on the thread where it happens, from any thread; must not throw nor call back into the
// library.
struct TraceHook {
  void (*callback)(void* user, const TraceEvent& event);
  void* user;
};

// Null when nobody traces. The hook must outlive every call that may still see it.
extern std::atomic<const TraceHook*> g_trace_hook;

inline void trace(TracePoint point, const char* name, uint64_t value = 0,
                  const void* object = nullptr) {
  const TraceHook* hook = g_trace_hook.load(std::memory_order_acquire);
  if (hook != nullptr) [[unlikely]]
    hook->callback(hook->user, TraceEvent{point, name, value, object});
}

}  // namespace tsr
