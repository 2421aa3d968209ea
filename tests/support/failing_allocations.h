// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fail_each_allocation: checks that a function leaks nothing, whichever of its allocations fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "base/error.h"
#include "base/function_ref.h"
#include "memory/allocator.h"
#include "memory/caching_allocator.h"
#include "memory/debug_flags.h"
#include "memory/small_heap.h"

namespace tsr::test {

// Live tensor memory and library objects; other threads must be idle.
inline int64_t live_allocations() {
  const MemoryStats pools = allocator_for(Device{}).caching()->stats();
  return small::live_blocks() + live_large_objects() + pools.allocated.all.current;
}

// Runs `body` once without failures, to make objects that are made only once. Then runs it with its
// first allocation failing, then its second, and so on, until a run succeeds without the failure. A
// failing run may end normally or by an Error kOutOfMemory (or std::bad_alloc), and must leave as
// many live allocations as before. Returns the number of runs with a failure.
inline int64_t fail_each_allocation(FunctionRef<void()> body) {
  constexpr int64_t kMaxRuns = 100000;
  body();
  const int64_t before = live_allocations();
  for (int64_t run = 0; run < kMaxRuns; ++run) {
    fail_allocation_after(static_cast<uint64_t>(run));
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfMemory) << "run " << run << ": " << error.message();
    } catch (const std::bad_alloc&) {
      // The standard library's exception for the same failure.
    }
    const bool all_passed = cancel_injected_failure();
    EXPECT_EQ(live_allocations(), before) << "a leak when allocation " << run << " fails";
    if (all_passed || ::testing::Test::HasFailure()) return run;
  }
  ADD_FAILURE() << "still allocating after " << kMaxRuns << " runs";
  return kMaxRuns;
}

}  // namespace tsr::test
