// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The ternary family against double references, over dtypes and layouts.
#include <gtest/gtest.h>

#include <cmath>

#include "arrays.h"
#include "base/error.h"

namespace tsr::test::test_ternary {
namespace {

using kernel::TernaryOp;

const DType kFloats[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

TEST(Ternary, where_moves_elements_of_every_dtype) {
  for (int k = 0; k < kDTypeCount; ++k) {
    for (const Layout layout : kLayouts) {
      const DType dtype = static_cast<DType>(k);
      Array condition(DType::kBool, {7, 45}, layout);
      Array yes(dtype, {7, 45}, Layout::kTransposed);
      Array no(dtype, {7, 45});
      Array output(dtype, {7, 45});
      condition.randomize(0, 1, 1);
      yes.randomize(0, 100, 2);
      no.randomize(0, 100, 3);
      const auto plan = elementwise({&output, &condition, &yes, &no});
      ASSERT_EQ(kernels().ternary(TernaryOp::kWhere, plan), kernel::kOk) << last_error();
      for (int64_t i = 0; i < output.numel(); ++i) {
        ASSERT_EQ(output.get(i), condition.get(i).real() != 0 ? yes.get(i) : no.get(i))
            << name(dtype) << " at " << i;
      }
    }
  }
}

TEST(Ternary, sum_of_products_takes_dense_operands_alone) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kComplex128}) {
    Array a(dtype, {7, 45});
    Array b(dtype, {7, 45});
    Array c(dtype, {7, 45});
    Array d(dtype, {7, 45});
    Array output(dtype, {7, 45});
    uint32_t seed = 0;
    for (Array* each : {&a, &b, &c, &d}) each->randomize(0.5, 1, ++seed);
    const auto plan = elementwise({&output, &a, &b, &c, &d});
    ASSERT_EQ(kernels().sum_of_products(plan), kernel::kOk) << last_error();
    expect_elements(
        output, {&a, &b, &c, &d},
        [](const std::vector<Value>& x) { return x[0] * x[1] + x[2] * x[3]; }, 2);
    Array turned(dtype, {7, 45}, Layout::kTransposed);
    EXPECT_EQ(kernels().sum_of_products(elementwise({&output, &a, &b, &c, &turned})),
              static_cast<kernel::Status>(Code::kNotImplemented));
    EXPECT_EQ(kernels().sum_of_products(elementwise({&output, &a, &b, &c})),
              static_cast<kernel::Status>(Code::kNotImplemented));
  }
}

TEST(Ternary, lerp_addcmul_addcdiv_and_clip_match_the_reference) {
  for (const DType dtype : kFloats) {
    for (const Layout layout : kLayouts) {
      Array a(dtype, {7, 45}, layout);
      Array b(dtype, {7, 45});
      Array c(dtype, {7, 45});
      Array output(dtype, {7, 45});
      a.randomize(0.1, 1, 1);
      b.randomize(0.2, 1, 2);
      c.randomize(0.5, 1, 3);
      kernel::ElementwisePlan plan = elementwise({&output, &a, &b, &c});
      set_param(plan.params[0], dtype, 0.5);
      const auto run = [&](TernaryOp op, double (*f)(double, double, double)) {
        ASSERT_EQ(kernels().ternary(op, plan), kernel::kOk) << last_error();
        expect_elements(
            output, {&a, &b, &c},
            [&](const std::vector<Value>& x) {
              return Value(f(x[0].real(), x[1].real(), x[2].real()));
            },
            2);
      };
      run(TernaryOp::kLerp, [](double x, double y, double w) { return x + w * (y - x); });
      run(TernaryOp::kAddcmul, [](double x, double y, double z) { return x + 0.5 * y * z; });
      run(TernaryOp::kAddcdiv, [](double x, double y, double z) { return x + 0.5 * y / z; });
      run(TernaryOp::kClip,
          [](double x, double low, double high) { return std::min(std::max(x, low), high); });
    }
  }
}

TEST(Ternary, lerp_of_complex_numbers_from_either_end) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    Array a(dtype, {77});
    Array b(dtype, {77});
    Array weight(dtype, {77});
    Array output(dtype, {77});
    a.randomize(-2, 2, 1);
    b.randomize(-2, 2, 2);
    weight.randomize(-1, 1, 3);
    weight.set(0, 1.0);
    const auto check = [&](Value by) {
      for (int64_t i = 0; i < 77; ++i) {
        const Value w = by == 0.0 ? weight.get(i) : by;
        EXPECT_LE(std::abs(output.get(i) - (a.get(i) + w * (b.get(i) - a.get(i)))),
                  tolerance(dtype, 20))
            << i << " by " << w;
      }
    };
    ASSERT_EQ(kernels().ternary(TernaryOp::kLerp, elementwise({&output, &a, &b, &weight})),
              kernel::kOk);
    check(0.0);
    EXPECT_EQ(output.get(0), b.get(0));
    for (const double by : {0.25, 0.75}) {
      kernel::ElementwisePlan plan = elementwise({&output, &a, &b});
      set_param(plan.params[0], dtype, by);
      ASSERT_EQ(kernels().binary(kernel::BinaryOp::kLerpBy, plan), kernel::kOk);
      check(by);
    }
  }
}

TEST(Ternary, lerp_meets_both_ends_exactly) {
  Array a(DType::kFloat32, {2});
  Array b(DType::kFloat32, {2});
  Array weight(DType::kFloat32, {2});
  Array output(DType::kFloat32, {2});
  a.set(0, 0.1F);
  a.set(1, 0.1F);
  b.set(0, 1e8F);
  b.set(1, 1e8F);
  weight.set(1, 1);
  ASSERT_EQ(kernels().ternary(TernaryOp::kLerp, elementwise({&output, &a, &b, &weight})),
            kernel::kOk);
  EXPECT_EQ(output.get(0), a.get(0));
  EXPECT_EQ(output.get(1), b.get(1));
}

TEST(Ternary, a_nan_limit_or_element_gives_nan) {
  Array x(DType::kFloat32, {3});
  Array low(DType::kFloat32, {3});
  Array high(DType::kFloat32, {3});
  Array output(DType::kFloat32, {3});
  x.set(0, NAN);
  low.set(1, NAN);
  high.set(2, NAN);
  ASSERT_EQ(kernels().ternary(TernaryOp::kClip, elementwise({&output, &x, &low, &high})),
            kernel::kOk);
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(output.get(i).real())) << i;
}

}  // namespace
}  // namespace tsr::test::test_ternary
