// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/custom_function.h"

#include <gtest/gtest.h>

#include "toy_ops.h"

namespace tsr::test_custom_function {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::Values;
using toy::values;

using CustomFunctionTest = toy::GraphTest;

using Call = std::function<void(CustomNode&, std::span<const Tensor>, std::span<Tensor>)>;

// A derivative given as a callable; counts how often it is dropped.
class Counted final : public CustomFunction {
 public:
  Counted(Call call, int& drops) : call_(std::move(call)), drops_(drops) {}
  ~Counted() override { ++drops_; }
  void backward(CustomNode& node, std::span<const Tensor> grads,
                std::span<Tensor> results) override {
    call_(node, grads, results);
  }

 private:
  Call call_;
  int& drops_;
};

int g_drops = 0;

IntrusivePtr<CustomNode> make_node(std::span<const Tensor> inputs, Call call) {
  return CustomNode::create("MineBackward", inputs, std::make_unique<Counted>(call, g_drops));
}

// x * x as a custom function that saves x.
Tensor square(const Tensor& x, const Call& derivative) {
  const auto node = make_node(std::array{x}, derivative);
  Tensor y;
  {
    const NoGrad guard;
    y = toy::mul(x, x);
  }
  node->save(std::array{x});
  node->attach(std::array{y});
  return y;
}

void square_backward(CustomNode& node, std::span<const Tensor> grads, std::span<Tensor> results) {
  results[0] = toy::scale(toy::mul(grads[0], node.saved(0)), 2);
}

TEST_F(CustomFunctionTest, E9_derivative_runs_and_is_dropped_once) {
  g_drops = 0;
  {
    const Tensor x = leaf({2}, {3, 4});
    const Tensor y = square(x, square_backward);
    EXPECT_STREQ(grad_fn(y)->name(), "MineBackward");
    backward(std::array{toy::sum(y)});
    EXPECT_EQ(grad_values(x), (Values{6, 8}));
    EXPECT_EQ(g_drops, 0);
  }
  EXPECT_EQ(g_drops, 1);
}

TEST_F(CustomFunctionTest, derivative_made_of_ops_is_differentiable) {
  const Tensor x = leaf({1}, {3});
  const Tensor y = square(toy::mul(x, x), square_backward);  // x^4
  const auto first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{108}));
  EXPECT_EQ(values(grad(std::array{first[0]}, std::array{x})[0]), (Values{108}));
}

TEST_F(CustomFunctionTest, E7_once_differentiable_raises_only_when_differentiated_again) {
  const Tensor x = leaf({1}, {3});
  const auto node = make_node(std::array{x}, square_backward);
  const Tensor y = make({1}, {9});
  node->set_once_differentiable(true);
  node->save(std::array{x});
  node->attach(std::array{y});
  const Tensor weight = leaf({1}, {1});
  const auto first = grad(std::array{y}, std::array{x}, std::array{weight}, {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{6}));
  expect_error([&] { grad(std::array{first[0]}, std::array{weight}); }, "once_differentiable");
}

TEST_F(CustomFunctionTest, real_gradient_is_cast_and_a_complex_one_for_a_real_input_is_refused) {
  const Tensor x = leaf({1}, {3});
  const auto apply = [&](const Tensor& gradient) {
    const auto node =
        make_node(std::array{x}, [gradient](auto&, auto, auto results) { results[0] = gradient; });
    const Tensor y = make({1}, {9});
    node->attach(std::array{y});
    backward(std::array{y});
  };
  apply(make({1}, {5}, DType::kFloat32));
  EXPECT_EQ(grad_of(x).dtype(), DType::kFloat64);
  EXPECT_EQ(grad_values(x), (Values{5}));
  expect_error([&] { apply(empty(std::array<int64_t, 1>{1}, DType::kComplex128)); },
               "expected MineBackward to return a real gradient for its input 0");
}

TEST_F(CustomFunctionTest, view_that_became_differentiable_gets_its_gradient) {
  const Tensor w = leaf({1}, {3});
  const Tensor base = make({2}, {1, 2});
  const Tensor view = toy::slice(base, 0, 1);
  toy::mul_inplace(base, w);
  const auto node = make_node(std::array{view}, square_backward);
  EXPECT_TRUE(node->needs_input_grad(0));
  const Tensor y = make({1}, {9});
  node->save(std::array{view});
  node->attach(std::array{y});
  backward(std::array{y});
  EXPECT_EQ(grad_values(w), (Values{6}));
}

TEST_F(CustomFunctionTest, nothing_is_recorded_when_no_input_needs_grad) {
  const Tensor x = make({1}, {3});
  const auto node = make_node(std::array{x}, square_backward);
  EXPECT_FALSE(node->records());
  const Tensor y = make({1}, {9});
  node->save(std::array{x, y});
  node->attach(std::array{y});
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(node->saved_count(), 0U);
}

TEST_F(CustomFunctionTest, A10_needs_input_grad_tells_inputs_apart) {
  const Tensor x = leaf({1}, {3});
  const Tensor c = make({1}, {2});
  const auto node = make_node(std::array{x, c}, [](auto& self, auto grads, auto results) {
    EXPECT_TRUE(self.needs_input_grad(0));
    EXPECT_FALSE(self.needs_input_grad(1));
    results[0] = grads[0];
    results[1] = grads[0];  // ignored
  });
  const Tensor y = make({1}, {5});
  node->attach(std::array{y});
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{1}));
  expect_error([&] { static_cast<void>(node->needs_input_grad(2)); }, "2", Code::kIndex);
}

TEST_F(CustomFunctionTest, A10_unused_outputs_get_zeros_unless_told_otherwise) {
  for (const bool materialize : {true, false}) {
    const Tensor x = leaf({1}, {3});
    const auto node = make_node(std::array{x}, [=](auto&, auto grads, auto results) {
      EXPECT_EQ(grads[1].defined(), materialize);
      if (materialize) {
        EXPECT_EQ(values(grads[1]), (Values{0, 0}));
      }
      results[0] = grads[0];
    });
    node->set_materialize_grads(materialize);
    const Tensor y = make({1}, {1});
    const Tensor z = make({2}, {1, 2});
    node->attach(std::array{y, z});
    backward(std::array{y});
    EXPECT_EQ(grad_values(x), (Values{1}));
  }
}

TEST_F(CustomFunctionTest, A10_non_differentiable_and_integer_outputs_stay_outside) {
  const Tensor x = leaf({1}, {3});
  const auto node =
      make_node(std::array{x}, [](auto&, auto grads, auto results) { results[0] = grads[0]; });
  const Tensor y = make({1}, {1});
  const Tensor aside = make({1}, {1});
  const Tensor index = empty(std::array<int64_t, 1>{1}, DType::kInt64);
  node->mark_non_differentiable(std::array{aside});
  node->attach(std::array{y, aside, index});
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(aside.requires_grad());
  EXPECT_FALSE(index.requires_grad());
}

TEST_F(CustomFunctionTest, A10_I10_dirty_input_is_rebased_and_its_version_raised) {
  const Tensor x = leaf({1}, {3});
  const Tensor h = toy::scale(x, 1);
  const auto node = make_node(
      std::array{h}, [](auto&, auto grads, auto results) { results[0] = toy::scale(grads[0], 7); });
  const uint32_t version = h.version();
  node->mark_dirty(std::array{h});
  node->attach(std::array{h});
  EXPECT_GT(h.version(), version);
  EXPECT_STREQ(grad_fn(h)->name(), "MineBackward");
  backward(std::array{h});
  EXPECT_EQ(grad_values(x), (Values{7}));
}

TEST_F(CustomFunctionTest, I10_dirty_view_reaches_its_base) {
  const Tensor x = leaf({2}, {3, 4});
  const Tensor base = toy::scale(x, 1);
  const Tensor part = toy::slice(base, 1, 2);
  const auto node = make_node(std::array{part}, [](auto&, auto grads, auto results) {
    results[0] = toy::scale(grads[0], 7);
  });
  node->mark_dirty(std::array{part});
  node->attach(std::array{part});
  backward(std::array{toy::sum(base)});
  EXPECT_EQ(grad_values(x), (Values{1, 7}));
}

TEST_F(CustomFunctionTest, I10_dirty_view_is_the_only_differentiable_output) {
  const Tensor x = leaf({2}, {3, 4});
  const Tensor base = toy::scale(x, 1);
  const Tensor part = toy::slice(base, 1, 2);
  const Tensor other = make({1}, {5});
  const auto node = make_node(std::array{part}, [](auto&, auto grads, auto results) {
    results[0] = toy::scale(grads[0], 7);
  });
  node->mark_dirty(std::array{part});
  const uint32_t version = part.version();
  const std::array outputs{part, other};
  expect_error([&] { node->attach(outputs); },
               "expected MineBackward to have one differentiable output, because it writes into a "
               "view in place, got 2");
  EXPECT_EQ(part.version(), version);
  node->mark_non_differentiable(std::array{other});
  node->attach(outputs);
  backward(std::array{toy::sum(base)});
  EXPECT_EQ(grad_values(x), (Values{1, 7}));
}

TEST_F(CustomFunctionTest, A10_wrong_outputs_are_refused) {
  const Tensor x = toy::scale(leaf({1}, {3}), 1);
  const Call none = [](auto&, auto, auto) {};
  expect_error([&] { make_node(std::array{x}, none)->attach(std::array{x}); }, "got an input");
  expect_error(
      [&] {
        const auto node = make_node(std::array{x}, none);
        node->mark_dirty(std::array{x});
        node->attach(std::array{make({1}, {1})});
      },
      "marked dirty");
  const auto node = make_node(std::array{x}, none);
  node->attach(std::array{make({1}, {1})});
  expect_error([&] { node->attach(std::array{make({1}, {1})}); }, "one call");
}

TEST_F(CustomFunctionTest, I8_view_from_a_custom_function_cannot_be_written) {
  const Tensor x = leaf({2}, {3, 4});
  const auto node =
      make_node(std::array{x}, [](auto&, auto grads, auto results) { results[0] = grads[0]; });
  Tensor view;
  {
    const NoGrad guard;
    view = toy::slice(x, 0, 2);
  }
  node->attach(std::array{view});
  expect_error([&] { toy::scale_inplace(view, 2); }, "custom function");
}

TEST_F(CustomFunctionTest, A15_saved_output_makes_no_cycle_in_either_order) {
  for (const bool save_first : {true, false}) {
    const int64_t before = live_nodes();
    {
      const Tensor x = leaf({1}, {0});
      const auto node = make_node(std::array{x}, [](auto& self, auto grads, auto results) {
        results[0] = toy::mul(grads[0], self.saved(0));
      });
      const Tensor y = make({1}, {5});
      if (save_first) node->save(std::array{y});
      node->attach(std::array{y});
      if (!save_first) node->save(std::array{y});
      backward(std::array{y});
      EXPECT_EQ(grad_values(x), (Values{5}));
    }
    EXPECT_EQ(live_nodes(), before);
  }
}

TEST_F(CustomFunctionTest, saved_tensors_are_checked_and_released_as_in_every_node) {
  const Tensor x = leaf({1}, {3});
  const Tensor h = toy::scale(x, 1);
  Tensor y = square(h, square_backward);
  toy::scale_inplace(h, 2);
  expect_error([&] { backward(std::array{y}); }, "in-place operation");
  y = square(x, square_backward);
  backward(std::array{y});
  expect_error([&] { backward(std::array{y}); }, "(retain_graph)");
}

TEST_F(CustomFunctionTest, E19_exception_of_the_host_comes_out_as_it_went_in) {
  const Tensor x = leaf({1}, {3});
  const auto payload = std::make_shared<int>(42);
  const Tensor y = square(x, [&](auto&, auto, auto) {
    Error error(Code::kCallback, nullptr, "from the host");
    error.set_payload(payload);
    throw error;
  });
  try {
    backward(std::array{toy::scale(y, 2)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "from the host");
    EXPECT_EQ(error.payload(), payload);
  }
}

TEST_F(CustomFunctionTest, A10_E20_wrong_gradient_shape_names_the_function) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor y = square(x, [](auto&, auto, auto results) {
    results[0] = make({5}, {1, 2, 3, 4, 5});
  });
  expect_error([&] { backward(std::array{toy::sum(y)}); }, "MineBackward");
}

TEST_F(CustomFunctionTest, A10_node_of_a_write_through_a_view_outlives_the_graph) {
  const Tensor x = leaf({2}, {1, 2});
  Tensor base = toy::scale(x, 1);
  Tensor view = toy::slice(base, 0, 1);
  const auto node = make_node(
      std::array{view}, [](CustomNode&, std::span<const Tensor> grads, std::span<Tensor> results) {
        results[0] = toy::scale(grads[0], 3);
      });
  {
    const NoGrad guard;
    toy::scale_inplace(view, 3);
  }
  node->mark_dirty(std::array{view});
  node->save(std::array{view});
  node->attach(std::array{view});
  view.reset();
  base.reset();
  const Tensor saved = node->saved(0);
  EXPECT_EQ(values(saved), (Values{3}));
  EXPECT_EQ(grad_fn(saved).get(), node.get());
}

TEST_F(CustomFunctionTest, A10_mark_of_a_tensor_that_is_gone_marks_no_other) {
  const Tensor x = leaf({1}, {2});
  const auto node = make_node(std::array{x}, square_backward);
  node->mark_non_differentiable(std::array{make({1}, {0})});
  Tensor y;
  {
    const NoGrad guard;
    y = toy::scale(x, 2);  // may get the place of the tensor above
  }
  node->save(std::array{x});
  node->attach(std::array{y});
  EXPECT_TRUE(requires_grad(y));
}

}  // namespace
}  // namespace tsr::test_custom_function
