// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Handles: scopes, deferred drops, use from many threads.
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

using namespace tsr::test;

TEST(Scope, releases_what_ops_made_inside_it) {
  const int64_t before = tsr_live_handles();
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  tsr_scope scope = nullptr;
  ok(tsr_scope_begin(&scope));
  tsr_tensor y = nullptr, z = nullptr;
  ok(tsr_exp(x, &y));
  ok(tsr_add(y, y, &z));
  EXPECT_EQ(tsr_live_handles(), before + 3);
  ok(tsr_scope_end(scope, nullptr, 0));
  EXPECT_EQ(tsr_live_handles(), before + 1);
}

TEST(Scope, keeps_for_the_enclosing_scope_or_for_the_caller) {
  const int64_t before = tsr_live_handles();
  tsr_scope outer = nullptr, inner = nullptr;
  ok(tsr_scope_begin(&outer));
  ok(tsr_scope_begin(&inner));
  tsr_tensor kept = f32_vector(3);
  ok(tsr_scope_end(inner, &kept, 1));
  EXPECT_EQ(numel(kept), 3);
  ok(tsr_scope_end(outer, &kept, 1));
  EXPECT_EQ(numel(kept), 3);
  tsr_tensor_release(kept);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, keeps_nothing_that_was_made_outside) {
  const Tensor outside(reals(TSR_FLOAT32, {1}, {1}));
  const tsr_tensor keep[1] = {outside};
  tsr_scope scope = nullptr;
  ok(tsr_scope_begin(&scope));
  refused(tsr_scope_end(scope, keep, 1), TSR_INVALID_ARGUMENT);
  ok(tsr_scope_end(scope, nullptr, 0));
  refused(tsr_scope_end(nullptr, nullptr, 0), TSR_INVALID_ARGUMENT);
}

TEST(Scope, gives_up_what_a_callback_hands_to_the_library) {
  const int64_t before = tsr_live_handles();
  tsr_scope scope = nullptr;
  ok(tsr_scope_begin(&scope));
  tsr_tensor x = leaf(2), total = nullptr, grad = nullptr;
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x, [](void*, tsr_tensor g, tsr_tensor* replacement) { return tsr_add(g, g, replacement); },
      nullptr, nullptr, &id));
  ok(tsr_sum(x, nullptr, -1, 0, -1, &total));
  ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
  ok(tsr_tensor_grad(x, &grad));
  same(grad, reals(TSR_FLOAT32, {2}, {2, 2}));
  ok(tsr_scope_end(scope, nullptr, 0));
  EXPECT_EQ(tsr_live_handles(), before);
}

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

TEST(Ambient, moves_modes_and_scope_to_another_thread) {
  tsr_scope scope = nullptr;
  ok(tsr_scope_begin(&scope));
  int32_t previous = 0;
  ok(tsr_grad_mode_set(0, &previous));
  tsr_ambient ambient = {};
  ambient.struct_size = sizeof(ambient);
  ok(tsr_ambient_save(&ambient));
  const int64_t before = tsr_live_handles();
  std::thread([&] {
    EXPECT_EQ(tsr_grad_mode(), 1);
    ok(tsr_ambient_restore(&ambient));
    EXPECT_EQ(tsr_grad_mode(), 0);
    EXPECT_NE(f32_vector(2), nullptr);
  }).join();
  ok(tsr_grad_mode_set(1, &previous));
  ok(tsr_scope_end(scope, nullptr, 0));
  EXPECT_EQ(tsr_live_handles(), before);
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

TEST(Info, serves_newer_and_refuses_older_structs) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  struct Newer {
    tsr_info known;
    int64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof(newer);
  newer.unknown = 77;
  ok(tsr_tensor_info(x, &newer.known));
  EXPECT_EQ(newer.known.numel, 2);
  EXPECT_EQ(newer.unknown, 77) << "fields of a newer version stay as they were";
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
