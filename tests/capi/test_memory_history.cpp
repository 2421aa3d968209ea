// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recordings of memory through the ABI: stacks of the host, what its callbacks may do, observers.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_memory_history {

using namespace tsr::test;
using nlohmann::json;

namespace {

json take_json(tsr_buffer buffer) {
  const char* text = nullptr;
  int64_t size = 0;
  ok(tsr_buffer_data(buffer, &text, &size));
  json parsed = json::parse(std::string(text, static_cast<size_t>(size)));
  tsr_buffer_release(buffer);
  return parsed;
}

json snapshot() {
  tsr_buffer buffer = nullptr;
  ok(tsr_memory_snapshot(TSR_DEVICE_CPU, 0, &buffer));
  return take_json(buffer);
}

json holders() {
  tsr_buffer buffer = nullptr;
  ok(tsr_memory_holders(TSR_DEVICE_CPU, 0, 10, &buffer));
  return take_json(buffer);
}

tsr_tensor ones(int64_t count) {
  tsr_tensor out = nullptr;
  ok(tsr_ones(&count, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out));
  return out;
}

struct Recorded {
  explicit Recorded(int32_t stacks) {
    tsr_memory_history_options options = {};
    options.struct_size = sizeof(options);
    options.stacks = stacks;
    ok(tsr_memory_history_start(TSR_DEVICE_CPU, 0, &options));
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    ok(tsr_memory_history_stop(TSR_DEVICE_CPU, 0));
    ok(tsr_host_stack_set(nullptr, nullptr, nullptr));
  }
};

tsr_status give_text(char* text, int64_t capacity, int64_t* length, const std::string& stack) {
  *length = static_cast<int64_t>(stack.copy(text, static_cast<size_t>(capacity)));
  return TSR_OK;
}

}  // namespace

TEST(MemoryHistoryAbi, as_many_frames_are_kept_as_were_asked_for) {
  const Recorded recorded(3);
  ok(tsr_host_stack_set(
      [](void*, char* text, int64_t capacity, int64_t* length) {
        return give_text(text, capacity, length, "a\nb\nc\nd\n");
      },
      nullptr, nullptr));
  tsr_tensor tensor = ones(1000);
  EXPECT_EQ(holders()[0]["stack"], json({"a", "b", "c"}));
  tsr_tensor_release(tensor);
}

TEST(MemoryHistoryAbi, a_stack_that_is_too_long_ends_with_a_whole_frame) {
  const Recorded recorded(1000);
  ok(tsr_host_stack_set(
      [](void*, char* text, int64_t capacity, int64_t* length) {
        std::string stack;
        while (static_cast<int64_t>(stack.size()) < capacity) stack += "net.py:12 in forward\n";
        return give_text(text, capacity, length, stack);
      },
      nullptr, nullptr));
  tsr_tensor tensor = ones(1000);
  const json stack = holders()[0]["stack"];
  EXPECT_GT(stack.size(), 100U);
  for (const json& frame : stack) EXPECT_EQ(frame, "net.py:12 in forward");
  tsr_tensor_release(tensor);
}

TEST(MemoryHistoryAbi, failing_callback_leaves_the_block_without_a_stack) {
  const Recorded recorded(3);
  const auto fail = [](void*, char*, int64_t, int64_t*) -> tsr_status { return TSR_CALLBACK; };
  ok(tsr_host_stack_set(fail, nullptr, nullptr));
  tsr_tensor tensor = ones(100);
  EXPECT_EQ(holders()[0]["stack"], json::array());
  tsr_tensor_release(tensor);
}

TEST(MemoryHistoryAbi, what_the_callback_frees_is_not_missed) {
  const Recorded recorded(3);
  static tsr_tensor garbage;
  garbage = ones(5000);
  const auto collect = [](void*, char* text, int64_t capacity, int64_t* length) {
    tsr_tensor_release(garbage);  // as a collector does that runs meanwhile
    garbage = nullptr;
    return give_text(text, capacity, length, "collector");
  };
  ok(tsr_host_stack_set(collect, nullptr, nullptr));
  tsr_tensor kept = ones(100);
  const json live = snapshot()["live"];
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0]["size"], 400);
  tsr_tensor_release(kept);
}

TEST(MemoryHistoryAbi, blocks_of_a_backward_name_its_nodes) {
  tsr_tensor x = ones(1000), y = nullptr, total = nullptr, grad = nullptr;
  ok(tsr_tensor_set_requires_grad(x, 1));
  ok(tsr_exp(x, &y));
  ok(tsr_sum(y, nullptr, -1, 0, -1, &total));
  {
    const Recorded recorded(0);
    ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
    const json found = holders();
    ASSERT_FALSE(found.empty());
    const std::string path = found[0]["path"];
    EXPECT_EQ(path.find("tsr_backward > "), 0U) << path;
    EXPECT_NE(path.find("Backward"), std::string::npos) << path;
    EXPECT_EQ(found[0]["tensor"], "float32[1000]");
  }
  ok(tsr_tensor_grad(x, &grad));
  tsr_tensor list[] = {x, y, total, grad};
  tsr_tensor_release_many(list, 4);
}

TEST(MemoryHistoryAbi, trace_and_recording_do_not_disturb_each_other) {
  ok(tsr_trace_start(1000, TSR_TRACE_ALLOCATE));
  {
    const Recorded recorded(0);
    tsr_tensor_release(ones(100));
    const json history = snapshot()["history"];
    const auto is_alloc = [](const json& event) { return event["action"] == "alloc"; };
    EXPECT_EQ(std::count_if(history.begin(), history.end(), is_alloc), 1);
  }
  tsr_tensor_release(ones(100));
  ok(tsr_trace_stop());
  std::vector<tsr_trace_event> events(8);
  events[0].struct_size = sizeof(tsr_trace_event);
  int32_t count = 0;
  int64_t lost = 0;
  ok(tsr_trace_read(events.data(), 8, &count, &lost));
  EXPECT_EQ(count, 2) << "both blocks";
}

TEST(MemoryHistoryAbi, settings_that_are_refused_are_named) {
  const auto why = [](const auto& change) {
    tsr_memory_settings settings = {};
    settings.struct_size = sizeof(settings);
    ok(tsr_memory_settings_get(TSR_DEVICE_CPU, 0, &settings));
    change(settings);
    refused(tsr_memory_settings_set(TSR_DEVICE_CPU, 0, &settings));
    tsr_error_view view = {};
    view.struct_size = sizeof(view);
    ok(tsr_error_last(&view));
    return std::string(view.message, static_cast<size_t>(view.message_len));
  };
  const std::string begin = "tsr_memory_settings_set: settings: expected ";
  EXPECT_EQ(why([](auto& settings) { settings.max_split_size = -1; }),
            begin + "a max_split_size of at least 0, got -1");
  EXPECT_EQ(why([](auto& settings) { settings.max_non_split_rounding = -2; }),
            begin + "a max_non_split_rounding of at least 0, got -2");
  EXPECT_EQ(why([](auto& settings) { settings.expandable_segments = 3; }), begin + "0 or 1, got 3");
}

}  // namespace test_memory_history
