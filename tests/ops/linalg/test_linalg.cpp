// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/linalg.h"

#include <cmath>

#include "ops/linalg/add_products.h"
#include "ops/linalg/eig.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "tests/ops/prelude.h"

namespace tsr::test_linalg {
namespace {

const Tensor kNone;

TEST(Linear, multiplies_by_the_transposed_weight_and_adds_the_bias) {
  const Tensor x = f64(Dims{2, 1, 2}, {1, 2, 3, 4});
  const Tensor w = f64(Dims{3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor y = ops::linear(x, w, f64(Dims{3}, {10, 20, 30}));
  EXPECT_EQ(y.sizes(), (Dims{2, 1, 3}));
  EXPECT_EQ(values(y), (std::vector<double>{11, 22, 33, 13, 24, 37}));
  const Tensor whole = ops::linear(i64(Dims{2}, {1, 2}), i64(Dims{1, 2}, {3, 4}), kNone);
  EXPECT_EQ(values<int64_t>(whole), std::vector<int64_t>{11});
}

TEST(Linear, gradients_agree_with_differences) {
  for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
    for (const Dims& sizes : {Dims{4}, Dims{2, 4}, Dims{2, 3, 4}, Dims{0, 4}}) {
      const std::vector<Tensor> inputs{random_leaf(sizes, 1, -1, 1, dtype),
                                       random_leaf(Dims{3, 4}, 2, -1, 1, dtype),
                                       random_leaf(Dims{3}, 3, -1, 1, dtype)};
      const auto fn = [](Inputs t) { return ops::linear(t[0], t[1], t[2]); };
      EXPECT_TRUE(gradcheck(fn, inputs));
      EXPECT_TRUE(gradgradcheck(fn, inputs));
    }
  }
}

TEST(Linear, takes_no_features_and_any_strides) {
  const Tensor none = ops::linear(empty(Dims{2, 0}, DType::kFloat64),
                                  empty(Dims{3, 0}, DType::kFloat64), f64(Dims{3}, {1, 2, 3}));
  EXPECT_EQ(values(none), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  const Tensor x = random_leaf(Dims{4, 5}, 1).detached();
  const Tensor w = random_leaf(Dims{4, 3}, 2).detached();
  const Tensor strided = ops::linear(ops::matrix_transpose(x), ops::matrix_transpose(w), kNone);
  EXPECT_EQ(values(strided), values(ops::matmul(ops::matrix_transpose(x), w)));
}

TEST(Linear, refuses_what_does_not_fit) {
  const Tensor x = empty(Dims{2, 4}, DType::kFloat32);
  EXPECT_EQ(error_of([&] {
              ops::linear(x, empty(Dims{3, 5}, DType::kFloat32), kNone);
            }).code(),
            Code::kShape);
  const Error dtype = error_of([&] { ops::linear(x, empty(Dims{3, 4}, DType::kFloat64), kNone); });
  EXPECT_EQ(dtype.code(), Code::kDType);
  EXPECT_STREQ(dtype.arg(), "input");
}

TEST(Addmm, scales_both_parts_and_ignores_the_input_at_beta_0) {
  const Tensor a = f64(Dims{1, 2}, {1, 2});
  const Tensor b = f64(Dims{2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(values(ops::addmm(f64(Dims{2}, {10, 20}), a, b, 2, 3)), (std::vector<double>{23, 46}));
  EXPECT_EQ(values(ops::addmm(f64(Dims{1, 2}, {NAN, NAN}), a, b, 0, 1)),
            (std::vector<double>{1, 2}));
  const Tensor own = f64(Dims{1, 2}, {10, 20});
  ops::addmm(own, a, b, 1, 1, ops::Out::inplace(own));
  EXPECT_EQ(values(own), (std::vector<double>{11, 22}));
}

TEST(Addmm, gradients_agree_with_differences) {
  for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
    const std::vector<Tensor> inputs{random_leaf(Dims{3}, 1, -1, 1, dtype),
                                     random_leaf(Dims{2, 4}, 2, -1, 1, dtype),
                                     random_leaf(Dims{4, 3}, 3, -1, 1, dtype)};
    const auto fn = [](Inputs t) { return ops::addmm(t[0], t[1], t[2], 0.5, 2); };
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

TEST(Bmm, takes_rank_3_only) {
  const Tensor a = random_leaf(Dims{2, 3, 4}, 1);
  const Tensor b = random_leaf(Dims{2, 4, 5}, 2);
  EXPECT_EQ(values(ops::bmm(a, b)), values(ops::matmul(a, b)));
  EXPECT_TRUE(gradcheck([](Inputs t) { return ops::bmm(t[0], t[1]); }, {a, b}));
  const Tensor one = empty(Dims{1, 4, 5}, DType::kFloat64);
  EXPECT_EQ(error_of([&] { ops::bmm(a, one); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::bmm(a, empty(Dims{4, 5}, DType::kFloat64));
            }).code(),
            Code::kShape);
}

TEST(Vectors, dot_and_outer) {
  const Tensor a = random_leaf(Dims{3}, 1);
  const Tensor b = random_leaf(Dims{3}, 2);
  EXPECT_TRUE(gradcheck([](Inputs t) { return ops::dot(t[0], t[1]); }, {a, b}));
  EXPECT_TRUE(gradcheck([](Inputs t) { return ops::outer(t[0], t[1]); }, {a, b}));
  EXPECT_EQ(values(ops::outer(f64(Dims{2}, {1, 2}), f64(Dims{2}, {3, 4}))),
            (std::vector<double>{3, 4, 6, 8}));
  EXPECT_EQ(values(ops::dot(f64(Dims{2}, {1, 2}), f64(Dims{2}, {3, 4}))), std::vector<double>{11});
  EXPECT_EQ(error_of([&] { ops::dot(a, empty(Dims{2}, DType::kFloat64)); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::outer(a, empty(Dims{2, 1}, DType::kFloat64));
            }).code(),
            Code::kShape);
}

TEST(Eigh, gradient_is_hermitian) {
  for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
    const Tensor x = random_leaf(Dims{2, 4, 4}, 1, -1, 1, dtype);
    const auto [eigenvalues, vectors] = ops::eigh(x);
    // The sizes of the vectors' elements do not depend on their signs or phases.
    const Tensor weight = random_leaf(Dims{2, 4, 4}, 2).detached();
    const Tensor sizes = ops::multiply(ops::abs(vectors), weight);
    const Tensor total = ops::add(ops::sum(sizes), ops::sum(ops::exp(eigenvalues)));
    const Tensor g = grad({&total, 1}, {&x, 1}).front();
    const Tensor apart = ops::abs(ops::subtract(g, ops::adjoint(g)));
    for (const double difference : values(apart)) EXPECT_LT(difference, 1e-12);
    EXPECT_GT(values(ops::sum(ops::abs(g))).front(), 1);
  }
}

}  // namespace
}  // namespace tsr::test_linalg
