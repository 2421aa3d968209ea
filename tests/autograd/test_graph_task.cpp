// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The state of one backward: what it takes over from its caller, sums, final callbacks.
#include "autograd/graph_task.h"

#include <stdexcept>

#include "autograd/hooks.h"
#include "toy_ops.h"

namespace tsr::test_graph_task {
namespace {

using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::message_of;
using toy::Values;
using toy::values;

using GraphTaskTest = toy::GraphTest;

TensorHook calling(std::function<void()> callable) {
  return [callable = std::move(callable)](const Tensor&) {
    callable();
    return Tensor();
  };
}

// ---- What the caller's thread has set (E12) ----

TEST_F(GraphTaskTest, E12_nodes_run_in_the_grad_mode_of_create_graph_whatever_the_callers) {
  for (const bool caller : {false, true}) {
    for (const bool create : {false, true}) {
      const Tensor x = leaf({1}, {3});
      const Tensor y = toy::mul(x, x);
      bool seen = !create;
      add_tensor_hook(y, calling([&] { seen = grad_enabled(); }));
      const GradModeScope mode({caller, false});
      (void)grad(std::array{y}, std::array{x}, {}, {.create_graph = create});
      EXPECT_EQ(seen, create);
      EXPECT_EQ(grad_enabled(), caller);
    }
  }
}

TEST_F(GraphTaskTest, E12_inference_mode_of_the_caller_does_not_reach_the_nodes) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  bool seen = true;
  add_tensor_hook(y, calling([&] { seen = inference_enabled(); }));
  {
    const InferenceMode inside;
    backward(std::array{y});
    EXPECT_TRUE(inference_enabled());
  }
  EXPECT_FALSE(seen);
  EXPECT_FALSE(grad_of(x).has(kInferenceFlag));
}

TEST_F(GraphTaskTest, E12_mode_of_the_caller_comes_back_after_an_error) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  add_tensor_hook(y, calling([] { throw std::runtime_error("stop"); }));
  EXPECT_THROW(backward(std::array{y}), std::runtime_error);
  EXPECT_TRUE(grad_enabled());
  EXPECT_FALSE(inference_enabled());
  EXPECT_EQ(backward_depth(), 0);
}

// ---- Sums of gradients (E14) ----

TEST_F(GraphTaskTest, E14_sum_is_made_in_the_memory_of_the_first_gradient_that_nobody_else_has) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor joint = toy::scale(x, 1);
  const Tensor parts[] = {toy::scale(joint, 2), toy::scale(joint, 3), toy::scale(joint, 4)};
  const void* first = nullptr;
  const void* sum = nullptr;
  add_post_hook(*grad_fn(parts[2]), [&](std::span<Tensor> results, std::span<const Tensor>) {
    first = results[0].data();
  });
  add_tensor_hook(joint, [&](const Tensor& grad) {
    sum = grad.data();
    return Tensor();
  });
  backward(std::array{toy::sum(toy::add(toy::add(parts[0], parts[1]), parts[2]))});
  EXPECT_EQ(grad_values(x), (Values{9, 9}));
  EXPECT_EQ(sum, first);
}

TEST_F(GraphTaskTest, E14_gradient_that_somebody_else_has_is_not_written) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor joint = toy::scale(x, 1);
  const Tensor y = toy::add(joint, joint);
  std::vector<Tensor> kept;
  add_post_hook(*grad_fn(y), [&](std::span<Tensor> results, std::span<const Tensor>) {
    kept.assign(results.begin(), results.end());
  });
  const Tensor given = make({2}, {5, 6});
  backward(std::array{y}, std::array{given});
  EXPECT_EQ(grad_values(x), (Values{10, 12}));
  EXPECT_EQ(values(given), (Values{5, 6}));
  for (const Tensor& one : kept) EXPECT_EQ(values(one), (Values{5, 6}));
}

TEST_F(GraphTaskTest, E14_recorded_sum_is_made_out_of_place) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::add(toy::mul(x, x), toy::mul(x, x));
  const Tensor first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(values(first), (Values{12}));
  EXPECT_EQ(values(grad(std::array{first}, std::array{x})[0]), (Values{4}));
}

// ---- Final callbacks (E18) ----

TEST_F(GraphTaskTest, E18_callbacks_run_in_order_after_every_node_and_may_add_more) {
  const Tensor x = leaf({}, {3});
  const Tensor y = toy::scale(x, 2);
  std::string order;
  Values seen;
  add_tensor_hook(y, calling([&] {
                    queue_callback([&] {
                      order += 'a';
                      seen = grad_values(x);
                      queue_callback([&] {
                        order += 'c';
                        queue_callback([&] { order += 'd'; });
                      });
                    });
                    queue_callback([&] { order += 'b'; });
                  }));
  add_tensor_hook(x, calling([&] { order += 'x'; }));
  backward(std::array{y});
  EXPECT_EQ(order, "xabcd");
  EXPECT_EQ(seen, (Values{2}));
}

TEST_F(GraphTaskTest, E18_callback_outside_a_backward_is_an_error) {
  const auto outside = [] { queue_callback([] {}); };
  EXPECT_NE(message_of(outside).find("outside"), std::string::npos);
  const Tensor x = leaf({}, {3});
  add_tensor_hook(x, calling([] { queue_callback([] {}); }));
  backward(std::array{toy::scale(x, 2)});
  message_of(outside);
}

TEST_F(GraphTaskTest, E18_callback_belongs_to_the_innermost_backward) {
  const Tensor x = leaf({}, {3});
  const Tensor inner = leaf({}, {4});
  std::string order;
  const Tensor z = toy::scale(inner, 2);
  add_tensor_hook(inner, calling([&] { queue_callback([&] { order += 'i'; }); }));
  add_tensor_hook(x, calling([&] {
                    queue_callback([&] { order += 'o'; });
                    backward(std::array{z});
                    order += 'x';
                  }));
  backward(std::array{toy::scale(x, 2)});
  EXPECT_EQ(order, "ixo");
}

TEST_F(GraphTaskTest, E18_callback_that_throws_reaches_the_caller_and_later_ones_do_not_run) {
  const Tensor x = leaf({}, {3});
  bool later = false;
  add_tensor_hook(x, calling([&] {
                    queue_callback([] { throw std::runtime_error("stop"); });
                    queue_callback([&] { later = true; });
                  }));
  EXPECT_THROW(backward(std::array{toy::scale(x, 2)}), std::runtime_error);
  EXPECT_FALSE(later);
  EXPECT_EQ(grad_values(x), (Values{2}));
  EXPECT_EQ(backward_depth(), 0);
}

TEST_F(GraphTaskTest, E18_callbacks_of_a_backward_that_failed_are_dropped) {
  const Tensor x = leaf({}, {3});
  const Tensor y = toy::scale(x, 2);
  bool ran = false;
  add_tensor_hook(y, calling([&] {
                    queue_callback([&] { ran = true; });
                    throw std::runtime_error("stop");
                  }));
  EXPECT_THROW(backward(std::array{y}), std::runtime_error);
  backward(std::array{toy::scale(x, 2)});
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace tsr::test_graph_task
