// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on nodes and on several tensors, and edges of the graph: row A9.
#include <memory>
#include <stdexcept>
#include <string>

#include "support.hpp"

namespace test_hooks {

using namespace tessera;
using namespace tessera::test;

namespace {

struct HostError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Gradients = std::vector<Tensor>;

TEST(A9_NodeHooks, order_is_tensor_hook_prehook_node_posthook) {
  std::string order;
  Tensor x = leaf({1});
  Tensor y = apply_function(
      "Noted", {x},
      [](FunctionContext&, const Gradients& inputs) { return Gradients{inputs[0] * 1}; },
      [&](FunctionContext&, const Gradients& gradients) {
        order += 'n';
        return gradients;
      })[0];
  y.grad_fn().register_hook([&](Gradients&, const Gradients&) { order += 'p'; });
  y.grad_fn().register_prehook([&](Gradients&) { order += 'b'; });
  y.register_hook([&](const Tensor&) { order += 't'; });
  y.backward();
  EXPECT_EQ(order, "tbnp");
}

TEST(A9_NodeHooks, replace_gradients_and_results_and_are_removed) {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  const Tensor total = y.sum();
  const Node node = y.grad_fn();
  HookHandle before = node.register_prehook([](Gradients& grads) { grads[0] = grads[0] * 10; });
  HookHandle after = node.register_hook([](Gradients& results, const Gradients& grads) {
    expect_near(grads[0], {10, 10});
    results[0] = results[0] + 1;
  });
  total.backward({}, true);
  expect_near(x.grad(), {31, 31});
  before.remove();
  before.remove();
  after.remove();
  x.set_grad({});
  total.backward();
  expect_near(x.grad(), {3, 3});
}

TEST(A9_NodeHooks, exceptions_pass_through_as_themselves) {
  Tensor x = leaf({1});
  const Tensor y = x * 3;
  HookHandle pre = y.grad_fn().register_prehook([](Gradients&) { throw HostError("before"); });
  EXPECT_THROW(y.backward({}, true), HostError);
  pre.remove();
  HookHandle post =
      y.grad_fn().register_hook([](Gradients&, const Gradients&) { throw HostError("after"); });
  EXPECT_THROW(y.backward({}, true), HostError);
  post.remove();
  HookHandle several =
      register_multi_grad_hook({x, y}, [](const Gradients&) { throw HostError("several"); });
  EXPECT_THROW(y.backward({}, true), HostError);
  several.remove();
  y.grad_fn().register_prehook([](Gradients& grads) { grads.clear(); });
  EXPECT_THROW(y.backward({}, true), AutogradError);
  EXPECT_THROW(Node().register_prehook([](Gradients&) {}), Error);
}

TEST(A9_NodeHooks, of_an_accumulator) {
  Tensor x = leaf({1});
  const Node node = gradient_edge(x).node;
  EXPECT_TRUE(node.variable().is_same(x));
  node.register_prehook([](Gradients& grads) { grads[0] = grads[0] * 10; });
  (x * 2).backward();
  expect_near(x.grad(), {20});
}

TEST(A9_MultiHooks, run_once_in_each_backward) {
  Tensor x = leaf({1}), y = leaf({2}), unused = leaf({3});
  std::string log;
  HookHandle all = register_multi_grad_hook({x, y, unused}, [&](const Gradients& grads) {
    for (const Tensor& g : grads) log += g.defined() ? '1' : '0';
  });
  HookHandle any = register_any_grad_hook({x, unused}, [&](const Tensor& grad) {
    expect_near(grad, {2});
    log += 'a';
  });
  for (int i = 0; i < 2; ++i) (x * y).backward();
  EXPECT_EQ(log, "a110a110");
  all.remove();
  any.remove();
  (x * y).backward();
  EXPECT_EQ(log, "a110a110");
  EXPECT_THROW(register_multi_grad_hook({x, ones({1})}, [](const Gradients&) {}), AutogradError);
}

TEST(A9_Edges, are_inputs_of_grad_and_backward) {
  Tensor x = leaf({2});
  const Tensor y = x * x;
  const Tensor z = y * 5;
  BackwardOptions retain;
  retain.retain_graph = true;
  const auto grads = grad_at_edges(z, {gradient_edge(x), gradient_edge(y)}, {}, retain);
  expect_near(grads[0], {20});
  expect_near(grads[1], {5});
  backward_to_edges(z, {gradient_edge(y)}, {}, retain);
  EXPECT_FALSE(x.grad().defined());
  backward_to_edges(z, {gradient_edge(x)}, {}, retain);
  expect_near(x.grad(), {20});
  EXPECT_THROW(grad_at_edges(z, {{y.grad_fn(), 1}}), OutOfRangeError);
  EXPECT_THROW(gradient_edge(ones({1})), AutogradError);
}

TEST(A9_Edges, version_says_that_memory_has_changed) {
  Tensor x = leaf({2});
  const Tensor y = x.exp();
  increment_version(y);
  EXPECT_THROW(y.backward(), AutogradError);
}

TEST(A9_NodeHooks, leave_nothing_behind) {
  const int64_t tensors = tsr_live_handles(), nodes = tsr_live_nodes();
  const auto token = std::make_shared<int>(0);
  {
    Tensor x = leaf({1});
    const Tensor y = x * 2;
    y.grad_fn().register_prehook([token](Gradients&) {});
    y.grad_fn().register_hook([token](Gradients&, const Gradients&) {});
    register_multi_grad_hook({x, y}, [token](const Gradients&) { ++*token; });
    register_any_grad_hook({x, y}, [token](const Tensor&) {});
    EXPECT_EQ(token.use_count(), 5);
    y.backward();
    EXPECT_EQ(*token, 1);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(tsr_live_handles(), tensors);
  EXPECT_EQ(tsr_live_nodes(), nodes);
}

}  // namespace
}  // namespace test_hooks
