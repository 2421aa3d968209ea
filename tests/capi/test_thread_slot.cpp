// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// When threads end: slots are reused, counts are kept.
#include "capi/thread_slot.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace test_thread_slot {

using namespace tsr::capi;

namespace {

int64_t slots() {
  int64_t count = 0;
  for (const ThreadSlot* slot = first_slot(); slot != nullptr; slot = slot->next) ++count;
  return count;
}

TEST(ThreadSlot, of_a_thread_that_ended_serves_the_next) {
  const int64_t handles = live_handles();
  std::thread([] { count_handle(1); }).join();
  const int64_t before = slots();
  for (int i = 0; i < 100; ++i) std::thread([] { count_handle(1); }).join();
  EXPECT_EQ(slots(), before);
  EXPECT_EQ(live_handles(), handles + 101);
  count_handle(-101);
  EXPECT_EQ(live_handles(), handles);
}

TEST(ThreadSlot, is_its_threads_own) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 10000; ++n) {
        count_handle(1);
        count_handle(-1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live_handles(), 0);
}

TEST(LiveHandles, are_never_fewer_than_none) {
  count_handle(-3);
  EXPECT_EQ(live_handles(), 0);
  count_handle(3);
}

}  // namespace
}  // namespace test_thread_slot
