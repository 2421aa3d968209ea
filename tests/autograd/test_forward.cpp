// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode: levels, dual tensors, views, in-place writes, and its mix with backward. The rules
// of the ops are tested with the op table of the Python package (test_forward_ops.py).
#include "autograd/forward.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "support/start_up.h"

namespace tsr::test_forward {
namespace {

using Values = std::vector<double>;

// Also checks that no level stays open and that no node is left.
class ForwardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::start_up();
    live_before_ = live_nodes();
  }
  void TearDown() override {
    EXPECT_EQ(live_nodes(), live_before_);
    EXPECT_EQ(current_forward_level(), kInnermostLevel);
  }

 private:
  int64_t live_before_ = 0;
};

class Level {
 public:
  Level() : id_(enter_forward_level()) {}
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { exit_forward_level(id_); }
  [[nodiscard]] int64_t id() const { return id_; }

 private:
  int64_t id_;
};

Tensor vector(const Values& values) {
  Tensor made = empty(std::array{static_cast<int64_t>(values.size())}, DType::kFloat64);
  std::copy(values.begin(), values.end(), made.data_as<double>());
  return made;
}

Values values(const Tensor& tensor) {
  const Tensor plain = ops::contiguous(tensor.detached());
  const auto* data = plain.data_as<double>();
  return {data, data + plain.numel()};
}

Values tangent(const Tensor& tensor, int64_t level = kInnermostLevel) {
  const Tensor found = unpack_dual(tensor, level).tangent;
  return found.defined() ? values(found) : Values();
}

Tensor dual(const Values& primal, const Values& direction) {
  return make_dual(vector(primal), vector(direction));
}

void expect_error(const std::function<void()>& call, Code code, const std::string& fact) {
  try {
    call();
    ADD_FAILURE() << "expected an error about " << fact;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(fact), std::string::npos) << error.what();
  }
}

TEST_F(ForwardTest, A18_tangent_goes_through_ops) {
  const Level level;
  const Tensor x = dual({1, 2}, {10, 1});
  const Tensor y = ops::add(ops::multiply(x, x), ops::exp(x));
  EXPECT_EQ(values(y), (Values{1 + std::exp(1.0), 4 + std::exp(2.0)}));
  const Values found = tangent(y);
  EXPECT_DOUBLE_EQ(found[0], 10 * (2 + std::exp(1.0)));
  EXPECT_DOUBLE_EQ(found[1], 4 + std::exp(2.0));
  EXPECT_FALSE(requires_grad(y));
}

TEST_F(ForwardTest, A18_no_grad_does_not_stop_tangents_and_inference_mode_does) {
  const Level level;
  const Tensor x = dual({3}, {1});
  {
    const NoGrad off;
    EXPECT_EQ(tangent(ops::square(x)), Values{6});
  }
  {
    const ForwardOff off;
    EXPECT_EQ(current_forward_level(), kInnermostLevel);
    EXPECT_FALSE(needs_grad(x));
  }
  const InferenceMode inference;
  const Tensor y = ops::square(x);
  EXPECT_FALSE(unpack_dual(y).tangent.defined());
}

TEST_F(ForwardTest, A18_level_that_ends_takes_its_tangents) {
  Tensor x;
  Tensor y;
  {
    const Level level;
    x = dual({1, 2}, {1, 1});
    y = ops::sin(x);
    EXPECT_TRUE(has_tangent(y));
  }
  EXPECT_FALSE(x.has(kDualFlag));
  const Level next;
  EXPECT_FALSE(needs_grad(x, y));
  EXPECT_TRUE(tangent(y).empty());
  // An ordinary tensor again: it may become a dual of the next level.
  EXPECT_EQ(tangent(make_dual(y, vector({5, 6}))), (Values{5, 6}));
}

TEST_F(ForwardTest, A18_tensor_gets_tangents_of_level_after_level) {
  Tensor y;
  {
    const Level level;
    y = ops::sin(dual({1, 2}, {1, 1}));
    EXPECT_TRUE(has_tangent(y));
  }
  // The memory for its first tangent is not in use now.
  for (const double factor : {2.0, 3.0}) {
    const Level level;
    EXPECT_FALSE(has_tangent(y));
    ops::multiply(y, dual({1, 1}, {factor, factor}), ops::Out::inplace(y));
    EXPECT_TRUE(y.has(kDualFlag));
    const Values found = tangent(y);
    EXPECT_DOUBLE_EQ(found[0], factor * std::sin(1.0));
    EXPECT_DOUBLE_EQ(found[1], factor * std::sin(2.0));
    const Level inner;
    ops::multiply(y, dual({1, 1}, {5, 5}), ops::Out::inplace(y));
    EXPECT_DOUBLE_EQ(tangent(y)[0], 5 * std::sin(1.0));
    EXPECT_DOUBLE_EQ(tangent(y, level.id())[0], factor * std::sin(1.0));
  }
  EXPECT_FALSE(y.has(kDualFlag));
}

TEST_F(ForwardTest, A18_tensor_with_tangent_may_keep_a_gradient_and_a_history) {
  Tensor x;
  {
    const Level level;
    x = ops::sin(dual({1, 2}, {1, 1})).detached();
    x = make_dual(x, vector({1, 1}));
    set_requires_grad(x, true);
    backward(std::array{ops::sum(ops::square(x))}, {}, {});
    EXPECT_EQ(tangent(grad_of(x)), (Values{2, 2}));
  }
  EXPECT_DOUBLE_EQ(values(grad_of(x))[0], 2 * std::sin(1.0));
}

// With grad mode on, where nothing requires grad, and with a tangent that does.
TEST_F(ForwardTest, A18_tangents_have_a_history_only_where_something_requires_grad) {
  const Level level;
  const Tensor x = dual({1, 2}, {1, 1});
  for (const Tensor& y : {ops::tanh(x), ops::multiply(x, x), ops::sum(x)}) {
    EXPECT_FALSE(requires_grad(unpack_dual(y).tangent));
  }
  const Tensor direction = vector({1, 1});
  set_requires_grad(direction, true);
  const Tensor y = ops::tanh(make_dual(vector({1, 2}), direction));
  EXPECT_FALSE(requires_grad(unpack_dual(y).primal));
  const Tensor slope = unpack_dual(y).tangent;
  ASSERT_TRUE(requires_grad(slope));
  const std::vector<Tensor> found = grad(std::array{ops::sum(slope)}, std::array{direction}, {});
  EXPECT_DOUBLE_EQ(values(found[0])[1], 1 - std::tanh(2.0) * std::tanh(2.0));
}

TEST_F(ForwardTest, A18_nested_levels_do_not_mix_their_tangents) {
  // d/dx (x d/dy (x + y)) at 1 is 1; a forward mode that mixes its levels finds 2.
  const Level outer;
  const Tensor x = make_dual(vector({1}), vector({1}), outer.id());
  Tensor inner_tangent;
  {
    const Level inner;
    const Tensor y = make_dual(vector({1}), vector({1}), inner.id());
    inner_tangent = unpack_dual(ops::add(x, y), inner.id()).tangent;
  }
  EXPECT_EQ(tangent(ops::multiply(x, inner_tangent), outer.id()), Values{1});
}

TEST_F(ForwardTest, A18_nested_levels_give_second_derivatives) {
  const Level outer;
  const Tensor x = make_dual(vector({2}), vector({1}), outer.id());
  Tensor slope;
  {
    const Level inner;
    const Tensor dual = make_dual(x, vector({1}), inner.id());
    slope = unpack_dual(ops::multiply(ops::square(dual), dual), inner.id()).tangent;
    EXPECT_EQ(values(slope), Values{12});
  }
  EXPECT_EQ(tangent(slope, outer.id()), Values{12});  // (x³)'' = 6 x
}

TEST_F(ForwardTest, A18_general_rule_nests_too) {
  // softmax-like: exp(x) / sum(exp(x)), by sum over an axis and divide, twice differentiated.
  const auto f = [](const Tensor& x) {
    const Tensor e = ops::exp(x);
    return ops::divide(e, ops::sum(e));
  };
  const Values at{0.3, -0.2, 0.5};
  const auto slope = [&](const Values& x) {
    const Level level;
    return values(unpack_dual(f(dual(x, {1, 2, -1}))).tangent);
  };
  const Level outer;
  const Tensor x = make_dual(vector(at), vector({0.5, -1, 2}), outer.id());
  Tensor found;
  {
    const Level inner;
    found = unpack_dual(f(make_dual(x, vector({1, 2, -1}))), inner.id()).tangent;
  }
  const Values second = tangent(found, outer.id());
  constexpr double kStep = 1e-6;
  const Values direction{0.5, -1, 2};
  Values up = at;
  Values down = at;
  for (size_t i = 0; i < at.size(); ++i) {
    up[i] += kStep * direction[i];
    down[i] -= kStep * direction[i];
  }
  const Values high = slope(up);
  const Values low = slope(down);
  ASSERT_EQ(second.size(), high.size());
  for (size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(second[i], (high[i] - low[i]) / (2 * kStep), 1e-8);
  }
}

TEST_F(ForwardTest, A18_tangent_of_a_view_is_the_view_of_the_tangent) {
  const Level level;
  const Tensor x = dual({1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60});
  const Tensor matrix = ops::reshape(x, Dims{2, 3});
  EXPECT_EQ(tangent(ops::transpose(matrix, 0, 1)), (Values{10, 40, 20, 50, 30, 60}));
  EXPECT_EQ(tangent(ops::select(matrix, 0, 1)), (Values{40, 50, 60}));
}

TEST_F(ForwardTest, A18_write_into_a_view_reaches_the_base_and_other_views) {
  const Level level;
  const NoGrad off;
  const Tensor x = ops::zeros(Dims{2, 2}, DType::kFloat64);
  const Tensor row = ops::select(x, 0, 1);
  const Tensor column = ops::select(x, 1, 0);
  ops::copy_(row, dual({1, 2}, {3, 4}));
  EXPECT_EQ(values(x), (Values{0, 0, 1, 2}));
  EXPECT_EQ(tangent(x), (Values{0, 0, 3, 4}));
  EXPECT_EQ(tangent(column), (Values{0, 3}));
  // A constant clears the tangent of what it overwrites.
  ops::copy_(column, vector({7, 8}));
  EXPECT_EQ(tangent(x), (Values{0, 0, 0, 4}));
  EXPECT_EQ(tangent(row), (Values{0, 4}));
}

TEST_F(ForwardTest, A18_in_place_forms_update_the_tangent) {
  const Level level;
  const Tensor given = vector({1, 1});
  const Tensor x = make_dual(vector({2, 3}), given);
  ops::square(x, ops::Out::inplace(x));
  EXPECT_EQ(tangent(x), (Values{4, 6}));
  expect_error([&] { ops::multiply(x, x, ops::Out::inplace(x)); }, Code::kAutograd, "in-place");
  ops::copy_(x, make_dual(vector({4, 9}), vector({4, 6})));
  ops::exp(x, ops::Out::inplace(x));
  EXPECT_DOUBLE_EQ(tangent(x)[0], 4 * std::exp(4.0));
  ops::fill_(x, 1);
  EXPECT_TRUE(tangent(x).empty() || tangent(x) == (Values{0, 0}));
  EXPECT_EQ(values(given), (Values{1, 1})) << "the caller's tangent is not written";
}

TEST_F(ForwardTest, A18_view_of_the_callers_tangent_is_not_written) {
  const Level level;
  const NoGrad off;
  const Tensor given = vector({1, 1});
  const Tensor x = make_dual(vector({2, 3}), given);
  const Tensor first = ops::select(x, 0, 0);
  ops::multiply(first, 10, ops::Out::inplace(first));
  EXPECT_EQ(tangent(x), (Values{10, 1}));
  EXPECT_EQ(values(given), (Values{1, 1}));
}

TEST_F(ForwardTest, A18_tangent_of_another_layout_serves_views) {
  const Level level;
  const Tensor matrix = ops::reshape(vector({1, 2, 3, 4}), Dims{2, 2});
  const Tensor turned = ops::transpose(ops::reshape(vector({5, 6, 7, 8}), Dims{2, 2}), 0, 1);
  const Tensor x = make_dual(matrix, turned);
  EXPECT_EQ(tangent(ops::select(x, 0, 0)), (Values{5, 7}));
  const Tensor one = ops::ones(Dims{1}, DType::kFloat64);
  const Tensor y = make_dual(matrix, ops::broadcast_to(one, Dims{2, 2}));
  EXPECT_EQ(tangent(ops::select(y, 1, 1)), (Values{1, 1}));
}

TEST_F(ForwardTest, A18_primal_with_overlapping_elements_is_copied) {
  const Level level;
  const Tensor wide = ops::broadcast_to(vector({2}), Dims{3});
  const Tensor x = make_dual(wide, vector({1, 2, 3}));
  EXPECT_EQ(tangent(ops::select(x, 0, 2)), Values{3});
  EXPECT_EQ(tangent(ops::square(x)), (Values{4, 8, 12}));
}

TEST_F(ForwardTest, A18_complex_views_have_tangents) {
  const Level level;
  const Tensor parts = ops::reshape(dual({1, 2, 3, 4}, {5, 6, 7, 8}), Dims{2, 2});
  const Tensor z = ops::view_as_complex(parts);
  EXPECT_EQ(tangent(ops::imag(z)), (Values{6, 8}));
  EXPECT_EQ(tangent(ops::imag(ops::square(z))), (Values{2 * (1 * 6 + 2 * 5), 2 * (3 * 8 + 4 * 7)}));
}

TEST_F(ForwardTest, A18_forward_over_reverse_gives_hessian_times_vector) {
  // f = sum(x³): the Hessian is diag(6 x).
  const Tensor x = vector({1, 2, 3});
  set_requires_grad(x, true);
  const Level level;
  const Tensor p = make_dual(x, vector({1, 0, 2}));
  const Tensor y = ops::sum(ops::multiply(ops::square(p), p));
  EXPECT_EQ(tangent(y), Values{3 + 2 * 27});
  const Tensor gradient = grad(std::array{y}, std::array{p})[0];
  EXPECT_EQ(values(gradient), (Values{3, 12, 27}));
  EXPECT_EQ(tangent(gradient), (Values{6, 0, 36}));
}

TEST_F(ForwardTest, A18_backward_stores_gradients_with_tangents) {
  const Tensor x = vector({1, 2});
  set_requires_grad(x, true);
  {
    const Level level;
    const Tensor p = make_dual(x, vector({1, 1}));
    for (int i = 0; i < 2; ++i) backward(std::array{ops::sum(ops::multiply(ops::exp(p), p))});
    const Values found = tangent(grad_of(x));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_DOUBLE_EQ(found[0], 2 * 3 * std::exp(1.0));  // (x eˣ)'' = (x + 2) eˣ
    EXPECT_DOUBLE_EQ(found[1], 2 * 4 * std::exp(2.0));
  }
  set_grad(x, {});
}

TEST_F(ForwardTest, A18_reverse_over_forward_gives_hessian_times_vector) {
  const Tensor x = vector({1, 2, 3});
  set_requires_grad(x, true);
  const Level level;
  const Tensor p = make_dual(x, vector({1, 0, 2}));
  const Tensor slope = unpack_dual(ops::sum(ops::multiply(ops::square(p), p))).tangent;
  ASSERT_TRUE(requires_grad(slope));
  EXPECT_EQ(values(grad(std::array{slope}, std::array{x})[0]), (Values{6, 0, 36}));
}

TEST_F(ForwardTest, A18_saved_outputs_have_tangents_and_leak_nothing) {
  const Tensor x = vector({0.5});
  set_requires_grad(x, true);
  Tensor y;
  {
    const Level level;
    // exp saves its output, whose tangent has a history that leads to the same node.
    y = ops::exp(make_dual(x, vector({1})));
    const Tensor gradient = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
    EXPECT_DOUBLE_EQ(tangent(gradient)[0], std::exp(0.5));
  }
  y.reset();
}

TEST_F(ForwardTest, A18_nested_levels_of_a_recorded_op_that_saves_its_output) {
  const Tensor x = vector({0.5});
  set_requires_grad(x, true);
  const Level outer;
  const Tensor p = make_dual(x, vector({1}), outer.id());
  Tensor slope;
  {
    const Level inner;
    slope = unpack_dual(ops::exp(make_dual(p, vector({1}))), inner.id()).tangent;
  }
  EXPECT_DOUBLE_EQ(tangent(slope, outer.id())[0], std::exp(0.5));
}

TEST_F(ForwardTest, A18_no_node_is_attached_without_grad_mode) {
  const Tensor x = vector({1, 2});
  set_requires_grad(x, true);
  const Level level;
  const NoGrad off;
  const Tensor y = ops::multiply(make_dual(x, vector({1, 1})), x);
  EXPECT_FALSE(requires_grad(y));
  EXPECT_EQ(tangent(y), (Values{1, 2}));
  // Writing to the leaf itself stays allowed here, and refused with grad mode.
  ops::multiply(x, dual({1, 1}, {1, 1}), ops::Out::inplace(x));
  EXPECT_EQ(tangent(x), (Values{1, 2}));
  const EnableGrad on;
  expect_error(
      [&] {
        ops::multiply(x, dual({1, 1}, {1, 1}), ops::Out::inplace(x));
      },
      Code::kAutograd, "leaf that requires grad");
}

TEST_F(ForwardTest, A18_detach_keeps_the_tangent_and_primal_has_none) {
  const Tensor x = vector({1});
  set_requires_grad(x, true);
  const Level level;
  const Tensor p = make_dual(x, vector({4}));
  EXPECT_TRUE(requires_grad(p));
  const Tensor cut = detach(p);
  EXPECT_FALSE(requires_grad(cut));
  EXPECT_EQ(tangent(cut), Values{4});
  const Unpacked parts = unpack_dual(p);
  EXPECT_TRUE(requires_grad(parts.primal));
  EXPECT_TRUE(tangent(parts.primal).empty());
}

TEST_F(ForwardTest, A18_misuse_is_a_typed_error) {
  const Tensor x = vector({1, 2});
  expect_error([&] { make_dual(x, x); }, Code::kAutograd, "open level");
  expect_error([] { exit_forward_level(kInnermostLevel); }, Code::kAutograd, "open level");
  const Level outer;
  expect_error([&] { make_dual(x, vector({1})); }, Code::kShape, "primal's shape");
  expect_error([&] { make_dual(x, ops::astype(x, DType::kFloat32)); }, Code::kDType, "type");
  const Tensor whole = ops::astype(x, DType::kInt64);
  expect_error([&] { make_dual(whole, whole); }, Code::kDType, "floating or complex");
  const Tensor p = make_dual(x, x);
  expect_error([&] { make_dual(p, x); }, Code::kAutograd, "has a tangent there already");
  expect_error([&] { make_dual(x, p); }, Code::kAutograd, "without tangent at level");
  expect_error([&] { make_dual(x, x, 1 << 30); }, Code::kAutograd, "open on this thread");
  {
    const Level inner;
    expect_error([&] { exit_forward_level(outer.id()); }, Code::kAutograd, "innermost");
  }
  const Tensor out = vector({0, 0});
  expect_error([&] { ops::exp(p, ops::Out::into(out)); }, Code::kAutograd, "out= forms");
  expect_error([&] { ops::exp(x, ops::Out::into(p)); }, Code::kAutograd, "out= forms");
}

TEST_F(ForwardTest, A18_thread_that_ends_closes_its_levels) {
  Tensor y;
  std::thread([&] {
    enter_forward_level();
    y = ops::exp(dual({1}, {1}));
    EXPECT_TRUE(has_tangent(y));
  }).join();
  EXPECT_FALSE(y.has(kDualFlag));
}

TEST_F(ForwardTest, A18_tangents_of_another_thread_are_not_seen) {
  const Level level;
  const Tensor x = dual({1}, {1});
  std::thread([&] {
    const Level own;
    EXPECT_TRUE(tangent(ops::exp(x)).empty());
  }).join();
  EXPECT_EQ(tangent(x), Values{1});
}

TEST_F(ForwardTest, A18_tensor_may_end_on_another_thread) {
  const Level level;
  Tensor x = dual({1}, {1});
  std::thread([taken = std::move(x)]() mutable { taken.reset(); }).join();
}

// ---- custom functions ----

class Square final : public CustomFunction {
 public:
  explicit Square(bool with_jvp) : with_jvp_(with_jvp) {}
  void backward(CustomNode& node, std::span<const Tensor> grads,
                std::span<Tensor> results) override {
    results[0] = ops::multiply(ops::multiply(grads[0], node.saved(0)), 2);
  }
  [[nodiscard]] bool has_jvp() const noexcept override { return with_jvp_; }
  void jvp(CustomNode& node, std::span<const Tensor> tangents, std::span<Tensor> results) override {
    results[0] = ops::multiply(ops::multiply(tangents[0], node.saved_for_forward(0)), 2);
  }

 private:
  bool with_jvp_;
};

Tensor square(const Tensor& x, bool with_jvp = true) {
  const auto node = CustomNode::create("Square", std::array{x}, std::make_unique<Square>(with_jvp));
  Tensor y;
  {
    const NoGrad off;
    const ForwardOff also_off;
    y = ops::square(x);
  }
  node->save(std::array{x});
  node->save_for_forward(std::array{x});
  node->attach(std::array{y});
  return y;
}

TEST_F(ForwardTest, A18_custom_function_uses_its_jvp) {
  const Tensor x = vector({1, 2});
  const Level level;
  EXPECT_EQ(tangent(square(make_dual(x, vector({1, 10})))), (Values{2, 40}));
  set_requires_grad(x, true);
  const Tensor p = make_dual(x, vector({1, 10}));
  const Tensor y = square(p);
  EXPECT_EQ(tangent(y), (Values{2, 40}));
  const Tensor gradient = grad(std::array{ops::sum(y)}, std::array{p})[0];
  EXPECT_EQ(tangent(gradient), (Values{2, 20}));
}

TEST_F(ForwardTest, A18_custom_function_without_jvp_names_itself) {
  const Level level;
  const Tensor x = dual({1}, {1});
  expect_error([&] { square(x, false); }, Code::kAutograd, "Square has no jvp");
  EXPECT_EQ(values(square(vector({3}), false)), Values{9});
}

TEST_F(ForwardTest, A18_custom_function_is_attached_while_the_levels_of_its_inputs_are_open) {
  const auto create = [](const Tensor& x) {
    return CustomNode::create("Square", std::array{x}, std::make_unique<Square>(true));
  };
  const std::string fact = "that has been left or is another thread's";
  const Tensor y = vector({1});
  IntrusivePtr<CustomNode> node;
  {
    const Level left;
    node = create(dual({1}, {1}));
  }
  const Level level;
  expect_error([&] { node->attach(std::array{y}); }, Code::kAutograd, fact);
  const Tensor x = dual({3}, {1});
  node = create(x);
  std::thread([&] {
    const Level own;
    expect_error([&] { node->attach(std::array{y}); }, Code::kAutograd, fact);
  }).join();
  node->save_for_forward(std::array{x});
  node->attach(std::array{y});
  EXPECT_EQ(tangent(y), Values{6});
}

}  // namespace
}  // namespace tsr::test_forward
