// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/hooks.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "autograd/host_data.h"
#include "toy_ops.h"

namespace tsr::test_hooks {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::Values;
using toy::values;

using HooksTest = toy::GraphTest;

TensorHook times(double factor) {
  return [=](const Tensor& g) { return toy::scale(g, factor); };
}

TEST_F(HooksTest, A8_tensor_hooks_replace_the_gradient_in_order_of_registration) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 1);
  Values seen;
  add_tensor_hook(y, times(2));
  add_tensor_hook(y, [&](const Tensor& g) {
    seen.push_back(values(g)[0]);
    return Tensor();
  });
  add_tensor_hook(y, [](const Tensor& g) { return toy::add(g, make({1}, {1})); });
  backward(std::array{y});
  EXPECT_EQ(seen, (Values{2}));
  EXPECT_EQ(grad_values(x), (Values{3}));
}

TEST_F(HooksTest, A8_leaf_hook_sees_the_whole_gradient_before_it_is_accumulated) {
  const Tensor x = leaf({1}, {3});
  int calls = 0;
  add_tensor_hook(x, [&](const Tensor& g) {
    ++calls;
    EXPECT_EQ(values(g), (Values{6}));
    return toy::scale(g, 10);
  });
  backward(std::array{toy::mul(x, x)});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(grad_values(x), (Values{60}));
}

TEST_F(HooksTest, A8_hooks_also_change_what_grad_returns) {
  const Tensor x = leaf({1}, {3});
  const Tensor m = toy::mul(x, x);
  add_tensor_hook(x, times(10));
  add_tensor_hook(m, times(2));
  const auto grads = grad(std::array{toy::scale(m, 1)}, std::array{x, m});
  EXPECT_EQ(values(grads[0]), (Values{120}));
  EXPECT_EQ(values(grads[1]), (Values{2}));
}

TEST_F(HooksTest, hook_may_change_neither_shape_nor_dtype) {
  const auto returns = [](const Tensor& wrong) { return [wrong](const Tensor&) { return wrong; }; };
  const auto run = [](const Tensor& on, const Tensor& root, const TensorHook& hook) {
    const HookHandle handle = add_tensor_hook(on, hook);
    const std::string text =
        toy::message_of([&] { backward(std::array{root}, {}, {.retain_graph = true}); });
    handle.remove();
    return text;
  };
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 1);
  const Tensor z = toy::scale(y, 1);
  for (const Tensor& on : {x, y}) {
    EXPECT_NE(run(on, z, returns(make({2}, {1, 1}))).find("of shape [1], got shape [2]"),
              std::string::npos);
    EXPECT_NE(
        run(on, z, returns(make({1}, {1}, DType::kFloat32))).find("of dtype float64, got float32"),
        std::string::npos);
    EXPECT_NE(run(on, z, returns(empty(std::array<int64_t, 1>{1}, DType::kComplex128)))
                  .find("of dtype float64, got complex128"),
              std::string::npos);
  }
  EXPECT_FALSE(grad_of(x).defined());
  add_pre_hook(*grad_fn(y),
               [](std::span<Tensor> grads) { grads[0] = make({1}, {1}, DType::kFloat32); });
  expect_error([&] { backward(std::array{z}); }, "expected a pre hook");
}

TEST_F(HooksTest, result_of_a_post_hook_is_cast_as_that_of_the_node) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 1);
  add_post_hook(*grad_fn(y), [](std::span<Tensor> results, std::span<const Tensor>) {
    results[0] = make({1}, {7}, DType::kFloat32);
  });
  backward(std::array{y});
  EXPECT_EQ(grad_of(x).dtype(), DType::kFloat64);
  EXPECT_EQ(grad_values(x), (Values{7}));
}

// The host data that visit_host_data reports for an object, as numbers.
template <class Holder>
std::vector<int> visited(const Holder& holder) {
  std::vector<int> found;
  visit_host_data(holder,
                  {[](void* arg, void* user, void (*)(void*)) {
                     static_cast<std::vector<int>*>(arg)->push_back(*static_cast<int*>(user));
                   },
                   &found});
  return found;
}

TEST_F(HooksTest, host_data_is_visited_while_one_reference_keeps_it) {
  const auto nothing = [](const Tensor&) { return Tensor(); };
  std::array<int, 4> numbers{0, 1, 2, 3};
  const auto host = [&](size_t i) { return HostData{&numbers[i], [](void*) {}}; };
  Tensor x = leaf({1}, {1});
  add_tensor_hook(x, nothing, host(0));
  const HookHandle removed = add_tensor_hook(x, nothing, host(1));
  add_accumulate_hook(
      x, [](const Tensor&) {}, host(2));
  add_tensor_hook(x, nothing);  // a C++ callable has no host data
  EXPECT_EQ(visited(x), (std::vector{0, 1, 2}));
  removed.remove();
  EXPECT_EQ(visited(x), (std::vector{0, 2}));
  Tensor y = toy::scale(x, 1);
  EXPECT_TRUE(visited(x).empty());  // the graph owns it too
  add_tensor_hook(y, nothing, host(3));
  EXPECT_EQ(visited(y), (std::vector{3}));
  Tensor z = toy::scale(y, 1);
  EXPECT_TRUE(visited(z).empty());  // y owns the node too
  y.reset();
  EXPECT_EQ(visited(z), (std::vector{3}));
  const NodePtr node = grad_fn(z);
  EXPECT_TRUE(visited(z).empty());
  z.reset();
  EXPECT_EQ(visited(*node), (std::vector{3}));
}

TEST_F(HooksTest, hook_on_one_output_of_several_sees_only_that) {
  const Tensor x = leaf({2, 1}, {1, 2});
  const std::vector<Tensor> rows = toy::unbind(toy::scale(x, 1));
  add_tensor_hook(rows[1], times(100));
  backward(std::array{toy::add(rows[0], rows[1])});
  EXPECT_EQ(grad_values(x), (Values{1, 100}));
}

TEST_F(HooksTest, A8_removed_hook_does_not_run_and_gives_up_its_callable) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 1);
  const auto token = std::make_shared<int>(0);
  const HookHandle handle = add_tensor_hook(y, [token](const Tensor& g) {
    ++*token;
    return g;
  });
  EXPECT_EQ(token.use_count(), 2);
  handle.remove();
  handle.remove();
  EXPECT_EQ(token.use_count(), 1);
  backward(std::array{y});
  EXPECT_EQ(*token, 0);
}

TEST_F(HooksTest, A8_hook_may_remove_itself_while_it_runs) {
  const Tensor x = leaf({1}, {1});
  HookHandle handle;
  int calls = 0;
  const auto token = std::make_shared<int>(0);
  handle = add_tensor_hook(x, [&, token](const Tensor&) {
    handle.remove();
    EXPECT_EQ(token.use_count(), 2);
    ++calls;
    return Tensor();
  });
  for (int i = 0; i < 2; ++i) backward(std::array{toy::scale(x, 1)});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(HooksTest, E9_callable_is_destroyed_with_the_graph) {
  const auto token = std::make_shared<int>(0);
  {
    const Tensor y = toy::scale(leaf({1}, {1}), 1);
    add_tensor_hook(y, [token](const Tensor&) { return Tensor(); });
    add_pre_hook(*grad_fn(y), [token](std::span<Tensor>) {});
    EXPECT_EQ(token.use_count(), 3);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(HooksTest, hooks_are_removed_by_number) {
  const Tensor x = leaf({1}, {1});
  const int64_t first = hook_id(x, add_tensor_hook(x, times(2)));
  const int64_t second = hook_id(x, add_tensor_hook(x, times(3)));
  EXPECT_NE(first, second);
  EXPECT_TRUE(remove_hook(x, first));
  EXPECT_FALSE(remove_hook(x, first));
  EXPECT_FALSE(remove_hook(make({1}, {1}), second));
  backward(std::array{toy::scale(x, 1)});
  EXPECT_EQ(grad_values(x), (Values{3}));
}

TEST_F(HooksTest, A9_order_is_tensor_hook_pre_hook_node_post_hook) {
  const Tensor x = leaf({1}, {1});
  std::string order;
  Tensor y = x.detached();
  record(y, "NoteBackward", {x}, {}, [&order](Backward& ctx) {
    order += 'n';
    ctx.set(0, ctx.grad());
  });
  add_post_hook(*grad_fn(y), [&](std::span<Tensor>, std::span<const Tensor>) { order += 'p'; });
  add_pre_hook(*grad_fn(y), [&](std::span<Tensor>) { order += 'b'; });
  add_tensor_hook(y, [&](const Tensor&) {
    order += 't';
    return Tensor();
  });
  add_accumulate_hook(x, [&](const Tensor& at) {
    EXPECT_TRUE(grad_of(at).defined());
    order += 'a';
  });
  add_tensor_hook(x, [&](const Tensor&) {
    EXPECT_FALSE(grad_of(x).defined());
    order += 'l';
    return Tensor();
  });
  backward(std::array{y});
  EXPECT_EQ(order, "tbnpla");
}

TEST_F(HooksTest, A9_pre_and_post_hooks_may_replace_gradients) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  add_pre_hook(*grad_fn(y), [](std::span<Tensor> grads) { grads[0] = toy::scale(grads[0], 10); });
  add_post_hook(*grad_fn(y), [](std::span<Tensor> results, std::span<const Tensor> grads) {
    EXPECT_EQ(values(grads[0]), (Values{10}));
    results[0] = toy::add(results[0], make({1}, {1}));
  });
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{21}));
}

TEST_F(HooksTest, A7_retained_gradient_is_stored_and_adds_up) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::scale(x, 2);
  EXPECT_FALSE(retains_grad(y));
  retain_grad(y);
  retain_grad(y);
  EXPECT_TRUE(retains_grad(y));
  for (int i = 0; i < 2; ++i) backward(std::array{toy::scale(y, 5)});
  EXPECT_EQ(grad_values(y), (Values{10}));
  EXPECT_EQ(grad_values(x), (Values{20}));
}

TEST_F(HooksTest, retained_gradient_sees_what_tensor_hooks_made_of_it) {
  const Tensor y = toy::scale(leaf({1}, {3}), 2);
  retain_grad(y);
  add_tensor_hook(y, times(7));
  backward(std::array{y});
  EXPECT_EQ(grad_values(y), (Values{7}));
}

TEST_F(HooksTest, retaining_does_not_keep_the_tensor_alive) {
  const Tensor x = leaf({1}, {3});
  Tensor y = toy::scale(x, 2);
  retain_grad(y);
  const StoragePtr memory = y.storage();
  const Tensor z = toy::scale(y, 5);
  y.reset();
  EXPECT_EQ(memory->refs.load(), 1U);
  backward(std::array{z});
  EXPECT_EQ(grad_values(x), (Values{10}));
}

TEST_F(HooksTest, hooks_need_a_tensor_that_requires_grad) {
  expect_error([] { add_tensor_hook(make({1}, {1}), times(1)); }, "requires grad");
  const Tensor y = toy::scale(leaf({1}, {3}), 2);
  expect_error([&] { add_accumulate_hook(y, [](const Tensor&) {}); }, "expected a leaf");
  expect_error([] { retain_grad(make({1}, {1})); }, "requires grad");
}

TEST_F(HooksTest, hook_that_changes_the_shape_raises) {
  const Tensor x = leaf({1}, {3});
  add_tensor_hook(x, [](const Tensor&) { return make({2}, {1, 1}); });
  expect_error([&] { backward(std::array{toy::scale(x, 1)}); }, "[2]");
}

// A record that waits to be freed must not lead to its tensor, which does not wait.
TEST_F(HooksTest, gradient_of_a_tensor_that_is_just_going_is_not_stored) {
  const Tensor x = leaf({1}, {3});
  Tensor m = toy::scale(x, 2);
  retain_grad(m);
  const Tensor z = toy::scale(m, 5);
  set_grad(m, make({1}, {1}));
  Tensor last = toy::scale(x, 1);
  // Runs a backward through the node of m while `last` and its gradient m go.
  const auto at_end = [&](int* ran) {
    backward(std::array{z}, {}, {.retain_graph = true});
    ++*ran;
  };
  int ran = 0;
  add_pre_hook(*grad_fn(last), [owner = std::shared_ptr<int>(&ran, at_end)](std::span<Tensor>) {});
  set_grad(last, m);
  m.reset();
  last.reset();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(grad_values(x), (Values{10}));
}

TEST_F(HooksTest, chain_of_hooks_that_own_tensors_with_hooks_is_freed) {
  constexpr int kLength = 200'000;
  Tensor last = leaf({1}, {0});
  const StoragePtr first = last.storage();
  for (int i = 0; i < kLength; ++i) {
    const Tensor next = leaf({1}, {0});
    add_tensor_hook(next, [last](const Tensor&) { return last; });
    last = next;
  }
  last.reset();
  EXPECT_EQ(first->refs.load(), 1U);
}

}  // namespace
}  // namespace tsr::test_hooks
