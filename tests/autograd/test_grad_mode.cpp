// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/grad_mode.h"

#include <gtest/gtest.h>

#include <thread>

#include "toy_ops.h"

namespace tsr::test_grad_mode {
namespace {

using toy::expect_error;
using toy::leaf;
using toy::make;

using GradModeTest = toy::GraphTest;

TEST_F(GradModeTest, A1_result_requires_grad_when_an_input_does) {
  const Tensor x = leaf({1}, {1});
  const Tensor c = make({1}, {1});
  EXPECT_TRUE(toy::add(x, c).requires_grad());
  EXPECT_TRUE(toy::add(c, x).requires_grad());
  EXPECT_FALSE(toy::add(c, c).requires_grad());
  EXPECT_FALSE(needs_grad(c, Tensor()));
  EXPECT_TRUE(needs_grad(Tensor(), x));
  EXPECT_TRUE(needs_grad(std::vector<Tensor>{c, x}));
}

TEST_F(GradModeTest, A2_modes_nest_and_are_restored_by_exceptions) {
  const Tensor x = leaf({1}, {1});
  try {
    const NoGrad off;
    EXPECT_FALSE(toy::scale(x, 2).requires_grad());
    {
      const EnableGrad on;
      EXPECT_TRUE(toy::scale(x, 2).requires_grad());
    }
    EXPECT_FALSE(grad_enabled());
    throw 1;
  } catch (int) {
  }
  EXPECT_TRUE(grad_enabled());
}

TEST_F(GradModeTest, A2_another_thread_is_not_affected) {
  const NoGrad off;
  std::thread([] { EXPECT_TRUE(grad_enabled()); }).join();
}

TEST_F(GradModeTest, inference_mode_turns_recording_off_for_good) {
  const InferenceMode inference;
  EXPECT_FALSE(grad_enabled());
  EXPECT_TRUE(inference_enabled());
  const EnableGrad on;
  EXPECT_FALSE(grad_enabled());
}

TEST_F(GradModeTest, E12_backward_records_only_when_asked) {
  const Tensor x = leaf({1}, {1});
  bool seen = true;
  const auto run = [&](bool create_graph) {
    Tensor y = x.detached();
    record(y, "NoteBackward", {x}, {}, [&](Backward& ctx) {
      seen = grad_enabled();
      EXPECT_EQ(ctx.create_graph(), seen);
      ctx.set(0, ctx.grad());
    });
    const NoGrad off;
    grad(std::array{y}, std::array{x}, {}, {.create_graph = create_graph});
    EXPECT_EQ(seen, create_graph);
    EXPECT_FALSE(grad_enabled());
  };
  run(false);
  run(true);
}

TEST_F(GradModeTest, A1_only_leaves_of_floating_dtype_can_be_switched) {
  const Tensor whole = empty(std::array<int64_t, 1>{1}, DType::kInt32);
  expect_error([&] { set_requires_grad(whole, true); }, "floating or complex", Code::kDType);
  set_requires_grad(whole, false);
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  expect_error([&] { set_requires_grad(y, false); }, "detach gives");
  set_requires_grad(x, false);
  EXPECT_FALSE(toy::scale(x, 2).requires_grad());
}

TEST_F(GradModeTest, A7_leaf_facts) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  EXPECT_TRUE(is_leaf(x));
  EXPECT_TRUE(is_leaf(make({1}, {1})));
  EXPECT_FALSE(is_leaf(y));
  EXPECT_TRUE(is_leaf(detach(y)));
  EXPECT_EQ(detach(y).storage(), y.storage());
  EXPECT_EQ(output_number(y), 0U);
  detach_inplace(y);
  EXPECT_TRUE(is_leaf(y));
  EXPECT_FALSE(y.requires_grad());
  expect_error([&] { detach_inplace(toy::slice(y, 0, 1)); }, "view");
}

TEST_F(GradModeTest, assigned_grad_must_fit) {
  const Tensor x = leaf({2}, {1, 2});
  expect_error([&] { set_grad(x, make({3}, {1, 2, 3})); }, "[2]", Code::kShape);
  expect_error([&] { set_grad(x, make({2}, {1, 2}, DType::kFloat32)); }, "float64", Code::kDType);
  expect_error([&] { set_grad(x, x); }, "itself");
  const Tensor g = make({2}, {1, 2});
  set_grad(x, g);
  EXPECT_TRUE(grad_of(x).is_same(g));
  set_grad(x, {});
  EXPECT_FALSE(grad_of(x).defined());
}

}  // namespace
}  // namespace tsr::test_grad_mode
