// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recordings of memory: operations and stacks of blocks, holders, pages, out of memory.
#include <stdexcept>
#include <string>

#include "support.hpp"

namespace test_memory_history {

using namespace tessera;
using namespace tessera::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Restores the limit, also after a failure.
struct Limited {
  explicit Limited(int64_t nbytes) { set_memory_limit(nbytes); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
  ~Limited() { set_memory_limit(INT64_MAX); }
};

TEST(MemoryHistory, names_operations_shapes_and_stacks) {
  const StackScope stacks([] { return std::string("net.cpp:12 in forward\nmain.cpp:3 in main"); });
  MemoryHistoryOptions options;
  options.stacks = 1;
  {
    const MemoryHistory recording(options);
    EXPECT_TRUE(is_memory_recorded());
    const Tensor kept = ones({512, 1024});
    const std::string found = recording.holders(1);
    EXPECT_TRUE(has(found, "\"operation\": \"ones\"")) << found;
    EXPECT_TRUE(has(found, "\"tensor\": \"float32[512, 1024]\"")) << found;
    EXPECT_TRUE(has(found, "\"stack\": [\"net.cpp:12 in forward\"]")) << found;
    const std::string page = memory_viewer();
    EXPECT_TRUE(has(page, "<!DOCTYPE html>") && has(page, "net.cpp:12 in forward"));
    EXPECT_TRUE(has(memory_viewer_of(memory_snapshot()), "net.cpp:12 in forward"));
  }
  EXPECT_FALSE(is_memory_recorded());
  EXPECT_THROW(memory_viewer_of("[]"), Error);
  set_host_stack([]() -> std::string { throw std::runtime_error("no stack today"); });
  const MemoryHistory recording(options);
  const Tensor kept = ones({512, 1024});
  EXPECT_TRUE(has(recording.holders(1), "\"stack\": []"));
}

TEST(MemoryHistory, out_of_memory_is_observed_and_names_the_holders) {
  empty_cache();
  const MemoryHistory recording;
  const Tensor kept = ones({2048, 1024});
  int64_t asked = 0;
  const OutOfMemoryObserver observer([&](const MemoryEvent& event) { asked = event.requested; });
  const Limited limited(memory_stats().reserved_bytes.all.current);
  try {
    (void)ones({64, 1024, 1024});
    ADD_FAILURE() << "beyond the limit";
  } catch (const OutOfMemoryError& error) {
    EXPECT_TRUE(has(error.what(), "8.00 MiB in 1 block by ones, float32[2048, 1024]"))
        << error.what();
  }
  EXPECT_EQ(asked, int64_t{256} << 20);
}

TEST(MemorySettings, R9_change_one_by_one) {
  MemorySettings settings = memory_settings();
  const MemorySettings before = settings;
  settings.roundup_power2_divisions = 4;
  set_memory_settings(settings);
  EXPECT_EQ(memory_settings().roundup_power2_divisions, 4);
  settings.roundup_power2_divisions = 3;
  EXPECT_THROW(set_memory_settings(settings), InvalidValueError);
  set_memory_settings(before);
  EXPECT_EQ(memory_settings().roundup_power2_divisions, 0);
  const Limited restored(INT64_MAX);
  set_memory_fraction(0.5);
  EXPECT_LT(memory_limit(), INT64_MAX);
  EXPECT_THROW(set_memory_fraction(-1), InvalidValueError);
}

}  // namespace
}  // namespace test_memory_history
