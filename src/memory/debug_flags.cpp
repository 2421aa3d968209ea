// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/debug_flags.h"

#include "base/error.h"

namespace tsr {
namespace {

std::atomic<uint64_t> g_allocations_to_pass{0};

}  // namespace

std::atomic<uint32_t> g_memory_debug_flags{0};

void set_debug_flag(uint32_t flag, bool on) noexcept {
  if (on) {
    g_memory_debug_flags.fetch_or(flag, std::memory_order_relaxed);
  } else {
    g_memory_debug_flags.fetch_and(~flag, std::memory_order_relaxed);
  }
}

void fail_allocation_after(uint64_t count) noexcept {
  g_allocations_to_pass.store(count, std::memory_order_relaxed);
  set_debug_flag(kFailureArmed, true);
}

bool cancel_injected_failure() noexcept {
  const bool armed = (debug_flags() & kFailureArmed) != 0;
  set_debug_flag(kFailureArmed, false);
  return armed;
}

void check_injected_failure(uint64_t nbytes) {
  if ((debug_flags() & kFailureArmed) == 0) return;
  if (g_allocations_to_pass.fetch_sub(1, std::memory_order_relaxed) != 0) return;
  set_debug_flag(kFailureArmed, false);
  fail(Code::kOutOfMemory, nullptr, __FILE__, __LINE__, "out of memory: asked for ", nbytes,
       " bytes (a failure injected by a test)");
}

}  // namespace tsr
