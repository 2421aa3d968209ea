// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/anomaly.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/metadata.h"
#include "autograd/record.h"
#include "base/host_stack.h"
#include "toy_ops.h"

namespace tsr::test_anomaly {
namespace {

using toy::leaf;
using toy::message_of;

// The mode on, with a stack that numbers its calls.
class A21_Anomaly : public toy::GraphTest {
 protected:
  void SetUp() override {
    toy::GraphTest::SetUp();
    calls_ = 0;
    ask([this] { return "call " + std::to_string(++calls_) + "\n"; });
    set_anomaly_mode({true, true});
  }
  void TearDown() override {
    set_anomaly_mode({});
    set_host_stack(nullptr);
    toy::GraphTest::TearDown();
  }

  static void ask(HostStackSource source) {
    set_host_stack(std::make_shared<const HostStackSource>(std::move(source)));
  }
  static std::string stack_of(const Node& node) {
    const auto found = find_metadata(node, kStackKey);
    return found.has_value() ? found->text : "none";
  }

  // y = x, whose derivative is `factor` times the gradient, or throws for 0.
  static Tensor with_derivative(const Tensor& x, double factor) {
    Tensor y = toy::make({1}, {1});
    record(y, "OddBackward", {x}, {}, [factor](Backward& ctx) {
      TSR_CHECK(factor != 0, Code::kValue, nullptr, "expected a factor, got 0");
      ctx.set(0, toy::scale(ctx.grad(), factor));
    });
    return y;
  }

  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  int calls_ = 0;
};

TEST_F(A21_Anomaly, each_node_keeps_the_stack_of_its_forward) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::exp(x);
  const int first = calls_;
  const Tensor z = toy::exp(y);
  EXPECT_EQ(stack_of(*grad_fn(z)), "call " + std::to_string(calls_));
  EXPECT_GT(calls_, first);
  set_anomaly_mode({});
  EXPECT_EQ(stack_of(*grad_fn(toy::exp(y))), "none");
}

TEST_F(A21_Anomaly, the_node_that_makes_nan_is_named) {
  const Tensor x = leaf({1}, {2});
  const Tensor loss = toy::sum(with_derivative(x, kNan));
  const std::string text = message_of([&] { backward({&loss, 1}); });
  EXPECT_NE(text.find("Function 'OddBackward' returned nan values in its 0th output"),
            std::string::npos);
  EXPECT_NE(text.find("The forward of OddBackward was called here:\n  call "), std::string::npos);
}

TEST_F(A21_Anomaly, a_node_that_passes_nan_on_is_not_blamed) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::scale(x, 3);
  const Tensor weight = toy::make({1}, {kNan});
  backward({&y, 1}, {&weight, 1});
  EXPECT_TRUE(std::isnan(toy::grad_values(x)[0]));
}

TEST_F(A21_Anomaly, nan_is_not_looked_for_without_the_flag) {
  set_anomaly_mode({true, false});
  const Tensor x = leaf({1}, {2});
  const Tensor y = with_derivative(x, kNan);
  backward({&y, 1});
  EXPECT_TRUE(std::isnan(toy::grad_values(x)[0]));
}

TEST_F(A21_Anomaly, an_error_keeps_its_code_and_says_where_the_forward_was_called) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = with_derivative(x, 0);
  const std::string wanted =
      "The forward of OddBackward was called here:\n  " + stack_of(*grad_fn(y));
  const std::string text = message_of([&] { backward({&y, 1}); }, Code::kValue);
  EXPECT_EQ(text.find("in OddBackward: expected a factor, got 0\n"), 0U);
  EXPECT_NE(text.find(wanted), std::string::npos);
}

TEST_F(A21_Anomaly, a_forward_outside_the_mode_is_said_to_be) {
  set_anomaly_mode({});
  const Tensor x = leaf({1}, {2});
  const Tensor y = with_derivative(x, 0);
  set_anomaly_mode({true, true});
  const std::string text = message_of([&] { backward({&y, 1}); }, Code::kValue);
  EXPECT_NE(text.find("was not recorded in anomaly mode"), std::string::npos);
}

TEST_F(A21_Anomaly, a_node_made_in_a_backward_names_the_one_that_made_it) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::exp(x);
  const std::string wanted =
      "The forward of ExpBackward was called here:\n  " + stack_of(*grad_fn(y));
  BackwardOptions options;
  options.create_graph = true;
  const std::vector<Tensor> first = grad({&y, 1}, {&x, 1}, {}, options);
  const auto parent = find_metadata(*grad_fn(first[0]), kParentKey);
  ASSERT_TRUE(parent.has_value());
  EXPECT_NE(parent->text.find(wanted), std::string::npos);
}

TEST_F(A21_Anomaly, a_stack_that_makes_nodes_or_fails_does_no_harm) {
  const Tensor x = leaf({1}, {2});
  ask([&x] { return std::to_string(toy::values(toy::exp(x)).size()); });
  EXPECT_EQ(stack_of(*grad_fn(toy::exp(x))), "1");
  ask([]() -> std::string { fail(Code::kCallback, nullptr, "", 0, "lost"); });
  EXPECT_NE(stack_of(*grad_fn(toy::exp(x))).find("failed to give its call stack: lost"),
            std::string::npos);
  set_host_stack(nullptr);
  const Tensor y = with_derivative(x, 0);
  const std::string text = message_of([&] { backward({&y, 1}); }, Code::kValue);
  EXPECT_NE(text.find("its host gave no call stack"), std::string::npos);
}

TEST_F(A21_Anomaly, the_history_of_a_rewritten_view_is_made_without_the_host) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor base = toy::scale(x, 1);
  const Tensor view = as_strided_view(base, Dims{1}, Dims{1}, 0);
  toy::mul_inplace(base, toy::make({2}, {3, 3}));
  const int before = calls_;
  EXPECT_EQ(stack_of(*grad_fn(view)), "none");  // made now, under a lock
  EXPECT_EQ(calls_, before);
}

}  // namespace
}  // namespace tsr::test_anomaly
