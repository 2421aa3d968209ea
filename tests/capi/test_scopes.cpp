// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scopes: ownership of handles when code that does not know about scopes releases them.
#include <atomic>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_scopes {

using namespace tsr::test;

namespace {

// Code that releases every handle it gets, as the guide teaches, and does not know about scopes.
tsr_status swish(tsr_tensor x, tsr_tensor* out) {
  tsr_tensor sigmoid = nullptr;
  tsr_status status = tsr_sigmoid(x, &sigmoid);
  if (status == TSR_OK) status = tsr_multiply(x, sigmoid, out);
  tsr_tensor_release(sigmoid);
  return status;
}

int64_t use_count(tsr_tensor tensor) {
  int64_t count = 0;
  ok(tsr_tensor_use_count(tensor, &count));
  return count;
}

struct Scope {
  Scope() { ok(tsr_scope_begin(&handle)); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { end(); }
  void end() {
    if (handle != nullptr) ok(tsr_scope_end(handle, nullptr, 0));
    handle = nullptr;
  }
  tsr_scope handle = nullptr;
};

}  // namespace

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

TEST(Scope, gives_up_a_handle_that_is_released_inside_it) {
  const int64_t before = tsr_live_handles();
  int drops = 0;
  Scope scope;
  tsr_tensor_release(wrapped(&drops));
  EXPECT_EQ(drops, 1) << "its memory is free at once";
  EXPECT_EQ(tsr_live_handles(), before);
  scope.end();
  EXPECT_EQ(drops, 1);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, is_none_of_the_business_of_code_that_balances_its_handles) {
  const int64_t before = tsr_live_handles();
  const Tensor x(reals(TSR_FLOAT32, {2}, {0, 1}));
  for (int i = 0; i < 1000; ++i) {
    Scope scope;
    tsr_tensor y = nullptr, z = nullptr;
    ok(swish(x, &y));
    ok(swish(y, &z));
    EXPECT_EQ(tsr_live_handles(), before + 3);
  }
  EXPECT_EQ(tsr_live_handles(), before + 1);
}

TEST(Scope, leaves_to_the_caller_what_retain_added) {
  const int64_t before = tsr_live_handles();
  Scope scope;
  tsr_tensor stored = f32_vector(2), plain = f32_vector(3);
  tsr_tensor_retain(stored);
  tsr_tensor_release(stored);  // the reference from the call; the one from retain is stored
  tsr_tensor_retain(plain);
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before + 2);
  EXPECT_EQ(use_count(stored), 1);
  EXPECT_EQ(use_count(plain), 1);
  tsr_tensor_release(stored);
  tsr_tensor_release(plain);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, gives_up_what_release_many_and_clear_release) {
  const int64_t before = tsr_live_handles();
  Scope scope;
  tsr_tensor made[4] = {f32_vector(1), f32_vector(2), f32_vector(3), f32_vector(4)};
  tsr_tensor_clear(&made[3]);
  EXPECT_EQ(made[3], nullptr);
  tsr_tensor_clear(&made[3]);
  tsr_tensor_release_many(made, 4);
  EXPECT_EQ(tsr_live_handles(), before);
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, holds_a_handle_as_often_as_it_was_given_out) {
  const int64_t before = tsr_live_handles();
  Tensor x;
  *x.slot() = leaf(2);
  tsr_tensor total = nullptr;
  ok(tsr_sum(x, nullptr, -1, 0, -1, &total));
  ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
  tsr_tensor_release(total);
  Scope outer;
  tsr_tensor first = nullptr, second = nullptr, third = nullptr;
  ok(tsr_tensor_grad(x, &first));
  {
    Scope inner;
    ok(tsr_tensor_grad(x, &second));
    ok(tsr_tensor_grad(x, &third));
    EXPECT_EQ(first, second);
    EXPECT_EQ(use_count(first), 4);
    tsr_tensor_release(second);
    EXPECT_EQ(use_count(first), 3);
  }
  EXPECT_EQ(use_count(first), 2);
  tsr_tensor_release(first);
  outer.end();
  EXPECT_EQ(tsr_live_handles(), before + 1);
  ok(tsr_tensor_grad(x, &first));
  EXPECT_EQ(use_count(first), 2);
  tsr_tensor_release(first);
}

TEST(Scope, keeps_no_handle_that_was_released) {
  const int64_t before = tsr_live_handles();
  Tensor x;
  *x.slot() = leaf(2);
  tsr_tensor total = nullptr, grad = nullptr;
  ok(tsr_sum(x, nullptr, -1, 0, -1, &total));
  ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
  tsr_tensor_release(total);
  Scope scope;
  ok(tsr_tensor_grad(x, &grad));
  tsr_tensor_release(grad);
  refused(tsr_scope_end(scope.handle, &grad, 1), TSR_INVALID_ARGUMENT);  // x still holds it
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before + 1);
}

TEST(Scope, finds_its_handles_in_any_order_and_number) {
  const int64_t before = tsr_live_handles();
  constexpr size_t kCount = 150000;  // more than scope_place can distinguish
  Scope scope;
  std::vector<tsr_tensor> made(kCount);
  for (tsr_tensor& tensor : made) tensor = f32_vector(1);
  for (size_t i = 0; i < kCount; i += 3) tsr_tensor_release(made[i]);           // oldest first
  for (size_t i = kCount - 2; i < kCount; i -= 3) tsr_tensor_release(made[i]);  // newest first
  EXPECT_EQ(tsr_live_handles(), before + static_cast<int64_t>(kCount / 3));
  for (size_t i = 2; i < kCount; i += 3 * 7919) EXPECT_EQ(numel(made[i]), 1);
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, gives_up_a_handle_that_another_thread_releases) {
  const int64_t before = tsr_live_handles();
  int drops = 0;
  Scope scope;
  tsr_tensor mine = wrapped(&drops);
  std::thread([&] {
    Scope own;
    tsr_tensor_release(mine);
    EXPECT_EQ(drops, 1);
  }).join();
  EXPECT_EQ(tsr_live_handles(), before);
  scope.end();
  EXPECT_EQ(drops, 1);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, gives_up_handles_while_it_takes_new_ones) {
  const int64_t before = tsr_live_handles();
  constexpr size_t kCount = 20000;
  std::vector<std::atomic<tsr_tensor>> made(kCount);
  Scope scope;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < kCount; i += 4) {
        while (made[i].load(std::memory_order_acquire) == nullptr) std::this_thread::yield();
        tsr_tensor_release(made[i]);
      }
    });
  }
  for (auto& place : made) place.store(f32_vector(1), std::memory_order_release);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tsr_live_handles(), before + static_cast<int64_t>(kCount / 4));
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, belongs_to_the_thread_that_began_it) {
  const int64_t before = tsr_live_handles();
  Scope scope;
  std::thread([&] {
    tsr_scope previous = nullptr;
    refused(tsr_scope_set_current(scope.handle, &previous), TSR_INVALID_ARGUMENT);
    refused(tsr_scope_end(scope.handle, nullptr, 0), TSR_INVALID_ARGUMENT);
  }).join();
  EXPECT_NE(f32_vector(2), nullptr);
  EXPECT_EQ(tsr_live_handles(), before + 1);
  scope.end();
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, stays_current_where_another_cannot_be_made_current) {
  auto* const no_scope = wrong_kind<tsr_scope>();
  const int64_t before = tsr_live_handles();
  Scope outer, inner;
  refused(tsr_scope_set_current(nullptr, nullptr), TSR_INVALID_ARGUMENT);
  refused(tsr_scope_set_current(outer.handle, nullptr), TSR_INVALID_ARGUMENT);
  tsr_scope previous = outer.handle;
  refused(tsr_scope_set_current(no_scope, &previous), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(previous, nullptr);
  EXPECT_NE(f32_vector(2), nullptr);
  EXPECT_EQ(tsr_live_handles(), before + 1);
  inner.end();
  EXPECT_EQ(tsr_live_handles(), before) << "it belonged to the inner scope";
}

TEST(Scope, is_no_part_of_a_state_restored_on_another_thread) {
  const int64_t before = tsr_live_handles();
  tsr_ambient ambient = nullptr;
  tsr_tensor theirs = nullptr;
  {
    Scope scope;
    ok(tsr_ambient_save(&ambient));
    std::thread([&] {
      Scope own;
      ok(tsr_ambient_restore(ambient));
      EXPECT_NE(f32_vector(2), nullptr);  // in the thread's own scope, which stays current
      own.end();
      theirs = f32_vector(3);
    }).join();
    EXPECT_EQ(tsr_live_handles(), before + 1);
  }
  EXPECT_EQ(numel(theirs), 3) << "no scope owned it";
  std::thread([&] { ok(tsr_ambient_restore(ambient)); }).join();
  refused(tsr_ambient_restore(ambient), TSR_INVALID_ARGUMENT);  // its scope has ended
  tsr_ambient_release(ambient);
  tsr_tensor_release(theirs);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Scope, of_a_thread_that_ends_gives_its_handles_back) {
  const int64_t before = tsr_live_handles();
  int drops = 0;
  std::thread([&] {
    tsr_scope left = nullptr, inner = nullptr, rests = nullptr;
    ok(tsr_scope_begin(&left));
    EXPECT_NE(f32_vector(2), nullptr);
    ok(tsr_scope_begin(&inner));
    EXPECT_NE(wrapped(&drops), nullptr);
    ok(tsr_scope_set_current(nullptr, &rests));
  }).join();
  EXPECT_EQ(tsr_live_handles(), before);
  EXPECT_EQ(drops, 0) << "host code must not run in a thread that is ending";
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(drops, 1);
}

TEST(Scope, may_end_before_one_that_was_begun_inside_it) {
  const int64_t before = tsr_live_handles();
  tsr_scope outer = nullptr, inner = nullptr, previous = nullptr;
  ok(tsr_scope_begin(&outer));
  ok(tsr_scope_begin(&inner));
  tsr_tensor kept = f32_vector(2);
  ok(tsr_scope_set_current(outer, &previous));
  ok(tsr_scope_end(outer, nullptr, 0));
  ok(tsr_scope_set_current(inner, &previous));
  ok(tsr_scope_end(inner, &kept, 1));  // no scope encloses it any more
  EXPECT_EQ(tsr_live_handles(), before + 1);
  tsr_tensor_release(kept);
}

TEST(Scope, owns_the_first_result_once_when_it_is_also_a_list_entry) {
  const int64_t before = tsr_live_handles();
  {
    Scope scope;
    tsr_tensor two[2] = {f32_vector(2), f32_vector(2)};
    ok(tsr_stack(two, 2, 0, &two[0]));
    EXPECT_EQ(numel(two[0]), 4);
  }
  EXPECT_EQ(tsr_live_handles(), before);
}

}  // namespace test_scopes
