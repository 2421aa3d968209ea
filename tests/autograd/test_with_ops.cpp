// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The engine with the library's own ops: gradcheck of the graphs that an engine gets wrong first.
#include <gtest/gtest.h>

#include "autograd/engine.h"
#include "ops/binary.h"
#include "ops/matmul.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/unary.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr {
namespace {

using testing::gradcheck;
using testing::gradgradcheck;
using testing::random_leaf;
using Inputs = std::span<const Tensor>;

// The other suites of this program install operations of their own.
class EngineWithOps : public ::testing::Test {
 protected:
  void SetUp() override { testing::start_up(); }
};

void expect_both(const testing::Differentiable& fn, const std::vector<Tensor>& inputs) {
  EXPECT_TRUE(gradcheck(fn, inputs));
  EXPECT_TRUE(gradgradcheck(fn, inputs));
}

TEST_F(EngineWithOps, diamond) {
  expect_both(
      [](Inputs x) {
        const Tensor a = ops::exp(x[0]);
        return ops::multiply(ops::sin(a), ops::multiply(a, x[0]));
      },
      {random_leaf(std::array<int64_t, 1>{3}, 1)});
}

TEST_F(EngineWithOps, tensor_used_three_times) {
  expect_both([](Inputs x) { return ops::multiply(ops::multiply(x[0], x[0]), x[0]); },
              {random_leaf(std::array<int64_t, 1>{3}, 2)});
}

TEST_F(EngineWithOps, expanded_input) {
  expect_both(
      [](Inputs x) {
        const Tensor wide = ops::broadcast_to(x[0], std::array<int64_t, 2>{3, 2});
        return ops::multiply(ops::multiply(wide, wide), x[1]);
      },
      {random_leaf(std::array<int64_t, 1>{2}, 3), random_leaf(std::array<int64_t, 2>{3, 1}, 4)});
}

TEST_F(EngineWithOps, matmul_of_transposed_views) {
  expect_both(
      [](Inputs x) { return ops::tanh(ops::matmul(ops::matrix_transpose(x[0]), x[1])); },
      {random_leaf(std::array<int64_t, 2>{3, 2}, 5), random_leaf(std::array<int64_t, 2>{3, 4}, 6)});
}

TEST_F(EngineWithOps, complex_numbers) {
  const auto leaf = [](uint32_t seed) {
    return random_leaf(std::array<int64_t, 1>{2}, seed, -1, 1, DType::kComplex128);
  };
  expect_both([](Inputs x) { return ops::multiply(ops::exp(x[0]), ops::multiply(x[0], x[1])); },
              {leaf(7), leaf(8)});
}

TEST_F(EngineWithOps, gradcheck_finds_a_wrong_derivative) {
  const auto wrong = [](Inputs x) {
    Tensor y = ops::multiply(x[0], 2).detached();
    if (needs_grad(x[0])) {
      record(y, "WrongBackward", {x[0]}, {},
             [](Backward& ctx) { ctx.set(0, ops::multiply(ctx.grad(), 2.01)); });
    }
    return y;
  };
  EXPECT_FALSE(gradcheck(wrong, {random_leaf(std::array<int64_t, 1>{2}, 9)}));
}

TEST_F(EngineWithOps, gradcheck_finds_a_gradient_that_is_not_differentiable) {
  const auto wrong = [](Inputs x) {
    const NoGrad guard;
    Tensor y = ops::square(x[0]);
    const EnableGrad again;
    if (needs_grad(x[0])) {
      record(y, "WrongBackward", {x[0]}, {save_input(x[0])}, [](Backward& ctx) {
        ctx.set(0, ops::multiply(ctx.grad(), ops::multiply(ctx.saved(0), 2).detached()));
      });
    }
    return y;
  };
  const std::vector<Tensor> inputs{random_leaf(std::array<int64_t, 1>{2}, 9)};
  EXPECT_FALSE(gradgradcheck(wrong, inputs));
}

}  // namespace
}  // namespace tsr
