// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Profilers over C: arguments, callbacks, and the timeline of the simulated device.
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"
#include "support/places.h"

namespace test_profiler {

using namespace tsr::test;
using nlohmann::json;

namespace {

tsr_profiler_options make_options() {
  tsr_profiler_options options = {};
  options.struct_size = sizeof options;
  return options;
}

struct Owned {
  explicit Owned(const tsr_profiler_options& options, tsr_profile_ready_fn ready = nullptr,
                 void* user = nullptr) {
    ok(tsr_profiler_new(&options, ready, user, nullptr, &handle));
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { tsr_profiler_release(handle); }
  operator tsr_profiler() const { return handle; }
  tsr_profiler handle = nullptr;
};

json take(tsr_buffer buffer) {
  const char* data = nullptr;
  int64_t size = 0;
  ok(tsr_buffer_data(buffer, &data, &size));
  json parsed = json::parse(data, data + size);
  tsr_buffer_release(buffer);
  return parsed;
}
json written(tsr_profiler profiler, tsr_profile_format format) {
  tsr_buffer text = nullptr;
  ok(tsr_profiler_text(profiler, format, &text));
  return take(text);
}

Tensor on_device(int64_t n) {
  Tensor made;
  ok(tsr_ones(&n, 1, TSR_FLOAT32, TSR_DEVICE_SIMULATED, 0, made.slot()));
  return made;
}

class SimulatedProfile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  }
};

TEST_F(SimulatedProfile, R11_arrows_lead_from_launches_to_kernels_of_each_stream) {
  tsr_stream stream = nullptr;
  ok(tsr_stream_create(TSR_DEVICE_SIMULATED, 0, &stream));
  const Tensor x(on_device(1000));
  Tensor y, z;
  const Owned profiler(make_options());
  ok(tsr_profiler_start(profiler));
  ok(tsr_exp(x, y.slot()));
  tsr_stream before = nullptr, between = nullptr;
  ok(tsr_stream_set_current(stream, &before));
  ok(tsr_negative(x, z.slot()));
  ok(tsr_stream_set_current(before, &between));
  ok(tsr_profiler_stop(profiler));
  for (const tsr_stream each : {stream, before, between}) tsr_stream_release(each);

  const json trace = written(profiler, TSR_PROFILE_CHROME);
  std::map<uint64_t, json> starts, ends;
  std::map<std::string, json> spans;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") starts[event["id"]] = event;
    if (event["ph"] == "f") ends[event["id"]] = event;
    if (event["ph"] == "X")
      spans[event["name"].get<std::string>() + "/" + event["cat"].get<std::string>()] = event;
  }
  ASSERT_EQ(starts.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  for (const char* name : {"exp", "negative"}) {
    const json& launch = spans.at(std::string(name) + "/launch");
    const json& kernel = spans.at(std::string(name) + "_kernel/kernel");
    const uint64_t id = launch["args"]["correlation"];
    EXPECT_EQ(kernel["args"]["correlation"], id);
    EXPECT_EQ(starts.at(id)["ts"], launch["ts"]);
    EXPECT_EQ(ends.at(id)["ts"], kernel["ts"]);
    EXPECT_EQ(ends.at(id)["tid"], kernel["tid"]);
    EXPECT_GE(kernel["ts"].get<double>(), launch["ts"].get<double>());
    EXPECT_GT(kernel["dur"].get<double>(), 0);
  }
  EXPECT_NE(spans.at("exp_kernel/kernel")["tid"], spans.at("negative_kernel/kernel")["tid"]);
}

TEST_F(SimulatedProfile, R1_R11_device_time_belongs_to_the_operation_that_queued_it) {
  const Tensor x(on_device(1000));
  Tensor y;
  const Owned profiler(make_options());
  ok(tsr_profiler_start(profiler));
  for (int i = 0; i < 50; ++i) ok(tsr_exp(x, y.slot()));
  ok(tsr_profiler_stop(profiler));
  tsr_buffer buffer = nullptr;
  ok(tsr_profiler_rows(profiler, TSR_PROFILE_BY_OPS, TSR_PROFILE_SORT_DEVICE, &buffer));
  const json rows = take(buffer);
  EXPECT_EQ(rows[0]["name"], "exp");
  EXPECT_EQ(rows[0]["count"], 50);
  EXPECT_EQ(rows[0]["device_time"],
            50 * 10 * 20'000);  // kernel time and unit of the simulated device
  EXPECT_EQ(rows[0]["kernel_time"], rows[0]["device_time"]);
  ok(tsr_profiler_rows(profiler, TSR_PROFILE_BY_KERNELS, TSR_PROFILE_SORT_FLOPS, &buffer));
  const json kernels = take(buffer);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0]["name"], "exp_kernel");
  EXPECT_EQ(kernels[0]["flops"], 50 * 1000);
}

TEST_F(SimulatedProfile, R12_work_queued_without_gaps_keeps_the_stream_busy) {
  const Tensor x(on_device(1 << 10));
  Tensor y;
  ok(tsr_exp(x, y.slot()));
  const Owned profiler(make_options());
  ok(tsr_profiler_start(profiler));
  for (int i = 0; i < 500; ++i) ok(tsr_exp(x, y.slot()));
  ok(tsr_profiler_stop(profiler));
  const json all = written(profiler, TSR_PROFILE_EVENTS);
  const json& work = all["activities"];
  ASSERT_EQ(work.size(), 500U);
  // When the host's part of each launch ended: the stream may idle only before work that came late.
  std::map<uint64_t, int64_t> queued;
  for (const json& event : all["events"]) {
    if (event["kind"] == "launch") queued[event["correlation"]] = event["end"];
  }
  for (size_t i = 1; i < work.size(); ++i) {
    const int64_t before = work[i - 1]["end"], begin = work[i]["begin"];
    EXPECT_GE(begin, before);
    if (begin > before) {
      EXPECT_GT(queued.at(work[i]["correlation"]), before) << i;
    }
  }
}

TEST_F(SimulatedProfile, R11_copies_have_their_bytes) {
  const Tensor x(on_device(1000));
  Tensor back;
  const Owned profiler(make_options());
  ok(tsr_profiler_start(profiler));
  ok(tsr_to(x, TSR_DEVICE_CPU, 0, -1, 0, 0, back.slot()));
  ok(tsr_profiler_stop(profiler));
  const json all = written(profiler, TSR_PROFILE_EVENTS);
  ASSERT_EQ(all["activities"].size(), 1U);
  EXPECT_EQ(all["activities"][0]["kind"], "copy");
  EXPECT_EQ(all["activities"][0]["bytes"], 4000);
}

TEST(Profiler, R11_shapes_are_those_of_all_tensor_arguments) {
  const Tensor x(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  Tensor y;
  auto options = make_options();
  options.shapes = 1;
  const Owned profiler(options);
  ok(tsr_profiler_start(profiler));
  const tsr_tensor list[] = {x, nullptr, x};
  EXPECT_NE(tsr_concat(list, 3, 0, y.slot()), TSR_OK);
  EXPECT_NE(tsr_exp(nullptr, y.slot()), TSR_OK);
  ok(tsr_add(x, x, y.slot()));
  ok(tsr_profiler_stop(profiler));
  std::map<std::string, json> shapes;
  const json all = written(profiler, TSR_PROFILE_EVENTS);
  for (const json& event : all["events"]) {
    if (event["kind"] == "call" && event.contains("shapes"))
      shapes[event["name"]] = event["shapes"];
  }
  EXPECT_EQ(shapes.at("add"), json::parse("[[2,3],[2,3]]"));
  EXPECT_EQ(shapes.at("concat"), json::parse("[[[2,3],[],[2,3]]]"));
  EXPECT_EQ(shapes.count("exp"), 0U);
}

TEST(Profiler, a_callback_may_release_its_profiler_and_its_error_comes_back) {
  int count = 0;
  const auto options = make_options();
  const Owned counted(options, count_profile, &count);
  ok(tsr_profiler_start(counted));
  ok(tsr_profiler_stop(counted));
  EXPECT_EQ(count, 1);

  tsr_profiler profiler = nullptr;
  ok(tsr_profiler_new(
      &options,
      [](void*, tsr_profiler own) -> tsr_status {
        tsr_profiler_release(own);
        return TSR_SHAPE;
      },
      nullptr, nullptr, &profiler));
  ok(tsr_profiler_start(profiler));
  refused(tsr_profiler_stop(profiler), TSR_SHAPE);
  const Owned next(options);
  ok(tsr_profiler_start(next));
  ok(tsr_profiler_stop(next));
}

TEST(Profiler, refuses_wrong_arguments) {
  tsr_profiler profiler = nullptr;
  auto options = make_options();
  options.kinds = 1 << 20;
  refused(tsr_profiler_new(&options, nullptr, nullptr, nullptr, &profiler), TSR_INVALID_ARGUMENT);
  options = make_options();
  options.shapes = 2;
  refused(tsr_profiler_new(&options, nullptr, nullptr, nullptr, &profiler), TSR_INVALID_ARGUMENT);
  options = make_options();
  options.capacity = -1;
  refused(tsr_profiler_new(&options, nullptr, nullptr, nullptr, &profiler), TSR_VALUE);
  const Owned recorded(make_options());
  ok(tsr_profiler_start(recorded));
  ok(tsr_profiler_stop(recorded));
  tsr_buffer text = nullptr;
  refused(tsr_profiler_text(recorded, 9, &text), TSR_INVALID_ARGUMENT);
  refused(tsr_profiler_table(recorded, 9, TSR_PROFILE_SORT_SELF, 0, &text), TSR_INVALID_ARGUMENT);
  refused(tsr_profiler_rows(recorded, TSR_PROFILE_BY_OPS, 9, &text), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_profile_range_begin(nullptr, 3), 0);
}

TEST(Profiler, R11_records_threads_that_come_and_go) {
  const Owned profiler(make_options());
  ok(tsr_profiler_start(profiler));
  for (int i = 0; i < 8; ++i) {
    std::thread([] {
      const int64_t range = tsr_profile_range_begin("thread", -1);
      const Tensor x(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
      Tensor y;
      ok(tsr_exp(x, y.slot()));
      tsr_profile_range_end(range);
    }).join();
  }
  ok(tsr_profiler_stop(profiler));
  int ranges = 0, nested = 0;
  const json all = written(profiler, TSR_PROFILE_EVENTS);
  std::map<uint64_t, std::string> names;
  for (const json& event : all["events"]) {
    names[event["correlation"]] = event["name"];
    ranges += event["name"] == "thread" ? 1 : 0;
    nested +=
        event["name"] == "exp" && event["kind"] == "call" && names[event["parent"]] == "thread" ? 1
                                                                                                : 0;
  }
  EXPECT_EQ(ranges, 8);
  EXPECT_EQ(nested, 8);
}

}  // namespace
}  // namespace test_profiler
