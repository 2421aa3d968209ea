// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stand-in for the threads of a block: what it must run, and what it must find.
#include "block_threads.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tsr::cuda::on_host::test_block_threads {
namespace {

unsigned t_index = 0;
int t_place[kThreadsOfBlock];
int t_found[kThreadsOfBlock];

int me() {
  return static_cast<int>(t_index);
}
bool run(void (*body)(const void*), unsigned threads = kThreadsOfBlock) {
  return run_block(threads, &t_index, body, nullptr);
}

TEST(BlockThreads, barriers_make_what_others_wrote_visible) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(run([](const void*) {
      t_place[me()] = me();
      __syncthreads();
      const int other = t_place[kThreadsOfBlock - 1 - t_index];
      __syncthreads();
      t_place[me()] = -1;
      t_found[me()] = other;
    }));
    for (int i = 0; i < int{kThreadsOfBlock}; ++i)
      EXPECT_EQ(t_found[i], int{kThreadsOfBlock} - 1 - i);
  }
}

// Whichever neighbour a kernel without a barrier reads, in one of two phases it reads too early.
TEST(BlockThreads, a_missing_barrier_shows_in_either_direction) {
  const auto wrong = [](void (*body)(const void*)) {
    std::fill(std::begin(t_place), std::end(t_place), -1);
    EXPECT_TRUE(run(body));
    return std::count(std::begin(t_found), std::end(t_found), -1) > 0;
  };
  EXPECT_TRUE(wrong([](const void*) {
    t_place[me()] = 1;
    t_found[me()] = t_place[(t_index + 1) % kThreadsOfBlock];
  }));
  EXPECT_TRUE(wrong([](const void*) {
    __syncthreads();
    t_place[me()] = 1;
    t_found[me()] = t_place[(t_index + kThreadsOfBlock - 1) % kThreadsOfBlock];
  }));
}

TEST(BlockThreads, lanes_exchange_within_their_warp) {
  EXPECT_TRUE(run([](const void*) {
    int sum = me();
    for (int reach = 1; reach < warpSize; reach *= 2) sum += __shfl_xor_sync(~0U, sum, reach);
    const int before = __shfl_up_sync(~0U, me(), 1);
    const int third = __shfl_sync(~0U, me(), 3);
    t_found[me()] = sum + 10000 * (before + 100 * third);
  }));
  for (int i = 0; i < int{kThreadsOfBlock}; ++i) {
    const int first = i / warpSize * warpSize;
    const int sum = warpSize * first + warpSize * (warpSize - 1) / 2;
    EXPECT_EQ(t_found[i], sum + 10000 * (std::max(i - 1, first) + 100 * (first + 3))) << i;
  }
}

// A thread that has ended does not count at a barrier, as on a device.
TEST(BlockThreads, threads_may_end_before_a_barrier) {
  EXPECT_TRUE(run([](const void*) {
    if (t_index >= 40) return;
    t_place[me()] = me();
    __syncthreads();
    t_found[me()] = t_place[39 - t_index];
  }));
  EXPECT_EQ(t_found[0], 39);
}

TEST(BlockThreads, waiting_for_ever_is_found_and_the_next_block_runs) {
  EXPECT_FALSE(run([](const void*) {
    if (t_index != 5) __syncwarp();  // lane 5 has ended
  }));
  EXPECT_FALSE(run([](const void*) {
    if (t_index < 32) {
      __syncthreads();
    } else if (t_index != 40) {
      __syncwarp();
    }
  }));
  EXPECT_TRUE(run([](const void*) {
    __syncthreads();
    t_found[me()] = 7;
  }));
  EXPECT_EQ(std::count(std::begin(t_found), std::end(t_found), 7), int{kThreadsOfBlock});
}

TEST(BlockThreads, a_block_may_have_few_threads) {
  EXPECT_TRUE(run(
      [](const void*) {
        __syncthreads();
        t_found[me()] = 9;
      },
      3));
  EXPECT_EQ(std::count(std::begin(t_found), std::end(t_found), 9), 3);
}

}  // namespace
}  // namespace tsr::cuda::on_host::test_block_threads
