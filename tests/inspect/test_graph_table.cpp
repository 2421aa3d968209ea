// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/attention.h"
#include "ops/nn/conv.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "support/start_up.h"

namespace tsr::inspect::test_graph_table {
namespace {

class GraphTable : public ::testing::Test {
 protected:
  void SetUp() override { tsr::testing::start_up(); }
};

Tensor leaf(DimsView sizes) {
  Tensor x = ops::ones(sizes, DType::kFloat32, {});
  set_requires_grad(x, true);
  return x;
}

int64_t count_of(const Tensor& y) {
  return multiply_adds_of(*gradient_edge(y).node);
}

TEST_F(GraphTable, A21_lists_operators_with_parameters_multiply_adds_and_memory) {
  const Tensor weight = leaf(Dims{4, 3});
  const Tensor bias = leaf(Dims{4});
  const Tensor x = ops::ones(Dims{2, 3}, DType::kFloat32, {});
  const Tensor hidden = ops::tanh(ops::linear(x, weight, bias));
  const Tensor y = ops::linear(ops::linear(hidden, leaf(Dims{3, 4}), {}), weight, bias);
  const std::vector<Tensor> named{weight, bias};
  const std::vector<std::string> names{"deep.in.weight", "deep.in.bias"};
  // Kept: x, and the three inputs of the last layers, of which tanh's is its own result.
  EXPECT_EQ(table_of({&y, 1}, {named, names}),
            "Layer    Operator  Output  Parameters  Multiply-adds\n"
            "deep.in  Linear    [2, 4]          16             24\n"
            "         Tanh      [2, 4]           -              -\n"
            "         Linear    [2, 3]           -             24\n"
            "deep.in  Linear    [2, 4]     (again)             24\n"
            "Parameters: 16 (16 trainable), 0.00 MB\n"
            "Multiply-adds: 72\n"
            "Outputs of the operators: 0.00 MB\n"
            "Saved for the backward: 0.00 MB\n");
  EXPECT_THROW(table_of({&x, 1}, {}), Error);
}

TEST_F(GraphTable, A21_is_drawn_after_a_backward_too) {
  const Tensor frozen = ops::ones(Dims{3, 5}, DType::kFloat32, {});
  const Tensor loss = ops::sum(ops::matmul(frozen, leaf(Dims{5, 2})));
  const std::string before = table_of({&loss, 1}, {});
  EXPECT_NE(before.find("Multiply-adds: 30\n"), std::string::npos) << before;
  backward({&loss, 1});
  const std::string after = table_of({&loss, 1}, {});
  EXPECT_NE(after.find("Matmul"), std::string::npos) << after;
  EXPECT_NE(after.find("Saved for the backward: 0.00 MB\n"), std::string::npos) << after;
}

TEST_F(GraphTable, A21_multiply_adds_of_products_and_convolutions) {
  const Tensor frozen = ops::ones(Dims{3, 5}, DType::kFloat32, {});
  EXPECT_EQ(count_of(ops::matmul(leaf(Dims{2, 3}), frozen)), 2 * 3 * 5);
  EXPECT_EQ(count_of(ops::matmul(frozen, leaf(Dims{4, 5, 2}))), 4 * 3 * 5 * 2);
  const Tensor image = leaf(Dims{2, 4, 8, 8});
  const Tensor filters = ops::ones(Dims{6, 4, 3, 3}, DType::kFloat32, {});
  const Tensor map = ops::conv2d(image, filters, {});
  EXPECT_EQ(count_of(map), map.numel() * 4 * 9);
  const Tensor q = leaf(Dims{2, 7, 4});
  const Tensor k = leaf(Dims{2, 5, 4});
  const Tensor v = leaf(Dims{2, 5, 3});
  EXPECT_EQ(count_of(ops::scaled_dot_product_attention(q, k, v)), 2 * 7 * 5 * (4 + 3));
  EXPECT_EQ(count_of(ops::exp(q)), 0);
}

}  // namespace
}  // namespace tsr::inspect::test_graph_table
