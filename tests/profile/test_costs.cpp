// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/costs.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernel/kernels.h"

namespace tsr::profile::test_costs {
namespace {

using namespace kernel;

TEST(Costs, R11_a_product_of_matrices) {
  auto plan = std::make_unique<GemmPlan>();
  plan->dtype = DType::kFloat32;
  plan->m = 2;
  plan->n = 3;
  plan->k = 5;
  plan->batch = 4;
  const Cost cost = cost_of("gemm", plan.get());
  EXPECT_EQ(cost.flops, 2 * 2 * 3 * 5 * 4);
  EXPECT_EQ(cost.bytes, 4 * 4 * (2 * 5 + 5 * 3 + 2 * 3));
  plan->dtype = DType::kComplex64;
  EXPECT_EQ(cost_of("gemm", plan.get()).flops, 8 * 2 * 3 * 5 * 4);
}

TEST(Costs, R11_a_convolution_with_groups) {
  auto plan = std::make_unique<ConvPlan>();
  plan->dtype = DType::kFloat32;
  plan->spatial = 2;
  plan->groups = 2;
  plan->batch = 3;
  plan->in_channels = 4;
  plan->out_channels = 6;
  for (int i = 0; i < 2; ++i) {
    plan->input_size[i] = 10;
    plan->output_size[i] = 8;
    plan->kernel[i] = 3;
  }
  const Cost cost = cost_of("conv", plan.get());
  EXPECT_EQ(cost.flops, 2.0 * (3 * 6 * 8 * 8) * (2 * 3 * 3));
  EXPECT_EQ(cost.bytes, 4.0 * (3 * 4 * 100 + 6 * 2 * 9 + 3 * 6 * 64));
}

TEST(Costs, R11_a_repeated_operand_is_read_once) {
  auto plan = std::make_unique<ElementwisePlan>();
  plan->ndim = 2;
  plan->operands = 3;
  plan->numel = 12;
  plan->sizes[0] = 3;
  plan->sizes[1] = 4;
  for (int k = 0; k < 3; ++k) plan->dtypes[k] = DType::kFloat32;
  plan->strides[0][0] = plan->strides[1][0] = 16;
  plan->strides[0][1] = plan->strides[1][1] = plan->strides[2][1] = 4;
  Cost cost = cost_of("binary", plan.get());
  EXPECT_EQ(cost.flops, 12);
  EXPECT_EQ(cost.bytes, 4 * (12 + 12 + 4));
  plan->host_operands = 1U << 2;
  EXPECT_EQ(cost_of("binary", plan.get()).bytes, 4 * 24);
  EXPECT_EQ(cost_of("copy", plan.get()).flops, 0);
}

TEST(Costs, R11_attention_that_looks_back_only_costs_half) {
  auto plan = std::make_unique<AttentionPlan>();
  plan->dtype = DType::kFloat32;
  plan->batch[0] = plan->batch[1] = 1;
  plan->batch[2] = 2;
  plan->queries = plan->keys = 8;
  plan->width = plan->value_width = 4;
  const double whole = cost_of("attention", plan.get()).flops;
  EXPECT_EQ(whole, 2.0 * 2 * 8 * 8 * (4 + 4));
  plan->causal = 1;
  EXPECT_EQ(cost_of("attention", plan.get()).flops, whole / 2);
  plan->backward = 1;
  EXPECT_EQ(cost_of("attention", plan.get()).flops, whole * 2.5 / 2);
}

// That every family has a rule is an assertion of costs.cpp.
TEST(Costs, R11_bags_of_rows) {
  auto plan = std::make_unique<BagPlan>();
  plan->dtype = DType::kBFloat16;
  plan->bags = 3;
  plan->indices = 8;
  plan->rows = 5;
  plan->features = 4;
  const int64_t starts = 0;
  float factor = 1;
  Cost cost = cost_of("bag", plan.get());
  EXPECT_EQ(cost.flops, 8 * 4);
  EXPECT_EQ(cost.bytes, 2 * (5 * 4) + 4 * (3 * 4) + 8 * 8);
  plan->starts = &starts;
  plan->factors = &factor;
  cost = cost_of("bag", plan.get());
  EXPECT_EQ(cost.flops, 2 * 8 * 4);
  EXPECT_EQ(cost.bytes, 2 * (5 * 4) + 4 * (3 * 4) + 4 * 8 + 8 * 8 + 8 * 3);
  plan->factors = nullptr;
  plan->pass = BagPass::kMaxima;
  EXPECT_EQ(cost_of("bag", plan.get()).flops, 8 * 4);
}

TEST(Costs, a_name_that_is_no_family_costs_nothing) {
  const int plan = 0;
  EXPECT_EQ(cost_of("no such family", &plan).flops, 0);
}

}  // namespace
}  // namespace tsr::profile::test_costs
