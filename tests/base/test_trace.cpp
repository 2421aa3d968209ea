// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the end of a thread does to its open ranges.
#include "base/trace.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/thread_exit.h"

namespace test_trace {

using namespace tsr;

namespace {

const TraceSpan* g_innermost = nullptr;

void see_innermost() noexcept {
  g_innermost = innermost_span();
}

TEST(Trace, a_range_that_was_left_open_is_around_nothing_at_the_end_of_its_thread) {
  set_trace_hook(
      TraceListener::kTests, [](const TraceEvent&, void**) noexcept {},
      static_cast<uint32_t>(TraceKind::kAnnotation));
  std::thread([] {
    EXPECT_NE(begin_range("outer"), 0);
    EXPECT_NE(begin_range("inner"), 0);
    g_innermost = innermost_span();
    EXPECT_NE(g_innermost, nullptr);
    // A part that ends after the ranges; its own function has no thread in this program.
    EXPECT_TRUE(at_thread_exit(ThreadPart::kHandleCounts, see_innermost));
  }).join();
  set_trace_hook(TraceListener::kTests, nullptr, 0);
  EXPECT_EQ(g_innermost, nullptr);
}

}  // namespace
}  // namespace test_trace
