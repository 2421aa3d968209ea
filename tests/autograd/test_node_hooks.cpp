// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks of nodes and of several tensors, edges as inputs, and what of it a collector sees: row A9.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "autograd/host_data.h"
#include "autograd/multi_hook.h"
#include "autograd/tensor_record.h"
#include "toy_ops.h"

namespace tsr::test_node_hooks {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::Values;
using toy::values;

using A9_NodeHooks = toy::GraphTest;
using A9_MultiHook = toy::GraphTest;
using A9_Edges = toy::GraphTest;

constexpr BackwardOptions kRetain{.retain_graph = true};

// ---- Hooks on nodes ----

TEST_F(A9_NodeHooks, run_in_order_of_registration_and_can_be_removed_by_number) {
  const Tensor y = toy::scale(leaf({1}, {1}), 2);
  const NodePtr node = grad_fn(y);
  std::string order;
  std::vector<int64_t> ids;
  for (char c : {'a', 'b', 'c'}) {
    ids.push_back(hook_id(add_pre_hook(*node, [&order, c](std::span<Tensor>) { order += c; })));
  }
  for (char c : {'d', 'e'}) {
    ids.push_back(hook_id(add_post_hook(
        *node, [&order, c](std::span<Tensor>, std::span<const Tensor>) { order += c; })));
  }
  backward(std::array{y}, {}, kRetain);
  EXPECT_EQ(order, "abcde");
  EXPECT_TRUE(remove_hook(ids[1]));
  EXPECT_TRUE(remove_hook(ids[3]));
  EXPECT_TRUE(remove_hook(ids[3])) << "removed before";
  order.clear();
  backward(std::array{y});
  EXPECT_EQ(order, "ace");
}

TEST_F(A9_NodeHooks, number_that_was_never_given_is_no_hook) {
  EXPECT_FALSE(remove_hook(0));
  EXPECT_FALSE(remove_hook(-1));
  EXPECT_FALSE(remove_hook(INT64_MAX));
  const int64_t gone =
      hook_id(add_pre_hook(*grad_fn(toy::scale(leaf({1}, {1}), 2)), [](std::span<Tensor>) {}));
  EXPECT_TRUE(remove_hook(gone)) << "went with its node";
}

TEST_F(A9_NodeHooks, table_of_numbers_forgets_the_hooks_of_dead_nodes) {
  const auto token = std::make_shared<int>(0);
  for (int i = 0; i < 1000; ++i) {
    const Tensor y = toy::scale(leaf({1}, {1}), 2);
    hook_id(add_pre_hook(*grad_fn(y), [token](std::span<Tensor>) {}));
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(A9_NodeHooks, removal_inside_a_running_hook_takes_effect_at_once) {
  const Tensor y = toy::scale(leaf({1}, {1}), 2);
  const NodePtr node = grad_fn(y);
  std::string order;
  HookHandle first, second;
  first = add_pre_hook(*node, [&](std::span<Tensor>) {
    order += '1';
    first.remove();
    second.remove();
  });
  second = add_pre_hook(*node, [&](std::span<Tensor>) { order += '2'; });
  for (int i = 0; i < 2; ++i) backward(std::array{y}, {}, kRetain);
  EXPECT_EQ(order, "1");
}

TEST_F(A9_NodeHooks, of_an_accumulator_run_while_somebody_holds_the_node) {
  const Tensor x = leaf({1}, {1});
  std::string order;
  Edge edge = gradient_edge(x);
  add_pre_hook(*edge.node, [&](std::span<Tensor> grads) {
    order += 'b';
    grads[0] = toy::scale(grads[0], 10);
  });
  add_post_hook(*edge.node, [&](std::span<Tensor> results, std::span<const Tensor> grads) {
    EXPECT_TRUE(results.empty());
    EXPECT_EQ(values(grads[0]), (Values{20}));
    order += 'p';
  });
  add_accumulate_hook(x, [&](const Tensor&) { order += 'a'; });
  add_tensor_hook(x, [&](const Tensor&) {
    order += 't';
    return Tensor();
  });
  backward(std::array{toy::scale(x, 2)});
  EXPECT_EQ(order, "tbap");
  EXPECT_EQ(grad_values(x), (Values{20}));
  edge = {};
  backward(std::array{toy::scale(x, 2)});
  EXPECT_EQ(order, "tbapta");
}

TEST_F(A9_NodeHooks, pre_hook_may_take_a_gradient_away_and_give_one) {
  const Tensor x = leaf({2, 1}, {1, 2});
  const Tensor y = toy::scale(x, 1);
  const std::vector<Tensor> rows = toy::unbind(y);
  add_pre_hook(*grad_fn(rows[0]), [](std::span<Tensor> grads) {
    EXPECT_FALSE(grads[1].defined());
    grads[0] = Tensor();
    grads[1] = make({1}, {7});
  });
  backward(std::array{rows[0]});
  EXPECT_EQ(grad_values(x), (Values{0, 7}));
}

TEST_F(A9_NodeHooks, node_whose_only_gradient_a_pre_hook_takes_away_does_not_run) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  int posts = 0;
  add_pre_hook(*grad_fn(y), [](std::span<Tensor> grads) { grads[0].reset(); });
  add_post_hook(*grad_fn(y), [&](std::span<Tensor>, std::span<const Tensor>) { ++posts; });
  const int64_t before = toy::mul_gradients();
  backward(std::array{y});
  EXPECT_EQ(toy::mul_gradients(), before);
  EXPECT_EQ(posts, 0);
  EXPECT_FALSE(grad_of(x).defined());
}

TEST_F(A9_NodeHooks, pre_hook_may_not_give_a_gradient_of_another_shape) {
  const Tensor x = leaf({2, 1}, {1, 2});
  const std::vector<Tensor> rows = toy::unbind(toy::scale(x, 1));
  add_pre_hook(*grad_fn(rows[0]), [](std::span<Tensor> grads) { grads[1] = make({2}, {7, 7}); });
  expect_error([&] { backward(std::array{rows[0]}); }, "of shape [1], got shape [2]");
}

TEST_F(A9_NodeHooks, see_recorded_gradients_and_are_differentiated) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  add_pre_hook(*grad_fn(y), [&](std::span<Tensor> grads) { grads[0] = toy::mul(grads[0], x); });
  const Tensor first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(values(first), (Values{18}));
  EXPECT_EQ(values(grad(std::array{first}, std::array{x})[0]), (Values{12}));
}

TEST_F(A9_NodeHooks, error_in_a_hook_leaves_the_engine_usable) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  const HookHandle bad = add_post_hook(*grad_fn(y), [](std::span<Tensor>, std::span<const Tensor>) {
    fail(Code::kCallback, nullptr, __FILE__, __LINE__, "the host's own words");
  });
  for (int i = 0; i < 2; ++i) {
    expect_error([&] { backward(std::array{y}, {}, kRetain); }, "the host's own words",
                 Code::kCallback);
  }
  bad.remove();
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{2}));
}

// Under the thread sanitizer this is the test of the locks.
TEST_F(A9_NodeHooks, may_change_while_other_threads_run_the_node) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  const Tensor z = toy::scale(y, 3);
  const NodePtr node = grad_fn(y);
  std::atomic<int> calls{0}, running{3};
  const auto pre = [&](std::span<Tensor>) { ++calls; };
  const auto post = [&](std::span<Tensor>, std::span<const Tensor>) { ++calls; };
  add_pre_hook(*node, pre);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(values(grad(std::array{z}, std::array{x}, {}, kRetain)[0]), (Values{6}));
      }
      --running;
    });
  }
  while (running != 0) {
    const HookHandle a = add_pre_hook(*node, pre), b = add_post_hook(*node, post);
    const int64_t id = hook_id(add_multi_hook(std::array{x, y}, MultiHookMode::kAll,
                                              [&](std::span<const Tensor>) { ++calls; }));
    a.remove();
    b.remove();
    EXPECT_TRUE(remove_hook(id));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(calls, 600);
}

// ---- Hooks on several tensors ----

TEST_F(A9_MultiHook, all_runs_once_with_all_gradients_in_order_of_the_tensors) {
  const Tensor x = leaf({1}, {2}), y = leaf({1}, {3});
  const Tensor z = toy::mul(x, y);
  std::vector<Values> seen;
  add_multi_hook(std::array{y, z, x}, MultiHookMode::kAll, [&](std::span<const Tensor> grads) {
    for (const Tensor& g : grads) seen.push_back(values(g));
  });
  backward(std::array{toy::scale(z, 5)}, {}, kRetain);
  EXPECT_EQ(seen, (std::vector<Values>{{10}, {5}, {15}}));
  backward(std::array{z});
  EXPECT_EQ(seen.size(), 6U) << "each backward counts by itself";
}

TEST_F(A9_MultiHook, all_runs_at_the_end_without_the_gradients_that_are_not_there) {
  const Tensor x = leaf({1}, {2}), unused = leaf({1}, {3});
  std::string order;
  add_multi_hook(std::array{unused, x}, MultiHookMode::kAll, [&](std::span<const Tensor> grads) {
    order += 'm';
    EXPECT_FALSE(grads[0].defined());
    EXPECT_EQ(values(grads[1]), (Values{4}));
  });
  add_accumulate_hook(x, [&](const Tensor&) { order += 'a'; });
  backward(std::array{toy::scale(x, 4)});
  EXPECT_EQ(order, "am");
  backward(std::array{toy::scale(leaf({1}, {1}), 4)});
  EXPECT_EQ(order, "am") << "a backward that reaches none of them";
}

TEST_F(A9_MultiHook, any_runs_at_the_first_gradient_only) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::scale(x, 3);
  int calls = 0;
  add_multi_hook(std::array{x, y}, MultiHookMode::kAny, [&](std::span<const Tensor> grads) {
    ++calls;
    EXPECT_FALSE(grads[0].defined());
    EXPECT_EQ(values(grads[1]), (Values{1}));
  });
  for (int i = 0; i < 2; ++i) backward(std::array{y}, {}, kRetain);
  EXPECT_EQ(calls, 2);
}

TEST_F(A9_MultiHook, sees_what_hooks_registered_before_it_made_of_a_gradient) {
  const Tensor x = leaf({1}, {2});
  add_tensor_hook(x, [](const Tensor& g) { return toy::scale(g, 10); });
  Values seen;
  add_multi_hook(std::array{x}, MultiHookMode::kAll,
                 [&](std::span<const Tensor> grads) { seen = values(grads[0]); });
  add_tensor_hook(x, [](const Tensor& g) { return toy::scale(g, 10); });
  backward(std::array{toy::scale(x, 1)});
  EXPECT_EQ(seen, (Values{10}));
}

TEST_F(A9_MultiHook, removal_takes_it_from_all_tensors_and_gives_up_the_callable) {
  const Tensor x = leaf({1}, {2}), y = leaf({1}, {3});
  const auto token = std::make_shared<int>(0);
  HookHandle handle;
  handle = add_multi_hook(std::array{x, y}, MultiHookMode::kAll,
                          [token, &handle](std::span<const Tensor>) {
                            ++*token;
                            handle.remove();
                          });
  EXPECT_EQ(token.use_count(), 2);
  for (int i = 0; i < 2; ++i) backward(std::array{toy::mul(x, y)});
  EXPECT_EQ(*token, 1);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(A9_MultiHook, goes_with_its_last_tensor_also_inside_a_backward) {
  const auto token = std::make_shared<int>(0);
  const Tensor x = leaf({1}, {2});
  Tensor y = leaf({1}, {3}), z = toy::scale(x, 1);
  add_multi_hook(std::array{y}, MultiHookMode::kAll, [token](std::span<const Tensor>) {});
  add_multi_hook(std::array{z, y}, MultiHookMode::kAll,
                 [token](std::span<const Tensor>) { ++*token; });
  add_tensor_hook(x, [&](const Tensor&) {
    y.reset();  // of the second hook's tensors only the node of z is left
    return Tensor();
  });
  EXPECT_EQ(token.use_count(), 3);
  backward(std::array{z});
  EXPECT_EQ(*token, 1);
  z.reset();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(A9_MultiHook, failed_backward_leaves_nothing_behind) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::scale(x, 1);
  const auto token = std::make_shared<int>(0);
  int calls = 0;
  const HookHandle bad = add_tensor_hook(
      x, [](const Tensor&) -> Tensor { fail(Code::kCallback, nullptr, __FILE__, __LINE__, "no"); });
  const HookHandle handle = add_multi_hook(std::array{y, x}, MultiHookMode::kAll,
                                           [&, token](std::span<const Tensor>) { ++calls; });
  const Tensor seed = make({1}, {1});
  const StoragePtr memory = seed.storage();
  for (int i = 0; i < 2; ++i) {
    expect_error([&] { backward(std::array{y}, std::array{seed}, kRetain); }, "no",
                 Code::kCallback);
  }
  EXPECT_EQ(memory->refs.load(), 2U) << "the gradients of the failed runs are freed";
  EXPECT_EQ(calls, 0);
  bad.remove();
  backward(std::array{y});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(token.use_count(), 2);
  handle.remove();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(A9_MultiHook, needs_tensors_that_require_grad) {
  const auto nothing = [](std::span<const Tensor>) {};
  const Tensor x = leaf({1}, {1});
  expect_error([&] { add_multi_hook({}, MultiHookMode::kAll, nothing); }, "at least one",
               Code::kInvalidArgument);
  expect_error(
      [&] {
        add_multi_hook(std::array{x, make({1}, {1})}, MultiHookMode::kAll, nothing);
      },
      "one at 1");
}

TEST_F(A9_MultiHook, runs_of_several_threads_do_not_mix) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::scale(x, 3);
  std::atomic<int> calls{0};
  add_multi_hook(std::array{x, y}, MultiHookMode::kAll, [&](std::span<const Tensor> grads) {
    EXPECT_EQ(values(grads[0])[0], 3 * values(grads[1])[0]);
    ++calls;
  });
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        grad(std::array{toy::scale(y, t)}, std::array{x}, {}, kRetain);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 400);
}

// ---- Edges ----

TEST_F(A9_Edges, are_inputs_of_grad) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::mul(x, x);
  const auto grads =
      grad_at_edges(std::array{toy::scale(y, 2)}, std::array{gradient_edge(x), gradient_edge(y)});
  EXPECT_EQ(values(grads[0]), (Values{12}));
  EXPECT_EQ(values(grads[1]), (Values{2}));
  EXPECT_FALSE(grad_of(x).defined());
}

TEST_F(A9_Edges, are_inputs_of_backward) {
  const Tensor x = leaf({1}, {3}), w = leaf({1}, {5});
  const Tensor y = toy::mul(x, w);
  int calls = 0;
  add_tensor_hook(y, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  backward_to_edges(std::array{y}, {}, kRetain, std::array{gradient_edge(y)});
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(grad_of(x).defined());
  backward_to_edges(std::array{y}, {}, kRetain, std::array{gradient_edge(x)});
  EXPECT_EQ(grad_values(x), (Values{5}));
  EXPECT_FALSE(grad_of(w).defined());
}

TEST_F(A9_Edges, must_name_an_output) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = toy::scale(x, 2);
  expect_error(
      [&] {
        grad_at_edges(std::array{y}, std::array{Edge{grad_fn(y), 1}});
      },
      "one of the 1 outputs", Code::kIndex);
  expect_error([&] { backward_to_edges(std::array{y}, {}, {}, std::array{Edge{}}); }, "none at 0");
  expect_error([&] { grad_at_edges(std::array{y}, std::array{gradient_edge(leaf({1}, {1}))}); },
               "not have been used");
}

// ---- What a collector sees ----

// Host data with these addresses, in the order in which visit_host_data reports them.
class Numbers {
 public:
  HostData operator[](size_t i) {
    return {&numbers_[i], [](void*) {}};
  }

  template <class Holder>
  static std::vector<int> visited(const Holder& holder) {
    std::vector<int> found;
    visit_host_data(holder,
                    {[](void* arg, void* user, void (*)(void*)) {
                       static_cast<std::vector<int>*>(arg)->push_back(*static_cast<int*>(user));
                     },
                     &found});
    return found;
  }

 private:
  std::array<int, 8> numbers_{0, 1, 2, 3, 4, 5, 6, 7};
};

TEST_F(A9_NodeHooks, are_visited_with_the_graph_that_owns_them) {
  Numbers numbers;
  const Tensor x = leaf({1}, {1});
  Tensor y = toy::scale(x, 1);
  add_pre_hook(
      *grad_fn(y), [](std::span<Tensor>) {}, numbers[1]);
  add_post_hook(
      *grad_fn(y), [](std::span<Tensor>, std::span<const Tensor>) {}, numbers[2]);
  const HookHandle removed = add_pre_hook(
      *grad_fn(y), [](std::span<Tensor>) {}, numbers[3]);
  removed.remove();
  Edge leaf_edge = gradient_edge(x);
  add_pre_hook(
      *leaf_edge.node, [](std::span<Tensor>) {}, numbers[4]);
  EXPECT_EQ(Numbers::visited(y), (std::vector{1, 2})) << "somebody else holds the accumulator";
  leaf_edge = {};
  EXPECT_EQ(Numbers::visited(y), (std::vector{1, 2, 4}));
  const NodePtr node = grad_fn(y);
  EXPECT_TRUE(Numbers::visited(y).empty());
  y.reset();
  EXPECT_EQ(Numbers::visited(*node), (std::vector{1, 2, 4}));
}

TEST_F(A9_MultiHook, each_tensor_owns_a_part_that_a_collector_sees) {
  Numbers numbers;
  const Tensor x = leaf({1}, {1}), y = leaf({1}, {1});
  std::vector<MultiHookOwner> owners(2);
  owners[0] = {std::make_shared<int>(0), numbers[5]};
  owners[1] = {std::make_shared<int>(1), numbers[6]};
  const std::weak_ptr<void> first = owners[0].owner;
  const HookHandle handle = add_multi_hook(
      std::array{x, y}, MultiHookMode::kAll, [](std::span<const Tensor>) {}, owners);
  owners.clear();
  EXPECT_EQ(Numbers::visited(x), (std::vector{5}));
  EXPECT_EQ(Numbers::visited(y), (std::vector{6}));
  EXPECT_FALSE(first.expired());
  handle.remove();
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(Numbers::visited(x).empty());
}

// Hooks whose callables and payloads are host data.
class SeenHooks final : public SavedTensorHooks {
 public:
  explicit SeenHooks(Numbers& numbers) : numbers_(numbers) {}
  std::shared_ptr<void> pack(const Tensor& tensor) override {
    return std::make_shared<Tensor>(tensor);
  }
  Tensor unpack(const std::shared_ptr<void>& packed) override {
    return *static_cast<Tensor*>(packed.get());
  }
  [[nodiscard]] HostData host_data() const noexcept override { return numbers_[0]; }
  [[nodiscard]] HostData host_data_of(const std::shared_ptr<void>& /*packed*/) const override {
    return numbers_[7];
  }

 private:
  Numbers& numbers_;
};

TEST_F(A9_NodeHooks, packed_tensors_and_then_their_hooks_are_visited) {
  Numbers numbers;
  const Tensor x = leaf({1}, {1});
  auto set = std::shared_ptr<SavedTensorHooks>(std::make_shared<SeenHooks>(numbers));
  set_saved_tensor_hooks(&set);
  Tensor y = toy::mul(toy::scale(x, 2), toy::scale(x, 3));
  const Tensor other = toy::sin(x);
  set_saved_tensor_hooks(nullptr);
  EXPECT_EQ(Numbers::visited(y), (std::vector{7, 7})) << "the hooks have other owners";
  set.reset();
  EXPECT_EQ(Numbers::visited(y), (std::vector{7, 7})) << "another graph uses them";
  backward(std::array{other});
  EXPECT_EQ(Numbers::visited(y), (std::vector{7, 7, 0}));
}

}  // namespace
}  // namespace tsr::test_node_hooks
