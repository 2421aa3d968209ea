// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "autograd/accumulate_grad.h"
#include "autograd/hooks.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "memory/allocator.h"
#include "support/effort.h"
#include "toy_ops.h"

namespace tsr::test_engine {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::message_of;
using toy::Values;
using toy::values;

using Engine = toy::GraphTest;

TEST_F(Engine, last_callbacks_run_when_the_outermost_backward_has_finished) {
  std::vector<int> order;
  const Tensor x = leaf({2}, {1, 2}), y = leaf({2}, {3, 4});
  const Tensor product = toy::mul(x, x);
  add_tensor_hook(product, [&](const Tensor& grad) {
    const GradModeScope recording({true, false});
    const Tensor inner = toy::sum(toy::mul(y, y));
    add_tensor_hook(inner, [&](const Tensor& inner_grad) {
      queue_last_callback([&] { order.push_back(2); });
      queue_callback([&] { order.push_back(0); });
      return inner_grad;
    });
    backward({&inner, 1});
    order.push_back(1);
    return grad;
  });
  const Tensor root = toy::sum(product);
  backward({&root, 1});
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(message_of([] { queue_last_callback([] {}); }).find("expected to be called while"), 0U);
}

TEST_F(Engine, A3_no_node_is_made_when_nothing_requires_grad) {
  const int64_t before = live_nodes();
  const Tensor y = toy::sum(toy::mul(make({2}, {1, 2}), make({2}, {3, 4})));
  EXPECT_EQ(live_nodes(), before);
  EXPECT_FALSE(grad_fn(y));
  EXPECT_FALSE(y.requires_grad());
}

TEST_F(Engine, E2_graph_of_the_example_has_the_edges_it_should) {
  // Mean(Mul(Mul(Add(x, y), x), y)) without the mean's factor. Sequence numbers: Add 0, Mul 1, Mul
  // 2, Mean 3.
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = leaf({2}, {3, 5});
  const Tensor a = toy::add(x, y);
  const Tensor b = toy::mul(a, x);
  const Tensor c = toy::mul(b, y);
  const Tensor mean = toy::sum(c);
  const NodePtr top = grad_fn(mean);
  EXPECT_STREQ(top->name(), "SumToBackward");
  const Edge& mul2 = top->next_edge(0);
  EXPECT_EQ(mul2.node, grad_fn(c));
  EXPECT_EQ(mul2.node->next_edge(0).node, grad_fn(b));
  EXPECT_EQ(mul2.node->next_edge(1).node, gradient_edge(y).node);
  const NodePtr mul1 = grad_fn(b);
  EXPECT_EQ(mul1->next_edge(0).node, grad_fn(a));
  EXPECT_EQ(mul1->next_edge(1).node, gradient_edge(x).node);
  EXPECT_EQ(grad_fn(a)->next_edge(0).node, gradient_edge(x).node);
  EXPECT_TRUE(gradient_edge(x).node->is_accumulator());
  EXPECT_EQ(mul2.output, 0U);
  EXPECT_LT(grad_fn(a)->sequence(), mul1->sequence());
  EXPECT_LT(mul1->sequence(), mul2.node->sequence());
  EXPECT_EQ(top->topological(), 4U);
  backward(std::array{mean});
  // f = (x + y) x y
  EXPECT_EQ(grad_values(x), (Values{2 * 1 * 3 + 9, 2 * 2 * 5 + 25}));
  EXPECT_EQ(grad_values(y), (Values{1 + 2 * 1 * 3, 4 + 2 * 2 * 5}));
}

TEST_F(Engine, E3_diamond_sums_both_sides) {
  const Tensor x = leaf({1}, {3});
  const Tensor left = toy::scale(x, 2);
  const Tensor right = toy::mul(x, x);
  backward(std::array{toy::sum(toy::mul(left, right))});  // 2 x^3
  EXPECT_EQ(grad_values(x), (Values{54}));
}

TEST_F(Engine, E3_tensor_used_three_times_gets_three_gradients) {
  const Tensor x = leaf({2}, {2, 3});
  const Tensor y = toy::mul(toy::mul(x, x), x);
  backward(std::array{toy::sum(y)});
  EXPECT_EQ(grad_values(x), (Values{12, 27}));
}

TEST_F(Engine, E20_broadcast_input_gets_the_sum) {
  const Tensor x = leaf({1, 2}, {1, 2});
  const Tensor y = make({3, 2}, {1, 2, 3, 4, 5, 6});
  backward(std::array{toy::sum(toy::mul(x, y))});
  EXPECT_EQ(grad_values(x), (Values{9, 12}));
  EXPECT_EQ(grad_of(x).sizes(), x.sizes());
}

TEST_F(Engine, expanded_input_gets_the_sum) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor wide = toy::expand(x, std::array<int64_t, 2>{3, 2});
  backward(std::array{toy::sum(toy::mul(wide, wide))});
  EXPECT_EQ(grad_values(x), (Values{6, 12}));
}

TEST_F(Engine, E20_gradient_is_cast_to_the_input_dtype) {
  const Tensor x = leaf({2}, {1, 2}, DType::kFloat32);
  const Tensor y = toy::cast(x, DType::kFloat64);
  backward(std::array{toy::sum(y)});
  EXPECT_EQ(grad_of(x).dtype(), DType::kFloat32);
  EXPECT_EQ(grad_values(x), (Values{1, 1}));
}

TEST_F(Engine, A5_second_backward_needs_retain_graph) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  backward(std::array{y}, {}, {.retain_graph = true});
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{12}));
  const std::string text = message_of([&] { backward(std::array{y}); }, Code::kAutograd);
  EXPECT_NE(text.find("(retain_graph)"), std::string::npos) << text;
  EXPECT_EQ(grad_values(x), (Values{12}));
}

TEST_F(Engine, A5_graph_without_saved_tensors_runs_twice) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::add(x, make({1}, {1}));
  backward(std::array{y});
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{2}));
}

TEST_F(Engine, A4_implicit_gradient_needs_one_element) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 2);
  const std::string text = message_of([&] { backward(std::array{y}); }, Code::kAutograd);
  EXPECT_NE(text.find("only for scalar outputs"), std::string::npos) << text;
  backward(std::array{y}, std::array{make({2}, {1, 10})});
  EXPECT_EQ(grad_values(x), (Values{2, 20}));
}

TEST_F(Engine, root_without_graph_is_refused) {
  const std::string text =
      message_of([&] { backward(std::array{make({}, {1})}); }, Code::kAutograd);
  EXPECT_NE(text.find("does not require grad"), std::string::npos) << text;
}

TEST_F(Engine, root_gradient_of_another_shape_is_refused) {
  const Tensor y = toy::scale(leaf({2}, {1, 2}), 2);
  message_of([&] { backward(std::array{y}, std::array{make({3}, {1, 2, 3})}); }, Code::kShape);
}

TEST_F(Engine, leaf_can_be_a_root) {
  const Tensor x = leaf({}, {3});
  backward(std::array{x});
  EXPECT_EQ(grad_values(x), (Values{1}));
}

TEST_F(Engine, E4_several_roots_add_up_and_may_depend_on_each_other) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  const Tensor z = toy::scale(y, 10);
  backward(std::array{y, z, y});
  EXPECT_EQ(grad_values(x), (Values{2 * 6 + 60}));
}

TEST_F(Engine, A6_E16_grad_touches_no_grad_and_runs_only_what_is_asked) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = leaf({1}, {4});
  const Tensor z = toy::mul(toy::mul(x, x), toy::mul(y, y));
  const int64_t before = toy::mul_gradients();
  const std::vector<Tensor> grads = grad(std::array{z}, std::array{x});
  EXPECT_EQ(values(grads[0]), (Values{96}));
  // One gradient of the last product and two of x * x, but none of y * y.
  EXPECT_EQ(toy::mul_gradients() - before, 3);
  EXPECT_FALSE(grad_of(x).defined());
  EXPECT_FALSE(grad_of(y).defined());
}

TEST_F(Engine, E16_grad_of_an_intermediate_stops_there) {
  const Tensor x = leaf({1}, {3});
  const Tensor m = toy::mul(x, x);
  const Tensor z = toy::mul(m, m);
  const int64_t before = toy::mul_gradients();
  EXPECT_EQ(values(grad(std::array{z}, std::array{m})[0]), (Values{18}));
  EXPECT_EQ(toy::mul_gradients() - before, 2);
}

TEST_F(Engine, E16_grad_takes_intermediates_and_leaves_at_once) {
  const Tensor x = leaf({1}, {3});
  const Tensor m = toy::mul(x, x);
  const Tensor z = toy::scale(m, 5);
  const std::vector<Tensor> grads = grad(std::array{z}, std::array{m, x, m});
  EXPECT_EQ(values(grads[0]), (Values{5}));
  EXPECT_EQ(values(grads[1]), (Values{30}));
  EXPECT_EQ(values(grads[2]), (Values{5}));
}

TEST_F(Engine, A6_unused_input_raises_unless_allowed) {
  const Tensor x = leaf({1}, {3});
  const Tensor unused = leaf({1}, {4});
  const Tensor y = toy::scale(x, 2);
  const std::string text = message_of(
      [&] {
        grad(std::array{y}, std::array{x, unused});
      },
      Code::kAutograd);
  EXPECT_NE(text.find("allow_unused accepts"), std::string::npos) << text;
  const auto grads = grad(std::array{y}, std::array{x, unused}, {}, {}, true);
  EXPECT_EQ(values(grads[0]), (Values{2}));
  EXPECT_FALSE(grads[1].defined());
}

TEST_F(Engine, A4_backward_with_inputs_accumulates_only_there) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = leaf({1}, {4});
  const Tensor m = toy::mul(x, y);
  const Tensor z = toy::mul(m, m);
  backward(std::array{z}, {}, {}, std::array{x, m});
  EXPECT_EQ(grad_values(x), (Values{2 * 12 * 4}));
  EXPECT_EQ(grad_values(m), (Values{24}));
  EXPECT_FALSE(grad_of(y).defined());
}

TEST_F(Engine, A12_create_graph_gives_higher_derivatives) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::mul(toy::mul(x, x), x);
  const BackwardOptions again{.create_graph = true};
  const Tensor first = grad(std::array{y}, std::array{x}, {}, again)[0];
  EXPECT_EQ(values(first), (Values{12}));
  const Tensor second = grad(std::array{first}, std::array{x}, {}, again)[0];
  EXPECT_EQ(values(second), (Values{12}));
  const Tensor third = grad(std::array{second}, std::array{x})[0];
  EXPECT_EQ(values(third), (Values{6}));
}

TEST_F(Engine, E5_create_graph_accumulates_out_of_place) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::mul(x, x);
  backward(std::array{y}, {}, {.create_graph = true});
  const Tensor first = grad_of(x);
  EXPECT_TRUE(first.requires_grad());
  backward(std::array{y}, {}, {.create_graph = true});
  EXPECT_FALSE(grad_of(x).is_same(first));
  EXPECT_EQ(values(first), (Values{4}));
  EXPECT_EQ(grad_values(x), (Values{8}));
  set_grad(x, {});  // .grad refers to x's own accumulator: the test breaks the cycle
}

TEST_F(Engine, E5_second_accumulation_writes_into_the_same_tensor) {
  const Tensor x = leaf({2}, {1, 2});
  backward(std::array{toy::sum(x)});
  const Tensor first = grad_of(x);
  backward(std::array{toy::sum(toy::scale(x, 3))});
  EXPECT_TRUE(grad_of(x).is_same(first));
  EXPECT_EQ(values(first), (Values{4, 4}));
}

TEST_F(Engine, E5_gradient_that_nobody_else_has_becomes_grad_itself) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 2);
  const void* made = nullptr;
  add_post_hook(*grad_fn(y), [&](std::span<Tensor> results, std::span<const Tensor>) {
    made = results[0].data();
  });
  backward(std::array{toy::sum(y)});
  EXPECT_EQ(grad_of(x).data(), made);
}

TEST_F(Engine, E5_gradient_shared_by_two_leaves_is_copied) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = leaf({2}, {1, 2});
  backward(std::array{toy::add(x, y)}, std::array{make({2}, {5, 6})});
  EXPECT_NE(grad_of(x).data(), grad_of(y).data());
  toy::scale_inplace(grad_of(x), 100);
  EXPECT_EQ(grad_values(y), (Values{5, 6}));
}

TEST_F(Engine, E5_callers_gradient_is_never_taken) {
  const Tensor x = leaf({1}, {1});
  const Tensor given = make({1}, {5});
  backward(std::array{x}, std::array{given});
  backward(std::array{x}, std::array{given});
  EXPECT_EQ(values(given), (Values{5}));
  EXPECT_EQ(grad_values(x), (Values{10}));
}

TEST_F(Engine, E5_gradient_takes_the_leafs_layout) {
  const Tensor base = make({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor x = make_view(base, std::array<int64_t, 2>{3, 2}, std::array<int64_t, 2>{1, 3}, 0);
  set_requires_grad(x, true);
  backward(std::array{toy::sum(toy::scale(x, 2))});
  EXPECT_EQ(grad_of(x).strides(), x.strides());
  EXPECT_EQ(grad_values(x), Values(6, 2.0));
}

TEST_F(Engine, E11_newest_node_runs_first_and_leaves_before_all) {
  const Tensor x = leaf({1}, {1});
  const Tensor w = leaf({1}, {1});
  const Tensor a = toy::scale(x, 2);
  const Tensor b = toy::scale(x, 3);
  const Tensor c = toy::mul(b, w);
  const Tensor out = toy::add(a, c);
  std::string order;
  const auto note = [&](const Tensor& t, char name) {
    add_pre_hook(*gradient_edge(t).node, [&order, name](std::span<Tensor>) { order += name; });
  };
  const NodePtr hold = gradient_edge(w).node;
  note(a, 'a');
  note(b, 'b');
  note(c, 'c');
  note(out, 'o');
  note(w, 'w');
  backward(std::array{out});
  EXPECT_EQ(order, "ocwba");
}

TEST_F(Engine, A17_memory_is_freed_node_by_node_during_backward) {
  // Each node saves one tensor of the forward. While a node runs, only the tensors of older nodes
  // are alive.
  constexpr int kLength = 10;
  const Tensor x = leaf({1}, {0});
  std::vector<StoragePtr> saved;
  Tensor y = x;
  for (int i = 0; i < kLength; ++i) {
    y = toy::exp(toy::scale(y, 0));
    saved.push_back(y.storage());
  }
  std::vector<size_t> alive;
  const NodePtr last = grad_fn(y);
  NodePtr node = last;
  for (int i = 0; i < kLength; ++i) {
    add_pre_hook(*node, [&](std::span<Tensor>) {
      size_t count = 0;
      for (const StoragePtr& storage : saved) count += storage->refs.load() > 1 ? 1 : 0;
      alive.push_back(count);
    });
    node = node->next_edge(0).node->next_edge(0).node;
  }
  const Tensor root = std::move(y);
  backward(std::array{root});
  ASSERT_EQ(alive.size(), static_cast<size_t>(kLength));
  // The caller holds the root itself.
  EXPECT_EQ(alive[0], static_cast<size_t>(kLength));
  for (size_t i = 2; i < alive.size(); ++i) EXPECT_EQ(alive[i], kLength - i + 1);
}

TEST_F(Engine, E23_million_node_chain_is_built_run_and_freed) {
  const int64_t before = live_nodes();
  const Tensor x = leaf({}, {1});
  Tensor y = x;
  const auto step = [](const Tensor& in) {
    Tensor out = in.detached();
    record(out, "PassBackward", {in}, {}, [](Backward& ctx) { ctx.set(0, ctx.take_grad()); });
    return out;
  };
  constexpr int kNodes = effort(1'000'000, 200'000);
  for (int i = 0; i < kNodes; ++i) y = step(y);
  EXPECT_GE(live_nodes() - before, kNodes);
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{1}));
  y.reset();
  EXPECT_EQ(live_nodes(), before);
}

TEST_F(Engine, E19_exception_leaves_the_engine_usable) {
  const Tensor x = leaf({1}, {2});
  for (int round = 0; round < 3; ++round) {
    const Tensor y = toy::mul(toy::mul(x, x), x);
    const HookHandle bad = add_pre_hook(
        *grad_fn(y), [](std::span<Tensor>) { throw Error(Code::kValue, nullptr, "on purpose"); });
    EXPECT_EQ(message_of([&] { backward(std::array{y}); }, Code::kValue), "on purpose");
    bad.remove();
    set_grad(x, {});
    backward(std::array{y});
    EXPECT_EQ(grad_values(x), (Values{12}));
  }
  EXPECT_EQ(backward_depth(), 0);
}

TEST_F(Engine, E19_error_inside_a_node_names_the_node) {
  const Tensor x = leaf({1}, {2});
  Tensor y = toy::scale(x, 1).detached();
  record(y, "FailBackward", {x}, {},
         [](Backward&) { throw Error(Code::kShape, nullptr, "expected this"); });
  EXPECT_EQ(message_of([&] { backward(std::array{y}); }, Code::kShape),
            "in FailBackward: expected this");
}

TEST_F(Engine, E20_invalid_gradient_shape_is_a_typed_error) {
  const Tensor x = leaf({3}, {1, 2, 3});
  Tensor y = toy::scale(x, 1).detached();
  record(y, "WrongBackward", {x}, {}, [](Backward& ctx) {
    ctx.set(0, toy::make({5}, {1, 2, 3, 4, 5}));
  });
  const std::string text = message_of([&] { backward(std::array{toy::sum(y)}); }, Code::kAutograd);
  EXPECT_NE(text.find("WrongBackward"), std::string::npos) << text;
  EXPECT_NE(text.find("[5]"), std::string::npos) << text;
  EXPECT_NE(text.find("[3]"), std::string::npos) << text;
}

// A node whose backward runs another backward, nested to `depth`.
Tensor nested(const Tensor& x, int depth) {
  Tensor y = x.detached();
  record(y, "NestedBackward", {x}, {}, [depth](Backward& ctx) {
    if (depth > 1) {
      const EnableGrad guard;
      const Tensor inner = toy::leaf({}, {1});
      const Tensor result = nested(inner, depth - 1);
      backward(std::array{result});
    }
    ctx.set(0, ctx.grad());
  });
  return y;
}

TEST_F(Engine, E17_backward_nests_a_thousand_deep) {
  const Tensor x = leaf({}, {1});
  backward(std::array{nested(x, kMaxBackwardDepth)});
  EXPECT_EQ(grad_values(x), (Values{1}));
}

TEST_F(Engine, E17_backward_nested_deeper_is_a_typed_error) {
  const Tensor x = leaf({}, {1});
  const std::string text =
      message_of([&] { backward(std::array{nested(x, kMaxBackwardDepth + 1)}); }, Code::kAutograd);
  EXPECT_NE(text.find("1000"), std::string::npos) << text;
  EXPECT_EQ(backward_depth(), 0);
}

TEST_F(Engine, E17_nested_backward_may_walk_the_graph_that_is_running) {
  const Tensor x = leaf({}, {3});
  const Tensor m = toy::mul(x, x);
  Tensor y = m.detached();
  record(y, "AgainBackward", {m}, {}, [m](Backward& ctx) {
    backward(std::array{m}, {}, {.retain_graph = true});
    ctx.set(0, ctx.grad());
  });
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{12}));
}

TEST_F(Engine, E18_final_callbacks_run_after_the_graph_and_may_add_more) {
  const Tensor x = leaf({}, {3});
  const Tensor y = toy::scale(x, 2);
  std::vector<double> seen;
  add_tensor_hook(y, [&](const Tensor&) {
    queue_callback([&] {
      seen = grad_values(x);
      queue_callback([&] { seen.push_back(-1); });
    });
    return Tensor();
  });
  backward(std::array{y});
  EXPECT_EQ(seen, (Values{2, -1}));
  message_of([] { queue_callback([] {}); }, Code::kAutograd);
}

TEST_F(Engine, E24_threads_add_up_in_a_shared_leaf) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  const Tensor x = leaf({4}, {1, 2, 3, 4});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) backward(std::array{toy::sum(toy::scale(x, 2))});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(grad_values(x), Values(4, 2.0 * kThreads * kRounds));
}

TEST_F(Engine, E24_threads_may_run_one_retained_graph) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::sum(toy::mul(toy::mul(x, x), x));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) backward(std::array{y}, {}, {.retain_graph = true});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(grad_values(x), (Values{400 * 3, 400 * 12}));
}

TEST_F(Engine, E24_losers_of_a_race_for_one_graph_get_the_retain_graph_error) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = leaf({1}, {3});
    const Tensor y = toy::mul(x, x);
    std::atomic<int> won{0};
    std::atomic<int> lost{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        try {
          backward(std::array{y});
          ++won;
        } catch (const Error& error) {
          EXPECT_NE(error.message().find("(retain_graph)"), std::string::npos);
          ++lost;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won + lost, 2);
    EXPECT_EQ(grad_values(x), won > 0 ? Values{6.0 * won} : Values{});
  }
}

TEST_F(Engine, E24_grad_may_be_cleared_while_another_thread_accumulates) {
  const Tensor x = leaf({1}, {1});
  std::atomic<bool> done = false;
  std::thread clearing([&] {
    while (!done) set_grad(x, {});
  });
  for (int i = 0; i < 20000; ++i) backward(std::array{toy::scale(x, 1)});
  done = true;
  clearing.join();
  set_grad(x, {});
  backward(std::array{toy::scale(x, 1)});
  EXPECT_EQ(grad_values(x), (Values{1}));
}

TEST_F(Engine, chain_of_gradients_of_gradients_is_freed) {
  constexpr int kLength = 200'000;
  Tensor last = make({1}, {0});
  const StoragePtr first = last.storage();
  for (int i = 0; i < kLength; ++i) {
    Tensor next = make({1}, {0});
    // Every other link goes through the base of a view.
    set_grad(next, i % 2 == 0 ? last : toy::slice(last, 0, 1));
    last = std::move(next);
  }
  last.reset();
  EXPECT_EQ(first->refs.load(), 1U);
}

TEST_F(Engine, E5_leaf_frozen_after_the_forward_receives_nothing) {
  const Tensor x = leaf({1}, {2});
  const Tensor w = leaf({1}, {3});
  int calls = 0;
  add_tensor_hook(w, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  add_accumulate_hook(w, [&](const Tensor&) { ++calls; });
  const Tensor y = toy::mul(x, w);
  set_requires_grad(w, false);
  backward(std::array{y}, {}, {.retain_graph = true});
  EXPECT_EQ(grad_values(x), (Values{3}));
  EXPECT_FALSE(grad_of(w).defined());
  EXPECT_EQ(calls, 0);
  set_requires_grad(w, true);
  backward(std::array{y});
  EXPECT_EQ(grad_values(w), (Values{2}));
  EXPECT_EQ(calls, 2);
}

TEST_F(Engine, backward_in_inference_mode_gives_ordinary_gradients) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::mul(x, x);
  {
    const InferenceMode guard;
    backward(std::array{y});
  }
  EXPECT_FALSE(grad_of(x).has(kInferenceFlag));
  EXPECT_EQ(grad_values(x), (Values{4}));
}

TEST_F(Engine, E10_backward_starts_no_threads) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const Tensor x = leaf({1}, {3});
  const auto before = threads();
  for (int i = 0; i < 1000; ++i) backward(std::array{toy::scale(x, 1)});
  EXPECT_EQ(threads(), before);
}

TEST_F(Engine, A16_leaf_is_held_by_its_graph_and_by_nothing_else) {
  const Tensor x = leaf({1}, {3});
  const auto users = [&] { return x.impl()->refs.load(); };
  EXPECT_EQ(users(), 1U);
  Tensor y = toy::exp(x);
  EXPECT_EQ(users(), 2U);  // the leaf's accumulator
  backward(std::array{y});
  EXPECT_EQ(users(), 2U);
  y.reset();
  EXPECT_EQ(users(), 1U);
}

TEST_F(Engine, A17_ten_thousand_steps_leave_no_memory_behind) {
  const Tensor w = leaf({4}, {1, 2, 3, 4});
  const auto step = [&] {
    const Tensor h = toy::mul(w, w);
    toy::add_inplace(h, toy::exp(toy::scale(h, -1)));
    backward(std::array{toy::sum(h)});
    const NoGrad guard;
    toy::add_inplace(w, toy::scale(grad_of(w), -1e-6));
    set_grad(w, {});
  };
  step();
  const int64_t nodes = live_nodes();
  const int64_t bytes = allocator_for(Device{}).stats().allocated_bytes.all.current;
  for (int i = 0; i < effort(10'000, 2'000); ++i) step();
  EXPECT_EQ(live_nodes(), nodes);
  EXPECT_EQ(allocator_for(Device{}).stats().allocated_bytes.all.current, bytes);
}

TEST_F(Engine, E22_backward_works_in_a_forked_child) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  backward(std::array{y}, {}, {.retain_graph = true});
  const pid_t child = fork();
  if (child == 0) {
    backward(std::array{y});
    _exit(grad_values(x) == Values{12} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace tsr::test_engine
