// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/saved_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autograd/tensor_grad.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/svd.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::inspect::test_saved_names {
namespace {

using Names = std::vector<std::string>;

class A21_SavedNames : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::start_up();
    a = testing::random_leaf(Dims{2, 2}, 1);
    b = testing::random_leaf(Dims{2, 2}, 2);
  }

  static Names names_of(const Tensor& tensor) {
    const NodePtr node = grad_fn(tensor);
    Names names;
    for (size_t i = 0; i < node->saved_count(); ++i) names.emplace_back(saved_name(*node, i));
    return names;
  }

  Tensor a;
  Tensor b;
};

TEST_F(A21_SavedNames, are_the_arguments_of_the_function) {
  EXPECT_EQ(names_of(ops::multiply(a, b)), (Names{"input", "other"}));
  EXPECT_EQ(names_of(ops::multiply(a, b.detached())), Names{"other"});
  EXPECT_EQ(names_of(ops::multiply(a, a)), (Names{"input", "other"}));
  EXPECT_EQ(names_of(ops::sin(a)), Names{"input"});
  EXPECT_EQ(names_of(ops::matmul(a, b)), (Names{"input", "other"}));
  EXPECT_EQ(names_of(ops::addcmul(a, a, b, Scalar(2.0))), (Names{"tensor1", "tensor2"}));
}

TEST_F(A21_SavedNames, are_result_for_an_output) {
  EXPECT_EQ(names_of(ops::exp(a)), Names{"result"});
  EXPECT_EQ(names_of(ops::logsumexp(a)), (Names{"input", "result"}));
}

TEST_F(A21_SavedNames, an_unneeded_tensor_of_a_row_keeps_its_name) {
  EXPECT_EQ(names_of(ops::matmul(a, b.detached())), (Names{"input", "other"}));
  EXPECT_FALSE(grad_fn(ops::matmul(a, b.detached()))->saved(0).defined());
}

TEST_F(A21_SavedNames, what_an_in_place_form_overwrites_is_still_the_input) {
  const Tensor x = ops::exp(a);
  ops::sin(x, ops::Out::inplace(x));
  EXPECT_EQ(names_of(x), Names{"input"});
}

}  // namespace
}  // namespace tsr::inspect::test_saved_names
