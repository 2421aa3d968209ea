// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/verify_graph.h"

#include <gtest/gtest.h>

#include <array>

#include "autograd/tensor_record.h"
#include "support/effort.h"
#include "toy_ops.h"

namespace tsr::test_verify_graph {
namespace {

using toy::expect_error;
using toy::leaf;
using toy::make;

using VerifyGraph = toy::GraphTest;

void verify(const Tensor& root) {
  verify_graph(std::array{gradient_edge(root)});
}

// A node assembled by hand, so that it can violate the invariants.
class HandMade final : public Node {
 public:
  HandMade() : Node("HandMadeBackward") {}
  void apply(Backward&) override {}
};

NodePtr hand_made(Edge next, bool differentiable = true) {
  NodePtr node = NodePtr::adopt(new HandMade);
  node->add_edge(std::move(next));
  node->add_output(make({1}, {1}), differentiable);
  return node;
}

TEST_F(VerifyGraph, accepts_graphs_of_every_kind) {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor base = toy::scale(x, 2);
  toy::mul_inplace(toy::select(base, 0), toy::select(x, 1));  // rebased history, copy-slices
  const Tensor y = toy::sum(toy::exp(toy::mul(base, toy::transpose(base))));
  verify(y);
  backward(std::array{y}, {}, {.retain_graph = true});
  verify(y);
  const auto first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
  verify(first[0]);
  backward(std::array{y});
  verify(y);
}

TEST_F(VerifyGraph, walks_long_chains_without_recursion) {
  Tensor y = leaf({1}, {1});
  for (int i = 0; i < effort(200'000, 50'000); ++i) y = toy::scale(y, 1);
  verify(y);
}

TEST_F(VerifyGraph, finds_an_edge_to_an_output_that_is_not_there) {
  const Tensor x = leaf({1}, {1});
  const NodePtr inner = hand_made(gradient_edge(x));
  const NodePtr outer = hand_made({inner, 3});
  expect_error([&] { verify_graph(std::array{Edge{outer, 0}}); }, "output 3", Code::kInternal);
  expect_error([&] { verify_graph(std::array{Edge{inner, 1}}); }, "a root", Code::kInternal);
}

TEST_F(VerifyGraph, finds_an_edge_to_an_output_that_takes_no_part) {
  const Tensor x = leaf({1}, {1});
  const NodePtr inner = hand_made(gradient_edge(x), false);
  const NodePtr outer = hand_made({inner, 0});
  expect_error([&] { verify_graph(std::array{Edge{outer, 0}}); }, "takes no part", Code::kInternal);
}

TEST_F(VerifyGraph, finds_levels_that_do_not_fall) {
  const Tensor x = leaf({1}, {1});
  const NodePtr inner = NodePtr::adopt(new HandMade);
  inner->add_output(make({1}, {1}), true);
  const NodePtr outer = hand_made({inner, 0});
  // Edges must be set before a node is published; this edge is added too late.
  inner->add_edge(gradient_edge(toy::scale(toy::scale(x, 1), 1)));
  expect_error([&] { verify_graph(std::array{Edge{outer, 0}}); }, "at level", Code::kInternal);
}

}  // namespace
}  // namespace tsr::test_verify_graph
