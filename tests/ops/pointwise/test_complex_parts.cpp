// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/complex_parts.h"

#include <array>
#include <complex>

#include "ops/pointwise/unary.h"
#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_complex_parts {
namespace {

using Complex = std::complex<double>;

Tensor numbers() {
  return test::tensor<Complex>(Dims{2, 2}, {{1, 2}, {3, -4}, {0, 5}, {6, 0}});
}

TEST(ComplexParts, are_views_of_any_layout) {
  const Tensor z = numbers();
  const Tensor turned = ops::matrix_transpose(z);
  EXPECT_EQ(values(ops::real(turned)), (Numbers{1, 0, 3, 6}));
  EXPECT_EQ(values(ops::imag(turned)), (Numbers{2, 5, -4, 0}));
  EXPECT_EQ(values(ops::imag(ops::narrow(z, 1, 1, 1))), (Numbers{-4, 0}));
  const Tensor im = ops::imag(z);
  ops::fill_(im, 7);
  EXPECT_EQ(z.data_as<Complex>()[1], Complex(3, 7));
  EXPECT_EQ(im.version(), z.version());
  const Tensor x = f32(Dims{2}, {1, 2});
  EXPECT_TRUE(ops::real(x).is_same(x));
  EXPECT_EQ(error_of([&] { ops::imag(x); }).code(), Code::kDType);
}

TEST(ComplexParts, go_there_and_back) {
  const Tensor z = ops::matrix_transpose(numbers());
  const Tensor parts = ops::view_as_real(z);
  EXPECT_EQ(parts.sizes(), (Dims{2, 2, 2}));
  EXPECT_EQ(values(parts), (Numbers{1, 2, 0, 5, 3, -4, 6, 0}));
  const Tensor back = ops::view_as_complex(parts);
  EXPECT_EQ(back.data(), z.data());
  EXPECT_EQ(back.strides(), z.strides());
  const Tensor row = f64(Dims{6}, {1, 2, 3, 4, 5, 6});
  const std::pair<const char*, Tensor> wrong[] = {
      {"size 2", row},
      {"contiguous last axis", make_view(row, Dims{2, 2}, Dims{1, 2}, 0)},
      {"even element", make_view(row, Dims{2, 2}, Dims{2, 1}, 1)},
      {"even strides", make_view(row, Dims{2, 2}, Dims{3, 1}, 0)},
  };
  for (const auto& [why, x] : wrong) {
    const Error error = error_of([&x = x] { ops::view_as_complex(x); });
    EXPECT_EQ(error.code(), Code::kShape);
    EXPECT_NE(error.message().find(why), std::string::npos) << error.message();
  }
}

TEST(ComplexParts, gradients_agree_with_differences) {
  const auto make = [](const Tensor& x) { return ops::multiply(x, Scalar(Complex(1, 2))); };
  const auto real = [&](Inputs in) { return ops::real(ops::square(make(in[0]))); };
  const auto imag = [&](Inputs in) { return ops::imag(ops::square(make(in[0]))); };
  const auto both = [](Inputs in) {
    const Tensor z = ops::view_as_complex(in[0]);
    return ops::view_as_real(ops::multiply(z, ops::square(z)));
  };
  EXPECT_TRUE(gradcheck(real, {random_leaf(Dims{2, 3}, 1)}));
  EXPECT_TRUE(gradcheck(imag, {random_leaf(Dims{2, 3}, 2)}));
  EXPECT_TRUE(gradcheck(both, {random_leaf(Dims{3, 2}, 3)}));
  EXPECT_TRUE(gradgradcheck(both, {random_leaf(Dims{3, 2}, 4)}));
}

// A write through another dtype that autograd would have to record is refused, not lost.
TEST(ComplexParts, refuse_writes_that_autograd_cannot_follow) {
  const Tensor w = random_leaf(Dims{2, 2}, 1);
  const Tensor constant = numbers();
  const Tensor part = ops::real(constant);
  EXPECT_EQ(error_of([&] { ops::multiply(part, w, ops::Out::inplace(part)); }).code(),
            Code::kAutograd);
  const Tensor z = numbers();
  const Tensor stale = ops::imag(z);
  ops::multiply(z, w, ops::Out::inplace(z));
  EXPECT_EQ(error_of([&] { ops::add(stale, 1); }).code(), Code::kAutograd);
  EXPECT_TRUE(needs_grad(ops::imag(z)));
}

}  // namespace
}  // namespace tsr::test_complex_parts
