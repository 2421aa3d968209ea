// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Profilers in C++: ranges, schedules, tables, files, exceptions of the callback.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support.hpp"

namespace test_profiler {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Profiler, R11_table_and_formats_have_the_ranges_and_functions) {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  ProfilerOptions options;
  options.shapes = options.memory = options.stacks = true;
  const StackScope stacks([] { return std::string("test.cpp:1 in the_test"); });
  Profiler profiler(options);
  profiler.start();
  {
    const ProfileRange range("forward");
    const ProfileRange inner("exponential");
    sum(exp(x)).backward();
  }
  profiler.stop();
  const std::string table = profiler.table(ProfileSort::total, 3);
  EXPECT_NE(table.find("forward"), std::string::npos) << table;
  EXPECT_NE(table.find("more rows"), std::string::npos);
  EXPECT_NE(profiler.table(ProfileSort::name, 0, ProfileGroup::ops_shapes).find("[[2,3]]"),
            std::string::npos);
  EXPECT_NE(profiler.rows(ProfileGroup::kernels).find("\"exp\""), std::string::npos);
  const std::string events = profiler.text(ProfileFormat::events);
  for (const char* wanted :
       {"\"exponential\"", "\"ExpBackward\"", "\"allocate\"", "test.cpp:1 in the_test"})
    EXPECT_NE(events.find(wanted), std::string::npos) << wanted;
  const std::string path = testing::TempDir() + "profile.html";
  profiler.save(ProfileFormat::html, path);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), profiler.text(ProfileFormat::html));
  std::remove(path.c_str());
}

TEST(Profiler, R11_schedule_calls_back_after_each_cycle) {
  ProfilerOptions options;
  options.wait = options.warmup = options.active = 1;
  options.repeat = 2;
  int cycles = 0;
  Profiler profiler(options, [&](Profiler& self) {
    ++cycles;
    EXPECT_NE(self.table().find("exp"), std::string::npos);
  });
  profiler.start();
  EXPECT_EQ(profiler.action(), ProfileAction::none);
  for (int step = 0; step < 8; ++step) {
    static_cast<void>(exp(ones({1})));
    profiler.step();
    if (step == 1) {
      EXPECT_EQ(profiler.action(), ProfileAction::record_and_save);
    }
  }
  profiler.stop();
  EXPECT_EQ(cycles, 2);
}

TEST(Profiler, an_exception_of_the_callback_comes_back) {
  Profiler profiler({}, [](Profiler&) { throw std::runtime_error("full"); });
  EXPECT_THROW(profiler.stop(), InvalidValueError);
  EXPECT_THROW(static_cast<void>(profiler.table()), InvalidValueError);
  profiler.start();
  EXPECT_THROW(profiler.stop(), std::runtime_error);
  EXPECT_NE(profiler.table().find("Name"), std::string::npos);
}

TEST(Profiler, R11_roof_adds_the_share_of_it) {
  const Roof roof = profile_roof();
  EXPECT_GT(roof.bytes_per_second, 0);
  EXPECT_EQ(profile_roof().flops_per_second, roof.flops_per_second);
  Profiler profiler;
  profiler.start();
  static_cast<void>(exp(ones({1000})));
  profiler.stop();
  EXPECT_NE(profiler.table().find("Of roof"), std::string::npos);
}

}  // namespace
}  // namespace test_profiler
