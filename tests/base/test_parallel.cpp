// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace tsr::test_parallel {
namespace {

class Parallel : public testing::Test {
 protected:
  void SetUp() override { before_ = num_threads(); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int32_t before_ = 1;
};

void expect_each_once(int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    ASSERT_LT(begin, end);
    for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
  });
  for (const auto& times : seen) EXPECT_EQ(times.load(), 1);
}

TEST_F(Parallel, R18_covers_every_index_once_for_any_count_grain_and_threads) {
  for (const int32_t threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    for (const int64_t count : {0, 1, 2, 63, 64, 65, 1000}) {
      for (const int64_t grain : {0, 1, 7, 64, 5000}) expect_each_once(count, grain);
    }
  }
}

TEST_F(Parallel, R18_chunks_begin_at_multiples_of_the_grain) {
  set_num_threads(3);
  parallel_for(1000, 64, [&](int64_t begin, int64_t) { EXPECT_EQ(begin % 64, 0); });
}

TEST_F(Parallel, a_nested_region_runs_serially) {
  set_num_threads(2);
  std::atomic<int64_t> total{0};
  parallel_for(2, 1, [&](int64_t, int64_t) {
    parallel_for(100, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(end - begin, 100);
      total += end - begin;
    });
  });
  EXPECT_EQ(total.load(), 200);
}

TEST_F(Parallel, a_forked_child_works_after_its_parent_used_threads) {
  set_num_threads(2);
  parallel_for(2, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> total{0};
    parallel_for(1000, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    _exit(total.load() == 1000 && num_threads() == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tsr::test_parallel
