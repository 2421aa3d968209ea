// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The ABI barrier: the one try/catch of the library. Every exported function that can fail runs in
// it.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/trace.h"
#include "tessera/tessera.h"

namespace tsr::capi {

// What the schema knows about a call and an error record needs: its name and its arguments in
// order.
struct CallInfo {
  static constexpr int kMaxArgs = 20;
  const char* op;
  const char* args[kMaxArgs];  // null after the last
};

// Turns the exception in flight into this thread's error record and returns its code. Never throws:
// when memory is out the record falls back to text that needs none.
[[gnu::cold]] tsr_status record_failure(const CallInfo& info) noexcept;

[[gnu::cold]] void trace_call(TracePoint point, const CallInfo& info) noexcept;

// Runs body; TSR_OK writes nothing thread-local.
template <class Body>
[[gnu::always_inline]] inline tsr_status guard(const CallInfo& info, Body&& body) noexcept {
  const bool traced = g_trace_hook.load(std::memory_order_acquire) != nullptr;
  if (traced) [[unlikely]]
    trace_call(TracePoint::kCallBegin, info);
  tsr_status status = TSR_OK;
  try {
    body();
  } catch (...) {
    status = record_failure(info);
  }
  if (traced) [[unlikely]]
    trace_call(TracePoint::kCallEnd, info);
  return status;
}

// The file name of errors that host code raised: their text stays as the host wrote it.
extern const char kHostFile[];

// Number of failures recorded on this thread so far: tells whether a callback that failed said why.
uint64_t failures_recorded() noexcept;
// Throws what a callback reported by returning `status`: this thread's record, with its payload,
// when it was written since `before`, else a plain error that names the callback.
[[noreturn]] void throw_host_failure(tsr_status status, uint64_t before, const char* callback);

}  // namespace tsr::capi
