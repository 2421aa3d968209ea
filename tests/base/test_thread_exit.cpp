// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The code that runs when a thread ends.
#include "base/thread_exit.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace test_thread_exit {

using namespace tsr;

namespace {

std::vector<int> g_runs;
int g_left = 0;

// These parts have other functions in threads that use them; the threads of this test do not.
void run_streams() noexcept {
  g_runs.push_back(5);
}
void run_generator() noexcept {
  g_runs.push_back(4);
  if (g_left-- > 0) at_thread_exit(ThreadPart::kGenerator, run_generator);
}

TEST(ThreadExit, runs_each_part_once_in_their_order) {
  g_runs.clear();
  g_left = 0;
  std::thread([] {
    EXPECT_TRUE(at_thread_exit(ThreadPart::kStreams, run_streams));
    EXPECT_TRUE(at_thread_exit(ThreadPart::kGenerator, run_generator));
    EXPECT_TRUE(at_thread_exit(ThreadPart::kStreams, run_streams));
    EXPECT_TRUE(g_runs.empty());
  }).join();
  EXPECT_EQ(g_runs, (std::vector<int>{4, 5}));
}

TEST(ThreadExit, runs_again_what_is_needed_again_meanwhile) {
  g_runs.clear();
  g_left = 2;
  std::thread([] { at_thread_exit(ThreadPart::kGenerator, run_generator); }).join();
  EXPECT_EQ(g_runs, (std::vector<int>{4, 4, 4}));
}

TEST(ThreadExit, comes_after_the_destructors_of_thread_locals) {
  g_runs.clear();
  g_left = 0;
  struct Local {
    ~Local() {
      g_runs.push_back(0);
      at_thread_exit(ThreadPart::kGenerator, run_generator);
    }
  };
  std::thread([] {
    static thread_local Local local;
    static_cast<void>(&local);
    at_thread_exit(ThreadPart::kStreams, run_streams);
  }).join();
  EXPECT_EQ(g_runs, (std::vector<int>{0, 4, 5}));
}

constinit thread_local ThreadValue<std::shared_ptr<int>> t_value;

TEST(ThreadValue, is_made_at_its_first_use_and_ended_by_a_call) {
  const auto shared = std::make_shared<int>(1);
  EXPECT_EQ(t_value.get(), nullptr);
  t_value.get() = shared;
  EXPECT_EQ(shared.use_count(), 2);
  t_value.end();
  EXPECT_EQ(shared.use_count(), 1);
  t_value.end();
  EXPECT_EQ(t_value.get(), nullptr);
  t_value.end();
}

}  // namespace
}  // namespace test_thread_exit
