// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Gradients, modes, hooks and functions written in C++, and that they do not leak.
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace test_autograd {

using namespace tessera;
using namespace tessera::test;

namespace {

// An exception that the library does not know.
struct HostError : std::runtime_error {
  explicit HostError(int what) : std::runtime_error("the host's own words"), number(what) {}
  int number;
};

TEST(Autograd, backward_accumulates_into_leaves) {
  Tensor x = leaf({1, 2, 3});
  (x * x).sum().backward();
  (x * 3).sum().backward();
  expect_near(x.grad(), {5, 7, 9});
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, backward_needs_a_scalar_or_a_gradient) {
  Tensor x = leaf({1, 2});
  EXPECT_THROW((x * 2).backward(), AutogradError);
  (x * 2).backward(tensor({1.0, 10.0}, kFloat64));
  expect_near(x.grad(), {2, 20});
  EXPECT_THROW((x * 2).backward(ones({3}, kFloat64)), Error);
}

TEST(Autograd, a_graph_runs_once_unless_retained) {
  Tensor x = leaf({2});
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  expect_near(x.grad(), {8});
  EXPECT_THROW(y.backward(), AutogradError);
}

TEST(Autograd, backward_with_inputs_touches_only_those) {
  Tensor x = leaf({1});
  Tensor w = leaf({2});
  backward((x * w).sum(), {}, w);
  EXPECT_FALSE(x.grad().defined());
  expect_near(w.grad(), {1});
}

TEST(Autograd, grad_returns_and_changes_nothing) {
  Tensor x = leaf({1, 2, 3});
  Tensor unused = leaf({1});
  const Tensor y = (x * x * x).sum();
  BackwardOptions options;
  options.create_graph = true;
  const Tensor first = grad(y, x, {}, options)[0];
  expect_near(first.detach(), {3, 12, 27});
  expect_near(grad(first.sum(), x)[0], {6, 12, 18});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THROW(grad((x * 2).sum(), unused), AutogradError);
  options.allow_unused = true;
  const std::vector<Tensor> both = grad((x * 2).sum(), {x, unused}, {}, options);
  EXPECT_TRUE(both[0].defined());
  EXPECT_FALSE(both[1].defined());
}

TEST(Autograd, modes_nest_and_restore) {
  Tensor x = leaf({1});
  EXPECT_TRUE(is_grad_enabled());
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE((x * 2).requires_grad());
    {
      const EnableGradGuard enable_grad;
      EXPECT_TRUE((x * 2).requires_grad());
    }
    EXPECT_FALSE(is_grad_enabled());
  }
  EXPECT_TRUE(is_grad_enabled());
  try {
    const NoGradGuard no_grad;
    throw HostError(1);
  } catch (const HostError&) {
  }
  EXPECT_TRUE(is_grad_enabled()) << "an exception leaves the mode as it was";
}

TEST(Autograd, inference_mode) {
  const Tensor x = [] {
    const InferenceGuard inference;
    EXPECT_TRUE(is_inference_mode());
    return ones({2}) * 2;
  }();
  EXPECT_FALSE(is_inference_mode());
  EXPECT_TRUE(x.is_inference());
  Tensor w = leaf({1, 2}, kFloat32);
  EXPECT_THROW(static_cast<void>(x * w), AutogradError);
}

TEST(Autograd, modes_belong_to_the_thread) {
  const NoGradGuard no_grad;
  bool elsewhere = false;
  std::thread([&] { elsewhere = is_grad_enabled(); }).join();
  EXPECT_TRUE(elsewhere);
}

TEST(Autograd, requires_grad_rules) {
  EXPECT_THROW(tensor({1, 2}).requires_grad_(), DTypeError);
  Tensor x = leaf({1});
  Tensor y = x * 2;
  EXPECT_TRUE(x.is_leaf() && !y.is_leaf());
  EXPECT_THROW(y.requires_grad_(false), AutogradError);
  EXPECT_FALSE(y.detach().requires_grad());
}

TEST(Autograd, retain_grad) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  (y * y).sum().backward();
  expect_near(y.grad(), {6, 12});
}

TEST(Autograd, changed_saved_tensors_are_noticed) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  const Tensor z = (y * y).sum();
  y += 1;
  EXPECT_THROW(z.backward(), AutogradError);
}

TEST(Autograd, graph_can_be_walked) {
  Tensor x = leaf({1});
  const Tensor y = x.exp();
  const Node node = y.grad_fn();
  EXPECT_EQ(node.name(), "ExpBackward");
  const std::vector<Node::Edge> next = node.next();
  ASSERT_EQ(next.size(), 1U);
  EXPECT_TRUE(next[0].node.variable().is_same(x));
  EXPECT_FALSE(x.grad_fn().defined());
  EXPECT_GT((y * 2).grad_fn().sequence(), node.sequence());
}

TEST(Autograd, hooks_see_and_replace_gradients) {
  Tensor x = leaf({1, 2});
  Numbers seen;
  HookHandle watching = x.register_hook([&](const Tensor& gradient) { seen = numbers(gradient); });
  HookHandle doubling = x.register_hook([](const Tensor& gradient) { return gradient * 2; });
  (x * 3).sum().backward();
  EXPECT_EQ(seen, (Numbers{3, 3}));
  expect_near(x.grad(), {6, 6});
  doubling.remove();
  watching.remove();
  watching.remove();  // twice is harmless
  x.set_grad({});
  (x * 3).sum().backward();
  expect_near(x.grad(), {3, 3});
  EXPECT_THROW(ones({1}).register_hook([](const Tensor&) {}), AutogradError);
}

TEST(Autograd, copies_of_a_hook_handle_remove_one_hook) {
  const Tensor x = leaf({2});
  HookHandle handle;
  handle.remove();  // there is none
  handle = x.register_hook([](const Tensor& gradient) { return gradient * 10; });
  HookHandle copy = handle;
  copy.remove();
  handle.remove();
  (x * 3).backward(ones({1}, kFloat64));
  expect_near(x.grad(), {3});
}

TEST(Autograd, post_accumulate_hooks_see_the_leaf) {
  Tensor x = leaf({1});
  int calls = 0;
  HookHandle hook = x.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
    ++calls;
    EXPECT_TRUE(leaf.is_same(x));
    EXPECT_TRUE(leaf.grad().defined());
  });
  (x * 2).sum().backward();
  hook.remove();
  (x * 2).sum().backward();
  EXPECT_EQ(calls, 1);
}

TEST(Autograd, exceptions_pass_through_as_themselves) {
  Tensor x = leaf({1});
  HookHandle throwing = x.register_hook([](const Tensor&) { throw HostError(42); });
  try {
    (x * 2).sum().backward();
    FAIL() << "nothing was thrown";
  } catch (const HostError& error) {
    EXPECT_EQ(error.number, 42);
  }
  throwing.remove();
  x.register_hook([](const Tensor&) { throw 7; });  // not even a std::exception
  try {
    (x * 2).sum().backward();
    FAIL() << "nothing was thrown";
  } catch (int number) {
    EXPECT_EQ(number, 7);
  }
}

TEST(Autograd, library_errors_in_hooks_keep_their_class) {
  Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor& gradient) { return gradient.reshape({3}); });
  EXPECT_THROW((x * 2).sum().backward(), ShapeError);
}

TEST(Autograd, callbacks_run_when_the_backward_ends) {
  Tensor x = leaf({1});
  std::vector<std::string> order;
  x.register_hook([&](const Tensor&) {
    queue_callback([&] { order.emplace_back("end"); });
    order.emplace_back("hook");
  });
  (x * 2).sum().backward();
  EXPECT_EQ(order, (std::vector<std::string>{"hook", "end"}));
  EXPECT_THROW(queue_callback([] {}), AutogradError);
}

TEST(Autograd, backward_inside_a_hook) {
  Tensor x = leaf({2});
  Tensor w = leaf({3});
  x.register_hook([&](const Tensor&) {
    const EnableGradGuard enable_grad;
    (w * w).sum().backward();
  });
  (x * x).sum().backward();
  expect_near(x.grad(), {4});
  expect_near(w.grad(), {6});
}

// ---- functions written in C++ ----

struct Scale : Function<Scale> {
  static Tensor forward(FunctionContext& context, const Tensor& x, double factor,
                        const Tensor& weight) {
    context.save_for_backward({x, weight});
    EXPECT_FALSE(is_grad_enabled());
    return x * weight * factor;
  }
  static std::vector<Tensor> backward(FunctionContext& context,
                                      const std::vector<Tensor>& gradients) {
    const std::vector<Tensor> saved = context.saved_tensors();
    EXPECT_TRUE(context.needs_input_grad(0));
    EXPECT_FALSE(context.needs_input_grad(1));
    return {gradients[0] * saved[1], {}};
  }
  static std::string name() { return "Scale"; }
};

TEST(Autograd, function_with_arguments_of_all_kinds) {
  Tensor x = leaf({1, 2});
  const Tensor weight = tensor({3.0, 4.0}, kFloat64);
  const Tensor y = Scale::apply(x, 1.0, weight);
  EXPECT_EQ(y.grad_fn().name(), "ScaleBackward");
  y.sum().backward();
  expect_near(x.grad(), {3, 4});
  EXPECT_FALSE(Scale::apply(x.detach(), 1.0, weight).requires_grad());
}

struct ScaleState : FunctionContext {
  double factor = 0;
};

struct SumAndDifference : Function<SumAndDifference, ScaleState> {
  static std::vector<Tensor> forward(ScaleState& context, const Tensor& a, const Tensor& b) {
    context.factor = 2;
    return {a + b, a - b};
  }
  static std::vector<Tensor> backward(ScaleState& context, const std::vector<Tensor>& gradients) {
    return {(gradients[0] + gradients[1]) * context.factor,
            (gradients[0] - gradients[1]) * context.factor};
  }
};

TEST(Autograd, function_of_several_inputs_and_outputs) {
  Tensor a = leaf({1, 2});
  Tensor b = leaf({3, 5});
  const std::vector<Tensor> both = SumAndDifference::apply(a, b);
  (both[0].sum() + both[1].sum() * 3).backward();
  expect_near(a.grad(), {8, 8});
  expect_near(b.grad(), {-4, -4});
  a.set_grad({});
  SumAndDifference::apply(a, b)[0].sum().backward();  // zeros replace the other gradient
  expect_near(a.grad(), {2, 2});
}

Tensor cube(const Tensor& x) {
  return apply_function(
      "Cube", {x},
      [](FunctionContext& context, const std::vector<Tensor>& inputs) {
        context.save_for_backward(inputs);
        return std::vector<Tensor>{inputs[0] * inputs[0] * inputs[0]};
      },
      [](FunctionContext& context, const std::vector<Tensor>& gradients) {
        const Tensor saved = context.saved_tensors().at(0);
        return std::vector<Tensor>{gradients[0] * saved * saved * 3};
      })[0];
}

TEST(Autograd, function_of_two_lambdas_has_second_derivatives) {
  Tensor x = leaf({1, 2});
  BackwardOptions options;
  options.create_graph = true;
  const Tensor first = grad(cube(x).sum(), x, {}, options)[0];
  expect_near(first.detach(), {3, 12});
  expect_near(grad(first.sum(), x)[0], {6, 12});
}

TEST(Autograd, view_that_became_differentiable_says_so_and_gets_its_gradient) {
  Tensor w = leaf({1, 2});
  Tensor base = zeros({2}, DType::kFloat64);
  const Tensor view = base.index({Slice(0, 2)});
  EXPECT_FALSE(view.requires_grad());
  base += w;
  EXPECT_TRUE(view.requires_grad());
  EXPECT_FALSE(view.is_leaf());
  cube(view).sum().backward();
  expect_near(w.grad(), {3, 12});
}

TEST(Autograd, view_made_without_recording_cannot_be_written_with_it) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  for (Tensor* base : {&x, &y}) {
    Tensor view;
    {
      const NoGradGuard no_grad;
      view = base->index({Slice(0, 1)});
    }
    EXPECT_THROW(view *= 2, AutogradError);
    expect_near(base->detach(), {1, 2});
  }
}

TEST(Autograd, saved_tensors_of_a_used_graph_raise) {
  Tensor x = leaf({1});
  const Tensor y = apply_function(
      "Forgetful", {x},
      [](FunctionContext& context, const std::vector<Tensor>& inputs) {
        context.save_for_backward(inputs);
        return std::vector<Tensor>{inputs[0] * 2};
      },
      [](FunctionContext& context, const std::vector<Tensor>& gradients) {
        const bool found = !context.saved_tensors().empty();
        return std::vector<Tensor>{gradients[0] * (found ? 2 : 0)};
      })[0];
  y.backward();
  EXPECT_THROW(y.backward(), AutogradError);
  expect_near(x.grad(), {2});
}

TEST(Autograd, leaf_frozen_after_the_forward_receives_nothing) {
  Tensor w = leaf({1, 2});
  const Tensor y = (w * 2).sum();
  w.requires_grad_(false);
  y.backward();
  EXPECT_FALSE(w.grad().defined());
}

TEST(Autograd, hook_may_not_change_the_dtype) {
  Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor& gradient) { return gradient.astype(DType::kFloat32); });
  EXPECT_THROW((x * 2).sum().backward(), AutogradError);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, mark_dirty_returns_the_same_object) {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  const std::vector<Tensor> results = apply_function(
      "AddOne", {y},
      [](FunctionContext& context, const std::vector<Tensor>& inputs) {
        Tensor changed = inputs[0];
        changed += 1;
        context.mark_dirty({changed});
        return std::vector<Tensor>{changed};
      },
      [](FunctionContext&, const std::vector<Tensor>& gradients) {
        return std::vector<Tensor>{gradients[0] * 5};
      });
  EXPECT_TRUE(results[0].is_same(y));
  results[0].sum().backward();
  expect_near(x.grad(), {5, 5});
}

TEST(Autograd, inputs_that_come_back_keep_their_history) {
  Tensor x = leaf({1, 2});
  const std::vector<Tensor> results = apply_function(
      "Same", {x}, [](FunctionContext&, const std::vector<Tensor>& inputs) { return inputs; },
      [](FunctionContext&, const std::vector<Tensor>& gradients) {
        return std::vector<Tensor>{gradients[0] * 7};
      });
  results[0].sum().backward();
  expect_near(x.grad(), {7, 7});
  EXPECT_TRUE(x.is_leaf());
}

TEST(Autograd, mark_non_differentiable_and_undefined_gradients) {
  Tensor x = leaf({3, 1});
  bool undefined = false;
  const std::vector<Tensor> results = apply_function(
      "Split", {x},
      [](FunctionContext& context, const std::vector<Tensor>& inputs) {
        const Tensor order = inputs[0].argsort();
        context.mark_non_differentiable({order});
        context.pass_undefined_gradients();
        return std::vector<Tensor>{inputs[0] * 2, order, inputs[0] * 3};
      },
      [&](FunctionContext&, const std::vector<Tensor>& gradients) {
        undefined = !gradients[2].defined();
        return std::vector<Tensor>{gradients[0] * 2};
      });
  EXPECT_FALSE(results[1].requires_grad());
  results[0].sum().backward();
  EXPECT_TRUE(undefined);
  expect_near(x.grad(), {2, 2});
}

TEST(Autograd, wrong_backwards_raise) {
  Tensor x = leaf({1});
  const auto forward = [](FunctionContext&, const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{inputs[0] * 2};
  };
  const Tensor two = apply_function("Two", {x}, forward, [](FunctionContext&, const auto& grads) {
    return std::vector<Tensor>{grads[0], grads[0]};
  })[0];
  EXPECT_THROW(two.sum().backward(), AutogradError);
  const Tensor throws = apply_function(
      "Throws", {x}, forward,
      [](FunctionContext&, const auto&) -> std::vector<Tensor> { throw HostError(5); })[0];
  EXPECT_THROW(throws.sum().backward(), HostError);
  EXPECT_THROW(apply_function(
                   "Forward", {x},
                   [](FunctionContext&, const auto&) -> std::vector<Tensor> { throw HostError(6); },
                   [](FunctionContext&, const auto& grads) { return grads; }),
               HostError);
  EXPECT_TRUE(is_grad_enabled());
}

TEST(Autograd, once_differentiable_refuses_a_second_derivative) {
  Tensor x = leaf({2});
  const Tensor y = apply_function(
      "Once", {x},
      [](FunctionContext& context, const std::vector<Tensor>& inputs) {
        context.mark_once_differentiable();
        context.save_for_backward(inputs);
        return std::vector<Tensor>{inputs[0] * inputs[0]};
      },
      [](FunctionContext& context, const std::vector<Tensor>& gradients) {
        return std::vector<Tensor>{gradients[0] * context.saved_tensors()[0] * 2};
      })[0];
  BackwardOptions options;
  options.create_graph = true;
  const Tensor first = grad(y.sum(), x, {}, options)[0];
  EXPECT_THROW(grad(first.sum(), x), AutogradError);
}

TEST(Autograd, saved_tensors_are_packed_and_unpacked) {
  Tensor x = leaf({1, 2.0001}, kFloat32);
  int packed = 0;
  Tensor y;
  {
    const SavedTensorHooks half(
        [&](const Tensor& tensor) {
          ++packed;
          return tensor.to(kFloat16);
        },
        [](const Tensor& tensor) { return tensor.to(kFloat32); });
    y = (x * x).sum();
  }
  const Tensor plain = (x * 2).sum();
  EXPECT_GE(packed, 1);
  const int before = packed;
  (y + plain).backward();
  EXPECT_EQ(packed, before);
  expect_near(x.grad(), {4, 6}, 1e-9);  // float16 cannot represent 2.0001
}

TEST(Autograd, exceptions_of_pack_and_unpack_pass_through) {
  Tensor x = leaf({1});
  const auto same = [](const Tensor& tensor) { return tensor; };
  {
    const SavedTensorHooks hooks([](const Tensor&) -> int { throw HostError(1); },
                                 [&](int) { return x; });
    EXPECT_THROW(static_cast<void>(x * x), HostError);
  }
  const SavedTensorHooks hooks(same, [](const Tensor&) -> Tensor { throw HostError(2); });
  EXPECT_THROW((x * x).sum().backward(), HostError);
}

TEST(Autograd, E9_functions_and_hooks_leave_nothing_behind) {
  const int64_t handles = live_handles();
  const int64_t nodes = live_nodes();
  const auto owned = std::make_shared<int>(1);
  {
    Tensor x = leaf({1, 2});
    x.register_hook([owned](const Tensor&) {});
    x.register_post_accumulate_grad_hook([owned](const Tensor&) {});
    cube(x).sum().backward();
    EXPECT_THROW(cube(x).backward(), AutogradError);
    Tensor plain = ones({1});
    EXPECT_THROW(plain.register_hook([owned](const Tensor&) {}), AutogradError);
    EXPECT_EQ(owned.use_count(), 3);
    x.register_hook([owned](const Tensor&) { throw HostError(1); });
    EXPECT_THROW((x * 2).sum().backward(), HostError);
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(live_handles(), handles);
  EXPECT_EQ(live_nodes(), nodes);
}

TEST(Autograd, threads_run_backward_at_once) {
  constexpr int kThreads = 4;
  Tensor shared = leaf({1, 2, 3});
  std::atomic<int> hooks{0};
  shared.register_post_accumulate_grad_hook([&](const Tensor&) { ++hooks; });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) (shared * 2).sum().backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double expected = 2.0 * 50 * kThreads;
  expect_near(shared.grad(), {expected, expected, expected});
  EXPECT_EQ(hooks, 50 * kThreads);
}

TEST(Autograd, threads_run_one_custom_function_at_once) {
  const Tensor x = leaf({2, 3});
  const Tensor y = cube(x).sum();
  BackwardOptions options;
  options.retain_graph = true;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        if (numbers(grad(y, x, {}, options)[0]) != Numbers{12, 27}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The sum of a list and of three times a tensor.
struct SumOfList : Function<SumOfList> {
  static Tensor forward(FunctionContext& /*context*/, const std::vector<Tensor>& list,
                        const Tensor& more) {
    Tensor total = more * 3;
    for (const Tensor& each : list) total += each;
    return total;
  }
  static std::vector<Tensor> backward(FunctionContext& /*context*/,
                                      const std::vector<Tensor>& gradients) {
    return {gradients[0], gradients[0], gradients[0] * 3};
  }
};

TEST(CustomFunction, lists_of_tensors_are_inputs) {
  const std::vector<Tensor> list = {leaf({1, 2}), leaf({3, 4})};
  const Tensor more = leaf({5, 6});
  const Tensor total = SumOfList::apply(list, more);
  EXPECT_EQ(numbers(total.detach()), (Numbers{19, 24}));
  total.sum().backward();
  EXPECT_EQ(numbers(list[1].grad()), (Numbers{1, 1}));
  EXPECT_EQ(numbers(more.grad()), (Numbers{3, 3}));
}

// first * factor + the sum of a pair, each where there is one.
struct Optionals : Function<Optionals> {
  static Tensor forward(FunctionContext& context, const std::optional<Tensor>& first,
                        const std::array<Tensor, 2>& pair, double factor) {
    context.save_for_backward({tensor(factor, kFloat64)});
    const Tensor sum = pair[0] + pair[1];
    return first ? *first * factor + sum : sum;
  }
  static std::vector<Tensor> backward(FunctionContext& context,
                                      const std::vector<Tensor>& gradients) {
    const Tensor factor = context.saved_tensors().at(0);
    return {context.needs_input_grad(0) ? gradients[0] * factor : Tensor(), gradients[0],
            gradients[0]};
  }
  static std::vector<Tensor> jvp(FunctionContext& /*context*/,
                                 const std::vector<Tensor>& tangents) {
    EXPECT_EQ(tangents.size(), 3U);
    EXPECT_FALSE(tangents[0].defined());
    return {tangents[1] + tangents[2]};
  }
};

TEST(CustomFunction, optional_tensors_and_arrays_are_inputs) {
  const std::optional<Tensor> first = leaf({1, 2});
  const std::array<Tensor, 2> pair = {leaf({3, 4}), leaf({5, 6})};
  Optionals::apply(first, pair, 2.0).sum().backward();
  EXPECT_EQ(numbers(first->grad()), (Numbers{2, 2}));
  EXPECT_EQ(numbers(pair[1].grad()), (Numbers{1, 1}));
  Optionals::apply(std::optional<Tensor>(), pair, 2.0).sum().backward();
  EXPECT_EQ(numbers(pair[0].grad()), (Numbers{2, 2}));

  const DualLevel level;
  const Tensor tangent = tensor({1.0, 3.0}, kFloat64);
  const std::array<Tensor, 2> duals = {make_dual(pair[0], tangent), make_dual(pair[1], tangent)};
  const Tensor y = Optionals::apply(std::optional<Tensor>(), duals, 2.0);
  EXPECT_EQ(numbers(unpack_dual(y).tangent), (Numbers{2, 6}));
}

// Tensors that apply would not find, so that their gradients would be lost, do not compile.
static_assert(detail::holds_tensors<std::map<std::string, Tensor>>());
static_assert(detail::holds_tensors<std::initializer_list<Tensor>>());
static_assert(detail::holds_tensors<TensorList>());
static_assert(!detail::holds_tensors<std::string>() && !detail::holds_tensors<Shape>());

TEST(Tensor, retains_its_gradient_when_asked) {
  Tensor y = leaf({1}) * 2;
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
}

// Half of the derivative that is right.
struct WrongSquare : Function<WrongSquare> {
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x;
  }
  static std::vector<Tensor> backward(FunctionContext& context,
                                      const std::vector<Tensor>& gradients) {
    return {gradients[0] * context.saved_tensors()[0]};
  }
};

TEST(Gradcheck, finds_a_wrong_derivative) {
  const Tensor x = leaf({0.5, 2}), y = leaf({-1, 3});
  using List = std::vector<Tensor>;
  gradcheck([](const List& in) { return in[0].tanh() * in[1]; }, {x, y});
  gradcheck([](const List& in) { return in[0] * 2; }, {x, y});  // y is not used
  const auto wrong = [](const List& in) { return WrongSquare::apply(in[0]); };
  EXPECT_THROW(gradcheck(wrong, {x}), AutogradError);
  EXPECT_THROW(gradcheck(wrong, {x.detach()}), DTypeError);
  EXPECT_NE(message_of<DTypeError>([&] {
              gradcheck([](const List& in) { return in[0].astype(kFloat32); }, {x});
            }).find("expected a float64 output, got float32"),
            std::string::npos);
  const auto broken = [](const List& in) {
    if (!is_grad_enabled()) throw std::runtime_error("stopped");
    return in[0] * 1;
  };
  EXPECT_THROW(gradcheck(broken, {x}), std::runtime_error);
  EXPECT_EQ(numbers(x), (Numbers{0.5, 2}));
}

}  // namespace
}  // namespace test_autograd
