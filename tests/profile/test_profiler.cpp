// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/profiler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/trace.h"
#include "ops/create/create.h"
#include "ops/pointwise/unary.h"
#include "support/start_up.h"

namespace tsr::profile::test_profiler {
namespace {

struct Release {
  void operator()(Profiler* profiler) const { Profiler::destroy(profiler); }
};
using Owned = std::unique_ptr<Profiler, Release>;

Owned make(const Schedule& schedule, Profiler::OnReady on_ready = {}) {
  ProfilerOptions options;
  options.schedule = schedule;
  return Owned(new Profiler(options, std::move(on_ready)));
}

std::string actions(const Schedule& schedule, int steps) {
  std::string text;
  for (int step = 0; step < steps; ++step) {
    text += "-wrs"[static_cast<int>(action_of(schedule, step))];
  }
  return text;
}

std::vector<std::string> ranges(const Profile& profile) {
  std::vector<std::string> names;
  for (const Event& event : profile.events) {
    if (event.kind == TraceKind::kAnnotation) names.emplace_back(event.name);
  }
  return names;
}

TEST(Schedule, R11_cycles_of_wait_warm_up_and_active_steps) {
  EXPECT_EQ(actions({}, 3), "rrr");
  EXPECT_EQ(actions({0, 1, 1, 2, 0}, 9), "-wrs-wrs-");
  EXPECT_EQ(actions({2, 1, 0, 1, 2}, 8), "---s-s--");
  EXPECT_EQ(actions({0, 0, 0, 1, 0}, 3), "sss");
}

TEST(Schedule, refuses_what_cannot_be) {
  EXPECT_THROW(make({0, 1, 0, 0, 0}), Error);
  EXPECT_THROW(make({0, -1, 0, 1, 0}), Error);
  EXPECT_THROW(make({0, 0, 0, -1, 0}), Error);
}

TEST(Profiler, R11_keeps_active_steps_only_and_calls_back_after_each_cycle) {
  testing::start_up();
  const Tensor x = ops::ones(std::vector<int64_t>{4});
  std::vector<std::vector<std::string>> seen;
  Profiler* self = nullptr;
  const Owned profiler = make({0, 1, 1, 2, 2}, [&] { seen.push_back(ranges(self->profile())); });
  self = profiler.get();
  profiler->start();
  for (int step = 0; step < 10; ++step) {
    const int64_t range = begin_range("work " + std::to_string(step));
    static_cast<void>(ops::exp(x));
    end_range(range);
    profiler->step();
  }
  profiler->stop();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0],
            (std::vector<std::string>{"ProfilerStep#2", "work 2", "ProfilerStep#3", "work 3"}));
  EXPECT_EQ(seen[1],
            (std::vector<std::string>{"ProfilerStep#6", "work 6", "ProfilerStep#7", "work 7"}));
  EXPECT_EQ(profiler->profile().cycle, 1);
  EXPECT_FALSE(is_traced(TraceKind::kAnnotation));
}

TEST(Profiler, R11_stop_ends_the_cycle_that_is_recorded) {
  testing::start_up();
  int cycles = 0;
  const Owned profiler = make({}, [&] { ++cycles; });
  profiler->start();
  static_cast<void>(ops::exp(ops::ones(std::vector<int64_t>{4})));
  profiler->stop();
  EXPECT_EQ(cycles, 1);
  bool seen = false;
  for (const Event& event : profiler->profile().events) {
    if (event.kind != TraceKind::kLaunch || std::string_view(event.name) != "exp") continue;
    seen = true;
    EXPECT_EQ(event.cost.flops, 4);
    EXPECT_EQ(event.cost.bytes, 32);
  }
  EXPECT_TRUE(seen);
}

TEST(Profiler, nothing_is_there_before_a_cycle_has_ended) {
  const Owned profiler = make({0, 5, 0, 1, 0});
  EXPECT_THROW(static_cast<void>(profiler->profile()), Error);
  EXPECT_THROW(profiler->step(), Error);
  EXPECT_THROW(profiler->stop(), Error);
  profiler->start();
  profiler->stop();
  EXPECT_THROW(static_cast<void>(profiler->profile()), Error);
}

TEST(Profiler, one_runs_at_a_time_and_the_next_one_may_start_after_it) {
  const Owned first = make({}), second = make({});
  first->start();
  EXPECT_THROW(second->start(), Error);
  EXPECT_THROW(first->start(), Error);
  first->stop();
  second->start();
  second->stop();
  {
    const Owned dropped = make({});
    dropped->start();
  }
  first->start();
  first->stop();
}

TEST(Profiler, that_is_released_while_it_runs_ends_the_range_of_its_step) {
  {
    const Owned dropped = make({.active = 2});
    dropped->start();
    ASSERT_NE(innermost_span(), nullptr);
    EXPECT_STREQ(innermost_span()->event.name, "ProfilerStep#0");
  }
  EXPECT_EQ(innermost_span(), nullptr);
}

TEST(Profiler, an_error_of_the_callback_comes_out_and_the_profiler_has_stopped) {
  const Owned profiler = make({}, [] { throw Error(Code::kValue, nullptr, "no"); });
  profiler->start();
  EXPECT_THROW(profiler->stop(), Error);
  EXPECT_FALSE(profiler->running());
  profiler->start();
  EXPECT_THROW(profiler->stop(), Error);
}

}  // namespace
}  // namespace tsr::profile::test_profiler
