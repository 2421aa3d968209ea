// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/saved_tensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "toy_ops.h"

namespace tsr::test_saved_tensor {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::message_of;
using toy::Values;
using toy::values;

using SavedTensorTest = toy::GraphTest;

uint32_t users(const Tensor& tensor) {
  return tensor.storage()->refs.load();
}

TEST_F(SavedTensorTest, A15_node_dies_with_its_output_although_it_saved_it) {
  const Tensor x = leaf({1}, {2});
  const int64_t before = live_nodes();
  Tensor y = toy::exp(x);
  const StoragePtr memory = y.storage();
  EXPECT_GT(live_nodes(), before);
  y.reset();
  EXPECT_EQ(live_nodes(), before);
  EXPECT_EQ(memory->refs.load(), 1U);
}

TEST_F(SavedTensorTest, A15_in_place_use_of_an_input_makes_no_cycle) {
  // h.add_(f(h)): the new node of h refers to the node that saved h.
  const int64_t before = live_nodes();
  {
    const Tensor w = leaf({1}, {3});
    Tensor h = toy::scale(w, 1);
    toy::add_inplace(h, toy::mul(h, w));
    Tensor constant = make({1}, {1});
    toy::add_inplace(constant, toy::mul(constant, w));
    const Tensor base = toy::scale(make({2}, {1, 2}), 1);
    const Tensor part = toy::slice(base, 0, 1);
    toy::add_inplace(part, toy::mul(part, w));
  }
  EXPECT_EQ(live_nodes(), before);
}

TEST_F(SavedTensorTest, A15_saved_view_does_not_keep_its_base_in_a_cycle) {
  const int64_t before = live_nodes();
  {
    const Tensor w = leaf({1}, {3});
    const Tensor base = toy::scale(make({2}, {1, 2}), 1);
    const Tensor first = toy::slice(base, 0, 1);
    const Tensor product = toy::mul(first, w);
    const Tensor second = toy::slice(base, 1, 2);
    toy::mul_inplace(second, product);
  }
  EXPECT_EQ(live_nodes(), before);
}

TEST_F(SavedTensorTest, A17_memory_is_given_up_when_the_node_has_run) {
  const Tensor x = leaf({1}, {2});
  const Tensor c = make({1}, {5});
  const Tensor y = toy::mul(x, c);
  EXPECT_EQ(users(c), 2U);
  backward(std::array{y});
  EXPECT_EQ(users(c), 1U);
}

TEST_F(SavedTensorTest, I2_write_to_a_saved_input_is_found) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor a = toy::scale(x, 3);
  const Tensor y = toy::sin(a);
  toy::scale_inplace(a, 2);
  const std::string text = message_of([&] { backward(std::array{toy::sum(y)}); });
  EXPECT_NE(text.find("SinBackward"), std::string::npos) << text;
  EXPECT_NE(text.find("float64 [2]"), std::string::npos) << text;
  EXPECT_NE(text.find("output 0 of ScaleBackward"), std::string::npos) << text;
  EXPECT_NE(text.find("is at version 1; expected version 0"), std::string::npos) << text;
}

TEST_F(SavedTensorTest, I2_write_to_a_saved_output_is_found) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor y = toy::exp(x);
  const Tensor z = toy::sum(y);
  toy::scale_inplace(y, 2);
  expect_error([&] { backward(std::array{z}); }, "output 0 of ExpBackward");
}

TEST_F(SavedTensorTest, I2_write_without_grad_mode_is_found) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::exp(x);
  {
    const NoGrad guard;
    toy::fill_inplace(y, 7);
  }
  expect_error([&] { backward(std::array{y}); }, "in-place operation");
}

TEST_F(SavedTensorTest, I2_write_through_a_view_or_a_detached_alias_is_found) {
  const Tensor x = leaf({2}, {1, 2});
  for (const bool through_view : {true, false}) {
    const Tensor y = toy::exp(x);
    const Tensor alias = through_view ? toy::slice(y.detached(), 0, 1) : y.detached();
    toy::fill_inplace(alias, 7);
    expect_error([&] { backward(std::array{toy::sum(y)}); }, "in-place operation");
  }
}

TEST_F(SavedTensorTest, I3_write_to_what_nobody_saved_is_fine) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 2);
  const Tensor z = toy::sum(y);
  const NoGrad guard;
  toy::fill_inplace(y, 0);
  backward(std::array{z});
  EXPECT_EQ(grad_values(x), (Values{2, 2}));
}

TEST_F(SavedTensorTest, I3_optimizer_step_between_iterations_is_fine) {
  const Tensor w = leaf({1}, {2});
  for (int i = 0; i < 3; ++i) {
    backward(std::array{toy::mul(w, w)});
    const NoGrad guard;
    toy::add_inplace(w, toy::scale(grad_of(w), -0.25));
    set_grad(w, {});
  }
  EXPECT_EQ(values(w), (Values{0.25}));
}

TEST_F(SavedTensorTest, in_place_form_saves_its_result) {
  const Tensor x = leaf({1}, {0});
  const Tensor y = toy::scale(x, 1);
  toy::exp_inplace(y);
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{1}));
}

TEST_F(SavedTensorTest, input_that_the_op_destroyed_raises_when_used) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::scale(x, 1);
  begin_inplace(y, true);
  record(y, "CarelessBackward", {y}, {save_input(y)},
         [](Backward& ctx) { ctx.set(0, ctx.saved(0)); });
  expect_error([&] { backward(std::array{y}); }, "in-place operation");
}

TEST_F(SavedTensorTest, A5_released_tensors_raise_with_the_remedy) {
  const Tensor x = leaf({1}, {2});
  const Tensor y = toy::mul(x, x);
  const NodePtr node = grad_fn(y);
  EXPECT_EQ(node->saved_count(), 2U);
  EXPECT_EQ(values(node->saved(0)), (Values{2}));
  backward(std::array{y});
  expect_error([&] { static_cast<void>(node->saved_count()); }, "(retain_graph)");
  expect_error([&] { static_cast<void>(node->saved(0)); }, "(retain_graph)");
}

TEST_F(SavedTensorTest, saved_tensors_of_a_recorded_backward_carry_their_history) {
  const Tensor x = leaf({1}, {0});
  const Tensor y = toy::exp(toy::exp(x));  // exp(exp(x)): second derivative at 0 is 2 e
  const auto first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
  const auto second = grad(std::array{first[0]}, std::array{x});
  EXPECT_NEAR(values(second[0])[0], 2 * std::exp(1.0), 1e-12);
}

TEST_F(SavedTensorTest, inference_tensors_cannot_be_saved) {
  const Tensor x = leaf({1}, {2});
  const Tensor c = make({1}, {5});
  c.impl()->add_flags(kInferenceFlag);
  expect_error([&] { toy::mul(x, c); }, "inference mode");
  EXPECT_EQ(values(toy::add(x, c)), (Values{7}));
}

TEST_F(SavedTensorTest, skipped_tensors_are_saved_as_undefined) {
  const Tensor x = leaf({1}, {2});
  const Tensor none;
  Tensor y = x.detached();
  record(y, "SkipBackward", {x, none}, {save_input(none)}, [](Backward& ctx) {
    EXPECT_FALSE(ctx.saved(0).defined());
    EXPECT_FALSE(ctx.needs(1));
    ctx.set(0, ctx.grad());
  });
  backward(std::array{y});
  EXPECT_EQ(grad_values(x), (Values{1}));
}

// Stores saved tensors as plain numbers and counts its calls.
class ListHooks final : public SavedTensorHooks {
 public:
  std::shared_ptr<void> pack(const Tensor& tensor) override {
    ++packed;
    EXPECT_FALSE(tensor.requires_grad());
    return std::make_shared<Values>(values(tensor));
  }
  Tensor unpack(const std::shared_ptr<void>& value) override {
    ++unpacked;
    const auto& list = *static_cast<const Values*>(value.get());
    return make({static_cast<int64_t>(list.size())}, list);
  }
  int packed = 0;
  int unpacked = 0;
};

TEST_F(SavedTensorTest, hooks_pack_and_unpack_whatever_is_saved) {
  const auto hooks = std::make_shared<ListHooks>();
  const std::shared_ptr<SavedTensorHooks> set = hooks;
  const Tensor x = leaf({2}, {1, 2});
  set_saved_tensor_hooks(&set);
  const Tensor y = toy::exp(toy::mul(x, x));
  set_saved_tensor_hooks(nullptr);
  const Tensor plain = toy::mul(y, make({2}, {1, 1}));
  EXPECT_EQ(hooks->packed, 3);
  backward(std::array{toy::sum(plain)}, {}, {.retain_graph = true});
  EXPECT_EQ(hooks->unpacked, 3);
  EXPECT_NEAR(grad_values(x)[1], 4 * std::exp(4.0), 1e-9);
  const auto first = grad(std::array{toy::sum(plain)}, std::array{x}, {}, {.create_graph = true});
  const auto second = grad(std::array{toy::sum(first[0])}, std::array{x});
  EXPECT_NEAR(values(second[0])[0], 6 * std::exp(1.0), 1e-9);
}

}  // namespace
}  // namespace tsr::test_saved_tensor
