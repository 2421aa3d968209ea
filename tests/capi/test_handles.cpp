// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Handles: deferred drops, use from many threads, results that are also arguments.
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_handles {

using namespace tsr::test;

namespace {

const tsr_node_vtable* doubling() {
  static tsr_node_vtable table = [] {
    tsr_node_vtable made = {};
    made.struct_size = sizeof(made);
    made.forward = double_forward;
    made.backward = double_backward;
    return made;
  }();
  return &table;
}

}  // namespace

TEST(Release, ignores_null_and_handles_of_another_kind) {
  tsr_tensor_release(nullptr);
  tsr_tensor_release(wrong_kind());
  tsr_node_release(wrong_kind<tsr_node>());
  tsr_generator_release(wrong_kind<tsr_generator>());
  EXPECT_EQ(numel(tensor_for_wrong_kind()), 2);
}

TEST(Release, on_a_thread_with_deferred_drops_calls_no_host_code) {
  int drops = 0;
  tsr_tensor tensor = wrapped(&drops);
  std::thread([&] {
    ok(tsr_defer_drops(1));
    tsr_tensor_release(tensor);
  }).join();
  EXPECT_EQ(drops, 0);
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(drops, 1);
}

TEST(Threads, share_handles_and_count_them) {
  const int64_t before = tsr_live_handles();
  const Tensor shared(reals(TSR_FLOAT32, {4}, {1, 2, 3, 4}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Tensor sum;
        ok(tsr_add(shared, shared, sum.slot()));
        tsr_tensor_retain(shared);
        tsr_tensor_release(shared);
        refused(tsr_add(shared, nullptr, sum.slot()), TSR_INVALID_ARGUMENT);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tsr_live_handles(), before + 1);
}

TEST(Threads, may_release_what_another_made) {
  const int64_t before = tsr_live_handles();
  std::vector<tsr_tensor> made(64);
  std::thread([&] {
    for (tsr_tensor& tensor : made) tensor = f32_vector(2);
  }).join();
  tsr_tensor_release_many(made.data(), 64);
  EXPECT_EQ(tsr_live_handles(), before);
}

struct Ambient {
  Ambient() { ok(tsr_ambient_save(&handle)); }
  Ambient(const Ambient&) = delete;
  Ambient& operator=(const Ambient&) = delete;
  ~Ambient() { tsr_ambient_release(handle); }
  tsr_ambient handle = nullptr;
};

TEST(Ambient, moves_modes_to_another_thread) {
  int32_t previous = 0;
  ok(tsr_grad_mode_set(0, &previous));
  const Ambient ambient;
  ok(tsr_grad_mode_set(1, &previous));
  std::thread([&] {
    EXPECT_EQ(tsr_grad_mode(), 1);
    ok(tsr_ambient_restore(ambient.handle));
    EXPECT_EQ(tsr_grad_mode(), 0);
  }).join();
  EXPECT_EQ(tsr_grad_mode(), 1);
}

TEST(Ambient, moves_what_leaving_inference_mode_goes_back_to) {
  int32_t previous = 0;
  ok(tsr_grad_mode_set(0, &previous));
  ok(tsr_inference_mode_set(1, &previous));
  const Ambient ambient;
  ok(tsr_inference_mode_set(0, &previous));
  ok(tsr_grad_mode_set(1, &previous));
  std::thread([&] {
    ok(tsr_ambient_restore(ambient.handle));
    EXPECT_EQ(tsr_inference_mode(), 1);
    int32_t before = 0;
    ok(tsr_inference_mode_set(0, &before));
    EXPECT_EQ(tsr_grad_mode(), 0);
  }).join();
}

TEST(Ambient, moves_the_current_generator_and_keeps_it_alive) {
  tsr_generator mine = nullptr, previous = nullptr;
  ok(tsr_generator_new(7, &mine));
  ok(tsr_generator_set_current(mine, &previous));
  tsr_generator_release(mine);
  const Ambient ambient;
  tsr_generator ours = nullptr;
  ok(tsr_generator_set_current(nullptr, &ours));
  tsr_generator_release(ours);
  const auto draw = [](tsr_generator generator) {
    const int64_t shape[] = {4};
    Tensor drawn;
    ok(tsr_rand(shape, 1, TSR_FLOAT32, -1, -1, generator, drawn.slot()));
    std::array<float, 4> values{};
    ok(tsr_tensor_read(drawn, values.data(), sizeof(values)));
    return values;
  };
  std::array<float, 4> there{};
  std::thread([&] {
    ok(tsr_ambient_restore(ambient.handle));
    there = draw(nullptr);
  }).join();
  tsr_generator same = nullptr;
  ok(tsr_generator_new(7, &same));
  EXPECT_EQ(there, draw(same));
  tsr_generator_release(same);
  tsr_generator_release(previous);
}

TEST(Ambient, moves_pushed_saved_tensor_hooks) {
  static int packed;
  packed = 0;
  tsr_saved_hooks_vtable hooks = {};
  hooks.struct_size = sizeof(hooks);
  hooks.pack = [](void*, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) -> tsr_status {
    ++packed;
    tsr_tensor_retain(tensor);
    *payload = tensor;
    *drop = [](void* kept) { tsr_tensor_release(static_cast<tsr_tensor>(kept)); };
    return TSR_OK;
  };
  hooks.unpack = [](void*, void* payload, tsr_tensor* tensor) -> tsr_status {
    *tensor = static_cast<tsr_tensor>(payload);
    tsr_tensor_retain(*tensor);
    return TSR_OK;
  };
  ok(tsr_saved_hooks_push(&hooks, nullptr));
  const Ambient ambient;
  ok(tsr_saved_hooks_pop());
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  ok(tsr_tensor_set_requires_grad(x, 1));
  std::thread([&] {
    ok(tsr_ambient_restore(ambient.handle));
    tsr_tensor y = nullptr;
    ok(tsr_exp(x, &y));
    tsr_tensor_release(y);
    ok(tsr_saved_hooks_pop());
    refused(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
  }).join();
  EXPECT_EQ(packed, 1);
  refused(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
}

// On a machine with the plugin and a GPU nothing can be missing.
TEST(Device, that_is_absent_is_told_in_plain_words) {
  int32_t count = 0;
  ok(tsr_device_count(TSR_DEVICE_CUDA, &count));
  if (count > 0) return;
  const int64_t one = 1;
  tsr_tensor out = nullptr;
  refused(tsr_ones(&one, 1, -1, TSR_DEVICE_CUDA, 0, &out), TSR_DEVICE);
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  const std::string text = view.message;
  EXPECT_NE(text.find("expected a device that can be used here, got cuda:0: the CUDA plugin"),
            std::string::npos)
      << text;
}

TEST(OutHandle, is_null_after_a_failure) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2})), y(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  tsr_tensor out = x;
  refused(tsr_add(x, y, &out), TSR_SHAPE);
  EXPECT_EQ(out, nullptr);
  out = x;
  refused(tsr_add(nullptr, y, &out), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(out, nullptr);
}

// A list may be the destination of its own result: it is read before anything is written.
TEST(OutHandle, may_be_an_entry_of_an_argument) {
  const int64_t before = tsr_live_handles();
  tsr_tensor w = leaf(3), total = nullptr;
  ok(tsr_sum(w, nullptr, -1, 0, -1, &total));
  tsr_tensor in_and_out[1] = {w};
  ok(tsr_grad(&total, 1, nullptr, -1, in_and_out, 1, 0, in_and_out));
  same(in_and_out[0], reals(TSR_FLOAT32, {3}, {1, 1, 1}));
  tsr_tensor_release(in_and_out[0]);
  tsr_tensor two[2] = {w, w};
  ok(tsr_stack(two, 2, 0, &two[0]));
  EXPECT_EQ(numel(two[0]), 6);
  tsr_tensor_release(two[0]);
  tsr_tensor parts[2] = {w, w};
  ok(tsr_function_apply("Double", -1, doubling(), nullptr, parts, 1, 1, parts));
  same(parts[0], reals(TSR_FLOAT32, {3}, {2, 4, 6}));
  tsr_tensor_release(parts[0]);
  tsr_tensor_release(total);
  tsr_tensor_release(w);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(OutHandle, of_a_list_is_null_after_a_failure) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2})), y(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  tsr_tensor mixed[2] = {x, y};
  refused(tsr_stack(mixed, 2, 0, &mixed[0]), TSR_SHAPE);
  EXPECT_EQ(mixed[0], nullptr);
  tsr_tensor places[2] = {x, y}, alone = x;
  refused(tsr_grad(&alone, 1, nullptr, -1, places, 2, 0, places), TSR_AUTOGRAD);
  EXPECT_EQ(places[0], nullptr);
  EXPECT_EQ(places[1], nullptr);
}

TEST(Retain, adds_a_reference_to_errors_buffers_and_archives) {
  tsr_buffer json = nullptr;
  ok(tsr_memory_stats_json(TSR_DEVICE_CPU, 0, &json));
  tsr_buffer_retain(json);
  tsr_buffer_release(json);
  const char* text = nullptr;
  int64_t size = 0;
  ok(tsr_buffer_data(json, &text, &size));
  EXPECT_GT(size, 0);
  tsr_buffer_release(json);
}

TEST(Info, serves_newer_structs_and_refuses_those_smaller_than_the_first) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  struct Newer {
    tsr_info known;
    int64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof(newer);
  newer.unknown = 77;
  ok(tsr_tensor_info(x, &newer.known));
  EXPECT_EQ(newer.known.numel, 2);
  EXPECT_EQ(newer.unknown, 0) << "fields that this version does not know read as their default";
  newer.known.struct_size = sizeof(tsr_info) - 8;
  refused(tsr_tensor_info(x, &newer.known), TSR_ABI);
}

TEST(Vtable, of_a_newer_version_must_leave_unknown_fields_zero) {
  struct Newer {
    tsr_node_vtable known;
    void* unknown;
  } newer = {};
  newer.known.struct_size = sizeof(newer);
  newer.known.backward = double_backward;
  tsr_node node = nullptr;
  ok(tsr_node_create("Newer", -1, &newer.known, nullptr, nullptr, 0, &node));
  tsr_node_release(node);
  newer.unknown = &newer;
  refused(tsr_node_create("Newer", -1, &newer.known, nullptr, nullptr, 0, &node), TSR_ABI);
}

}  // namespace test_handles
