// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Allocation failures: whichever allocation of tensor memory, a library object or a container
// fails, the error is OUT_OF_MEMORY, nothing leaks, and the next run works. One row for each piece
// of work.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/conv.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/random/random.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/shape.h"
#include "support/failing_allocations.h"
#include "support/failing_new.h"
#include "tests/ops/tensors.h"

namespace tsr::test::test_allocation_failures {
namespace {

Tensor leaf(DimsView shape, double value = 0.5) {
  const Tensor result = ops::full(shape, Scalar(value), DType::kFloat64);
  set_requires_grad(result, true);
  return result;
}

void pull_back(const Tensor& result) {
  backward(std::span<const Tensor>(&result, 1));
}

// First and second derivative of the sum of `result` with respect to `input`.
void pull_back_twice(const Tensor& result, const Tensor& input) {
  const Tensor total = ops::sum(result);
  const std::vector<Tensor> first =
      grad(std::span<const Tensor>(&total, 1), std::span<const Tensor>(&input, 1), {},
           BackwardOptions{.create_graph = true});
  if (first[0].requires_grad()) pull_back(ops::sum(first[0]));
}

struct Work {
  const char* name;
  void (*run)();
};

void PrintTo(const Work& work, std::ostream* out) {
  *out << work.name;
}

const Work kWorks[] = {
    {"unary", [] { (void)ops::exp(ops::ones(Dims{4})); }},
    {"large_tensors",
     [] {
       (void)ops::exp(ops::ones(Dims{300, 300}));
     }},
    {"unary_out", [] { (void)ops::exp(ops::ones(Dims{4}), ops::Out::into(ops::zeros(Dims{4}))); }},
    {"binary_with_promotion", [] { (void)ops::add(ops::ones(Dims{4}), f64(Dims{1}, {2.0})); }},
    {"strided",
     [] {
       const Tensor turned = ops::matrix_transpose(ops::ones(Dims{3, 4}));
       (void)ops::reshape(ops::add(turned, turned), Dims{12});
     }},
    {"reductions",
     [] {
       const Tensor x = ops::ones(Dims{3, 4});
       (void)ops::sum(x, DimsView(Dims{1}));
       (void)ops::max(x);
       (void)ops::argmax(x, 0);
       (void)ops::std(x);
       (void)ops::logsumexp(x);
     }},
    {"scan",
     [] {
       (void)ops::cumulative_sum(ops::ones(Dims{3, 4}), 1);
     }},
    {"random", [] { (void)ops::randn(Dims{10}); }},
    {"creation",
     [] {
       (void)ops::arange(Scalar(0), Scalar(10), Scalar(1));
       (void)ops::eye(3);
       (void)ops::linspace(0, 1, 5);
     }},
    {"backward_of_a_chain",
     [] {
       const Tensor x = leaf(Dims{2, 2});
       pull_back(ops::sum(ops::tanh(ops::matmul(ops::exp(x), x))));
     }},
    {"backward_of_a_diamond",
     [] {
       const Tensor x = leaf(Dims{3});
       const Tensor y = ops::exp(x);
       pull_back(ops::sum(ops::multiply(ops::sin(y), ops::cos(y))));
     }},
    {"backward_with_broadcast",
     [] {
       const Tensor x = leaf(Dims{3, 1});
       const Tensor y = leaf(Dims{1, 4});
       pull_back(ops::sum(ops::divide(x, y)));
     }},
    {"second_derivative",
     [] {
       const Tensor x = leaf(Dims{3});
       pull_back_twice(ops::multiply(ops::exp(x), ops::sigmoid(x)), x);
     }},
    {"second_derivative_of_matmul",
     [] {
       const Tensor x = leaf(Dims{2, 2});
       pull_back_twice(ops::matmul(x, ops::matmul(x, x)), x);
     }},
    {"accumulation_over_two_backwards",
     [] {
       const Tensor x = leaf(Dims{3});
       pull_back(ops::sum(ops::exp(x)));
       pull_back(ops::sum(ops::exp(x)));
     }},
    {"in_place_on_a_view",
     [] {
       const Tensor x = leaf(Dims{4});
       const Tensor y = ops::sin(x);
       const Tensor row = ops::reshape(y, Dims{2, 2});
       (void)ops::multiply(row, 2.0, ops::Out::inplace(row));
       pull_back(ops::sum(y));
     }},
    {"hooks_and_retained_grad",
     [] {
       const Tensor x = leaf(Dims{4});
       const Tensor y = ops::exp(x);
       retain_grad(y);
       add_tensor_hook(y, [](const Tensor& g) { return ops::multiply(g, 2.0); });
       pull_back(ops::sum(y));
     }},
    {"where_and_clip",
     [] {
       const Tensor x = leaf(Dims{4});
       const Tensor y = ops::where(ops::greater(x, 0.2), x, ops::multiply(x, 3.0));
       pull_back(ops::sum(ops::clip(y, Scalar(0.0), Scalar(1.0))));
     }},
    {"conv2d",
     [] {
       const NoGrad off;
       (void)ops::conv2d(leaf(Dims{1, 2, 6, 6}), leaf(Dims{3, 2, 3, 3}), {});
     }},
    {"no_grad",
     [] {
       const Tensor x = leaf(Dims{4});
       const NoGrad off;
       (void)ops::add(ops::exp(x), x);
     }},
};

class AllocationFailures : public ::testing::TestWithParam<Work> {};

TEST_P(AllocationFailures, leave_nothing_behind) {
  GetParam().run();  // makes objects that are made only once
  const int64_t objects = live_new();
  const int64_t failures = fail_each_allocation([] {
    const FailingNew armed;
    GetParam().run();
  });
  EXPECT_GT(failures, 1);
  EXPECT_EQ(live_new(), objects);
}

// They are asked where nothing may throw.
TEST(AllocationFailures, questions_about_a_layout_need_no_memory) {
  const Dims sizes(9, 2);
  const Dims strides{1, 2, 4, 8, 16, 32, 64, 128, 256};
  const int64_t before = new_calls();
  EXPECT_TRUE(is_dense(sizes, strides));
  EXPECT_FALSE(may_overlap_itself(sizes, strides));
  EXPECT_EQ(new_calls(), before);
}

INSTANTIATE_TEST_SUITE_P(Works, AllocationFailures, ::testing::ValuesIn(kWorks),
                         [](const auto& work) { return std::string(work.param.name); });

}  // namespace
}  // namespace tsr::test::test_allocation_failures
