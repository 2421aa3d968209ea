// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan.h"

#include <gtest/gtest.h>

#include "ops/shape/shape.h"
#include "tests/ops/tensors.h"

namespace tsr::test_plan {
namespace {

using kernel::Elementwise;
using kernel::ElementwisePlan;
using test::f32;

// The byte offsets of one operand, in the order of the walk.
std::vector<int64_t> offsets(const ElementwisePlan& plan, int operand) {
  std::vector<int64_t> out{0};
  for (int32_t d = 0; d < plan.ndim; ++d) {
    std::vector<int64_t> next;
    for (const int64_t base : out) {
      for (int64_t i = 0; i < plan.sizes[d]; ++i)
        next.push_back(base + i * plan.strides[operand][d]);
    }
    out = std::move(next);
  }
  return out;
}

Tensor numbers(const Dims& shape) {
  return empty(shape, DType::kFloat32);
}

TEST(ElementwisePlan, contiguous_same_shape_is_one_dim) {
  const Tensor x = numbers(Dims{2, 3, 4});
  const Tensor out = numbers(Dims{2, 3, 4});
  const Elementwise walk(out, {x, x});
  EXPECT_EQ(walk.plan().ndim, 1);
  EXPECT_EQ(walk.plan().sizes[0], 24);
  EXPECT_EQ(walk.plan().strides[1][0], 4);
}

TEST(ElementwisePlan, a_scalar_rides_along_with_stride_zero) {
  const Tensor out = numbers(Dims{3});
  const Scalar number(2.5);
  const Elementwise walk(out, {numbers(Dims{3}), kernel::Input(number, DType::kFloat32)});
  EXPECT_EQ(walk.plan().strides[2][0], 0);
  EXPECT_EQ(*static_cast<const float*>(walk.plan().data[2]), 2.5F);
}

TEST(ElementwisePlan, a_permuted_dense_walk_merges_to_one_dim) {
  const Tensor x = ops::matrix_transpose(numbers(Dims{5, 7}));
  const Tensor out = empty_strided(x.sizes(), x.strides(), DType::kFloat32);
  const Elementwise walk(out, {x});
  EXPECT_EQ(walk.plan().ndim, 1);
  EXPECT_EQ(walk.plan().sizes[0], 35);
}

TEST(ElementwisePlan, dims_of_size_one_vanish_and_rank_zero_has_one_element) {
  const Tensor x = numbers(Dims{1, 4, 1});
  EXPECT_EQ(Elementwise(numbers(Dims{1, 4, 1}), {x}).plan().ndim, 1);
  const Elementwise scalar(numbers(Dims{}), {numbers(Dims{})});
  EXPECT_EQ(scalar.plan().numel, 1);
  EXPECT_EQ(scalar.plan().ndim, 1);
  EXPECT_EQ(scalar.plan().sizes[0], 1);
}

// Each element of the output is paired with the input elements that broadcasting gives it: the test
// walks plan and tensors and compares addresses.
TEST(ElementwisePlan, pairs_the_elements_that_broadcasting_pairs) {
  const Tensor base = numbers(Dims{4, 3, 5});
  const Tensor layouts[] = {base, ops::permute_dims(numbers(Dims{5, 4, 3}), Dims{1, 2, 0}),
                            make_view(numbers(Dims{4, 3, 10}), Dims{4, 3, 5}, Dims{30, 10, 2}, 1),
                            make_view(base, Dims{4, 3, 5}, Dims{15, 5, -1}, 4)};
  const Tensor others[] = {numbers(Dims{5}), numbers(Dims{3, 1}), numbers(Dims{4, 1, 5}),
                           numbers(Dims{})};
  for (const Tensor& out : layouts) {
    for (const Tensor& other : others) {
      const Elementwise walk(out, {base, other});
      const std::vector<int64_t> to = offsets(walk.plan(), 0);
      const std::vector<int64_t> from = offsets(walk.plan(), 2);
      ASSERT_EQ(to.size(), 60U);
      const Tensor expanded = ops::broadcast_to(other, Dims{4, 3, 5});
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 3; ++j) {
          for (int64_t k = 0; k < 5; ++k) {
            const auto place = [&](const Tensor& t) {
              return (i * t.stride(0) + j * t.stride(1) + k * t.stride(2)) * 4;
            };
            const auto found = std::find(to.begin(), to.end(), place(out));
            ASSERT_NE(found, to.end());
            EXPECT_EQ(from[static_cast<size_t>(found - to.begin())], place(expanded));
          }
        }
      }
    }
  }
}

TEST(ReductionPlan, splits_kept_and_reduced_dims_and_merges_each_group) {
  const Tensor x = numbers(Dims{2, 3, 4, 5});
  kernel::ReducePlan plan;
  kernel::plan_reduction(plan, kernel::ReduceOp::kSum, numbers(Dims{2, 3}), x, Dims{2, 3}, false);
  EXPECT_EQ(plan.kept_ndim, 1);
  EXPECT_EQ(plan.reduced_ndim, 1);
  EXPECT_EQ(plan.kept_numel, 6);
  EXPECT_EQ(plan.reduced_numel, 20);
  kernel::plan_reduction(plan, kernel::ReduceOp::kSum, numbers(Dims{3, 5}), x, Dims{0, 2}, false);
  EXPECT_EQ(plan.kept_ndim, 2);
  EXPECT_EQ(plan.reduced_ndim, 2);
}

TEST(ReductionPlan, keeps_the_order_of_reduced_dims_when_told) {
  const Tensor x = ops::matrix_transpose(numbers(Dims{3, 4}));
  kernel::ReducePlan plan;
  kernel::plan_reduction(plan, kernel::ReduceOp::kArgmax, numbers(Dims{}), x, Dims{0, 1}, true);
  ASSERT_EQ(plan.reduced_ndim, 2);
  EXPECT_EQ(plan.reduced_sizes[0], 4);
  EXPECT_EQ(plan.reduced_strides[0], 4);
  kernel::plan_reduction(plan, kernel::ReduceOp::kSum, numbers(Dims{}), x, Dims{0, 1}, false);
  EXPECT_EQ(plan.reduced_ndim, 1);
}

}  // namespace
}  // namespace tsr::test_plan
