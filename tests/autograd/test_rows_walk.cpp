// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Row E13 of docs/features.md. Counts calls of operator new: a backward has a slot for every node
// that it enters, and makes slots in blocks.
#include <gtest/gtest.h>

#include <array>

#include "autograd/engine.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "support/failing_new.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_rows_walk {
namespace {

// The calls of operator new before the first node runs.
int64_t calls_of_walk(const Tensor& end, const Tensor& input) {
  int64_t calls = 0;
  add_pre_hook(*grad_fn(end), [&](std::span<Tensor>) { calls = test::new_calls(); });
  const int64_t before = test::new_calls();
  grad(std::array{end}, std::array{input});
  return calls - before;
}

// The calls of operator new in a backward to the middle of a graph, which has so many older nodes.
int64_t calls_to_the_middle(int older) {
  Tensor middle = testing::random_leaf(std::array<int64_t, 1>{2}, 1);
  for (int i = 0; i < older; ++i) middle = ops::multiply(middle, 1.0);
  const Tensor end = ops::sum(ops::multiply(ops::sin(middle), middle));
  return calls_of_walk(end, middle);
}

TEST(EngineWalk, E13_nodes_too_old_to_lead_to_the_inputs_are_not_entered) {
  testing::start_up();
  calls_to_the_middle(1);
  EXPECT_EQ(calls_to_the_middle(1), calls_to_the_middle(100'000));
}

// The same from a graph whose other branch does not lead to the input at all.
int64_t calls_beside_a_branch(int length) {
  const Tensor x = testing::random_leaf(std::array<int64_t, 1>{2}, 2);
  Tensor branch = testing::random_leaf(std::array<int64_t, 1>{2}, 3);
  for (int i = 0; i < length; ++i) branch = ops::multiply(branch, 1.0);
  Tensor middle = x;
  for (int i = 0; i <= length; ++i) middle = ops::multiply(middle, 1.0);
  const Tensor end = ops::sum(ops::multiply(middle, branch));
  return calls_of_walk(end, middle);
}

TEST(EngineWalk, E13_branch_that_is_older_than_the_inputs_is_not_entered) {
  testing::start_up();
  calls_beside_a_branch(1);
  EXPECT_EQ(calls_beside_a_branch(1), calls_beside_a_branch(100'000));
}

}  // namespace
}  // namespace tsr::test_rows_walk
