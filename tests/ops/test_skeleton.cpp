// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The walking skeleton: exp, add, sum and matmul through every layer, backward and double backward.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "support/gradcheck.h"
#include "tests/ops/tensors.h"

namespace tsr::test_skeleton {
namespace {

using test::error_of;
using test::f32;
using test::f64;
using test::i64;
using test::values;

TEST(Skeleton, exp_of_any_layout_equals_the_library_function) {
  const Tensor x = f64(Dims{2, 3}, {0, 1, -1, 0.5, 2, -3});
  for (const Tensor& layout : {x, ops::matrix_transpose(x), ops::broadcast_to(x, Dims{2, 2, 3})}) {
    const std::vector<double> in = values(layout);
    const std::vector<double> out = values(ops::exp(layout));
    ASSERT_EQ(in.size(), out.size());
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_NEAR(out[i], std::exp(in[i]), 1e-14 * std::exp(in[i]));
  }
}

TEST(Skeleton, exp_of_integers_gives_floats_and_keeps_memory_order) {
  EXPECT_EQ(ops::exp(i64(Dims{2}, {0, 1})).dtype(), DType::kFloat32);
  const Tensor turned = ops::matrix_transpose(f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ops::exp(turned).strides(), turned.strides());
}

TEST(Skeleton, add_broadcasts_and_promotes) {
  const Tensor sum = ops::add(i64(Dims{2, 1}, {1, 2}), f32(Dims{3}, {10, 20, 30}));
  EXPECT_EQ(sum.dtype(), DType::kFloat32);
  EXPECT_EQ(values(sum), (std::vector<double>{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(values(ops::add(f32(Dims{2}, {1, 2}), 0.5)), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(values(ops::subtract(1, f32(Dims{2}, {1, 2}))), (std::vector<double>{0, -1}));
}

TEST(Skeleton, out_forms_take_the_shape_and_refuse_a_lower_category) {
  const Tensor out = f32(Dims{1}, {0});
  ops::add(f32(Dims{2}, {1, 2}), f32(Dims{2}, {3, 4}), ops::Out::into(out));
  EXPECT_EQ(values(out), (std::vector<double>{4, 6}));
  const Tensor integers = i64(Dims{2}, {0, 0});
  const Error error = error_of([&] { ops::add(out, 0.5, ops::Out::into(integers)); });
  EXPECT_EQ(error.code(), Code::kDType);
  EXPECT_STREQ(error.arg(), "dst");
}

TEST(Skeleton, in_place_forms_write_their_input_and_survive_overlap) {
  const Tensor x = f32(Dims{4}, {1, 2, 3, 4});
  const Tensor tail = make_view(x, Dims{3}, Dims{1}, 1);
  const Tensor head = make_view(x, Dims{3}, Dims{1}, 0);
  const uint32_t before = x.version();
  ops::add(tail, head, ops::Out::inplace(tail));
  EXPECT_EQ(values(x), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(x.version(), before + 1);
  EXPECT_EQ(error_of([&] {
              ops::add(x, f32(Dims{2, 1}, {1, 2}), ops::Out::inplace(x));
            }).code(),
            Code::kShape);
  const Tensor expanded = ops::broadcast_to(f32(Dims{1}, {1}), Dims{3});
  EXPECT_EQ(error_of([&] { ops::add(expanded, 1, ops::Out::inplace(expanded)); }).code(),
            Code::kValue);
}

TEST(Skeleton, matmul_follows_the_rank_rules) {
  const Tensor a = f64(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor v = f64(Dims{3}, {1, 0, -1});
  EXPECT_EQ(values(ops::matmul(a, v)), (std::vector<double>{-2, -2}));
  EXPECT_EQ(ops::matmul(v, v).ndim(), 0);
  EXPECT_EQ(values(ops::matmul(v, v)), (std::vector<double>{2}));
  EXPECT_EQ(values(ops::matmul(a, ops::matrix_transpose(a))),
            (std::vector<double>{14, 32, 32, 77}));
  const Tensor stack = ops::broadcast_to(a, Dims{4, 2, 3});
  EXPECT_EQ(ops::matmul(stack, ops::matrix_transpose(a)).sizes(), (Dims{4, 2, 2}));
  const Error error = error_of([&] { ops::matmul(a, a); });
  EXPECT_EQ(error.code(), Code::kShape);
  EXPECT_NE(error.message().find("[2, 3]"), std::string::npos);
  EXPECT_EQ(error_of([&] { ops::matmul(a, f32(Dims{3}, {1, 2, 3})); }).code(), Code::kDType);
}

TEST(Skeleton, matmul_of_empty_matrices_is_zero) {
  const Tensor product =
      ops::matmul(empty(Dims{2, 0}, DType::kFloat32), empty(Dims{0, 3}, DType::kFloat32));
  EXPECT_EQ(values(product), std::vector<double>(6, 0.0));
}

TEST(Skeleton, sum_reduces_any_axes_of_any_layout) {
  const Tensor x = f64(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(ops::sum(x)), (std::vector<double>{21}));
  EXPECT_EQ(values(ops::sum(ops::matrix_transpose(x), DimsView(Dims{0}))),
            (std::vector<double>{6, 15}));
  EXPECT_EQ(ops::sum(x, DimsView(Dims{-1}), true).sizes(), (Dims{2, 1}));
  EXPECT_EQ(ops::sum(test::tensor<int32_t>(Dims{2}, {1, 2})).dtype(), DType::kInt64);
  EXPECT_EQ(values(ops::sum(empty(Dims{0, 2}, DType::kFloat32), DimsView(Dims{0}))),
            (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace tsr::test_skeleton
