// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A profiler that finds no memory.
#include <gtest/gtest.h>

#include <memory>

#include "base/trace.h"
#include "profile/profiler.h"
#include "support/failing_allocations.h"
#include "support/failing_new.h"
#include "support/start_up.h"

namespace tsr::profile::test_failed_start {
namespace {

struct Release {
  void operator()(Profiler* profiler) const { Profiler::destroy(profiler); }
};

// Whichever allocation fails: afterwards nothing is recorded, and the next profiler may start.
TEST(Profiler, has_stopped_after_a_start_or_stop_without_memory) {
  tsr::testing::start_up();
  const auto runs = test::fail_each_allocation([] {
    const test::FailingNew failing;
    ProfilerOptions options;
    options.schedule = {.skip_first = 0, .wait = 0, .warmup = 1, .active = 1};
    const std::unique_ptr<Profiler, Release> profiler(new Profiler(options, {}));
    const auto stopped = [&] { return !profiler->running() && !is_traced(TraceKind::kCall); };
    bool started = false;
    try {
      profiler->start();
      started = true;
      profiler->step();
      profiler->stop();
    } catch (...) {
      if (started && profiler->running()) profiler->stop();  // the step failed
      EXPECT_TRUE(stopped());
      throw;
    }
    EXPECT_TRUE(stopped());
  });
  EXPECT_GT(runs, 0);
}

}  // namespace
}  // namespace tsr::profile::test_failed_start
