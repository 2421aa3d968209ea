// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// gradcheck and gradgradcheck of every differentiable reduction, scan and product: a row an op.
#include <array>
#include <cmath>
#include <complex>
#include <functional>

#include "ops/linalg/matmul.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/statistics.h"
#include "tests/ops/prelude.h"

namespace tsr::test_reduce_gradients {
namespace {

using ops::Axes;

const struct {
  const char* name;
  Tensor (*call)(const Tensor& x, Axes axes, bool keepdims);
  bool complex;
} kRows[] = {
    {"sum", [](const Tensor& x, Axes a, bool k) { return ops::sum(x, a, k); }, true},
    {"mean", [](const Tensor& x, Axes a, bool k) { return ops::mean(x, a, k); }, true},
    {"prod", [](const Tensor& x, Axes a, bool k) { return ops::prod(x, a, k); }, true},
    {"var", [](const Tensor& x, Axes a, bool k) { return ops::var(x, a, 0.5, k); }, false},
    {"std", [](const Tensor& x, Axes a, bool k) { return ops::std(x, a, 0, k); }, false},
    {"max", [](const Tensor& x, Axes a, bool k) { return ops::max(x, a, k); }, false},
    {"min", [](const Tensor& x, Axes a, bool k) { return ops::min(x, a, k); }, false},
    {"logsumexp", [](const Tensor& x, Axes a, bool k) { return ops::logsumexp(x, a, k); }, false},
    {"norm 2", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k); }, true},
    {"norm 1", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, 1); }, true},
    {"norm 3", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, 3); }, true},
    {"norm 1.5", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, 1.5); },
     true},
    {"norm 0.5", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, 0.5); },
     false},
    {"norm -2", [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, -2); },
     false},
    {"norm inf",
     [](const Tensor& x, Axes a, bool k) { return ops::vector_norm(x, a, k, INFINITY); }, false},
};

TEST(ReduceGradients, agree_with_differences_over_axes_and_layouts) {
  const Tensor plain = random_leaf(Dims{2, 3, 4}, 5, 0.3, 1.5);
  const Tensor complex = random_leaf(Dims{2, 3, 2}, 5, 0.3, 1.5, DType::kComplex128);
  const Axes axes[] = {std::nullopt, DimsView(Dims{1}), DimsView(Dims{0, 2}), DimsView(Dims{-1})};
  const Dims lists[] = {{}, {1}, {0, 2}, {-1}};
  for (const auto& row : kRows) {
    for (size_t i = 0; i < std::size(axes); ++i) {
      for (const bool keepdims : {false, true}) {
        SCOPED_TRACE(concat(row.name, " ", lists[i], keepdims ? " keepdims" : ""));
        const Axes chosen = axes[i].has_value() ? Axes(DimsView(lists[i])) : Axes();
        const auto call = [&](Inputs x) { return row.call(x[0], chosen, keepdims); };
        const auto turned = [&](Inputs x) {
          return row.call(ops::matrix_transpose(x[0]), chosen, keepdims);
        };
        EXPECT_TRUE(gradcheck(call, {plain}));
        EXPECT_TRUE(gradgradcheck(call, {plain}));
        EXPECT_TRUE(gradcheck(turned, {plain}));
        if (row.complex) {
          EXPECT_TRUE(gradcheck(call, {complex}));
        }
      }
    }
    SCOPED_TRACE(row.name);
    const Tensor scalar = random_leaf(Dims{}, 3, 0.3, 1.5);
    const bool flat = std::string(row.name) == "std" || std::string(row.name) == "var";
    if (!flat) {
      EXPECT_TRUE(gradcheck([&](Inputs x) { return row.call(x[0], {}, false); }, {scalar}));
    }
  }
}

TEST(ReduceGradients, of_products_are_right_at_zeros) {
  for (const std::vector<double>& values : {std::vector<double>{0, 2, 3}, {0, 0, 3}, {0, 0, 0}}) {
    const Tensor x = test::f64(Dims{3}, values);
    set_requires_grad(x, true);
    EXPECT_TRUE(gradcheck([](Inputs in) { return ops::prod(in[0]); }, {x}));
    EXPECT_TRUE(gradgradcheck([](Inputs in) { return ops::prod(in[0]); }, {x}));
  }
}

TEST(ReduceGradients, of_running_sums_agree) {
  const Tensor x = random_leaf(Dims{2, 3}, 1);
  for (const int64_t axis : {0, 1}) {
    for (const bool initial : {false, true}) {
      const auto call = [&](Inputs in) { return ops::cumulative_sum(in[0], axis, {}, initial); };
      EXPECT_TRUE(gradcheck(call, {x}));
      EXPECT_TRUE(gradgradcheck(call, {x}));
    }
  }
}

TEST(MatmulGradients, agree_with_differences_over_ranks_and_batches) {
  const std::pair<Dims, Dims> shapes[] = {{{2, 3}, {3, 4}},    {{3}, {3}},
                                          {{2, 3}, {3}},       {{3}, {3, 2}},
                                          {{2, 2, 3}, {3, 2}}, {{2, 1, 2, 3}, {3, 3, 2}},
                                          {{0, 3}, {3, 2}},    {{2, 0}, {0, 2}}};
  for (const auto& [first, second] : shapes) {
    for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
      SCOPED_TRACE(concat(first, " ", second, " ", dtype));
      const std::vector<Tensor> leaves{random_leaf(first, 1, -1, 1, dtype),
                                       random_leaf(second, 2, -1, 1, dtype)};
      const auto call = [](Inputs x) { return ops::matmul(x[0], x[1]); };
      EXPECT_TRUE(gradcheck(call, leaves));
      EXPECT_TRUE(gradgradcheck(call, leaves));
    }
  }
  const Tensor a = random_leaf(Dims{3, 2}, 1);
  EXPECT_TRUE(
      gradcheck([](Inputs x) { return ops::matmul(ops::matrix_transpose(x[0]), x[0]); }, {a}));
}

TEST(Prod, the_gradient_of_a_line_with_a_zero_and_a_nan_is_nan_where_the_others_hold_both) {
  const double nan = std::nan("");
  const Tensor x = test::f64(Dims{3, 3}, {0, nan, 2, 0, 3, 2, 0, nan, INFINITY});
  set_requires_grad(x, true);
  const Dims last{-1};
  backward(std::array{ops::sum(ops::prod(x, DimsView(last)))});
  const std::vector<double> found = test::values(grad_of(x));
  EXPECT_TRUE(std::isnan(found[0]));  // NaN * 2
  EXPECT_EQ(found[1], 0);             // 0 * 2
  EXPECT_TRUE(std::isnan(found[2]));  // 0 * NaN
  EXPECT_EQ(found[3], 6);
  EXPECT_EQ(found[4], 0);
  EXPECT_EQ(found[5], 0);
  for (size_t i = 6; i < 9; ++i) EXPECT_TRUE(std::isnan(found[i]));
}

// 256 lines of four, of zeros and other numbers.
TEST(Prod, the_gradient_of_a_line_with_zeros_is_the_product_of_the_others) {
  constexpr int64_t kLines = 256;
  const double choices[4] = {0, -3, INFINITY, std::nan("")};
  std::vector<double> elements;
  for (int64_t line = 0; line < kLines; ++line) {
    for (int64_t k = 0; k < 4; ++k)
      elements.push_back(choices[static_cast<size_t>(line >> (2 * k)) % 4]);
  }
  const Tensor x = test::f64(Dims{kLines, 4}, elements);
  set_requires_grad(x, true);
  const Dims last{-1};
  backward(std::array{ops::sum(ops::prod(x, DimsView(last)))});
  const std::vector<double> found = test::values(grad_of(x));
  for (size_t line = 0; line < elements.size(); line += 4) {
    if (std::count(&elements[line], &elements[line] + 4, 0.0) == 0) continue;
    for (size_t i = line; i < line + 4; ++i) {
      double want = 1;
      for (size_t k = line; k < line + 4; ++k) want *= k == i ? 1 : elements[k];
      EXPECT_TRUE(found[i] == want || (std::isnan(found[i]) && std::isnan(want)))
          << found[i] << " and " << want << " at " << i;
    }
  }
}

TEST(Var, of_complex_numbers_is_the_mean_of_the_squared_distances) {
  using Complex = std::complex<double>;
  const std::vector<Complex> z{{1, 2}, {-1, 0.5}, {3, -2}, {0, 1}, {2, 2}, {-4, 1}};
  const Tensor x = ops::matrix_transpose(test::tensor<Complex>(Dims{3, 2}, z));
  const Dims last{-1};
  const Tensor variance = ops::var(x, DimsView(last), 1);
  const Tensor deviation = ops::std(x, {}, 0, true);
  EXPECT_EQ(variance.dtype(), DType::kFloat64);
  EXPECT_EQ(deviation.sizes(), (Dims{1, 1}));
  for (size_t row = 0; row < 2; ++row) {
    const Complex mean = (z[row] + z[row + 2] + z[row + 4]) / 3.0;
    double sum = 0;
    for (size_t i = row; i < 6; i += 2) sum += std::norm(z[i] - mean);
    EXPECT_NEAR(test::values(variance)[row], sum / 2, 1e-12);
  }
  const Tensor leaf = random_leaf(Dims{2, 3}, 5);
  const auto make = [](const Tensor& t) {
    return ops::add(t, ops::multiply(ops::square(t), Scalar(Complex(0, 1))));
  };
  EXPECT_TRUE(gradcheck([&](Inputs in) { return ops::var(make(in[0]), Axes(last), 1); }, {leaf}));
  EXPECT_TRUE(gradcheck([&](Inputs in) { return ops::std(make(in[0]), Axes(last), 1); }, {leaf}));
}

// d(sum of y)/dx of 16-bit numbers, beside that of the same numbers in float64.
void expect_short_gradient(const Tensor& input, const std::function<Tensor(const Tensor&)>& call) {
  const auto gradient = [&](DType dtype) {
    const Tensor x = ops::astype(input, dtype, true);
    set_requires_grad(x, true);
    backward(std::array{call(x)});
    return test::values(grad_of(x));
  };
  const Numbers found = gradient(DType::kFloat16);
  const Numbers wanted = gradient(DType::kFloat64);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(found[i], wanted[i], std::abs(wanted[i]) * 2e-3 + 1e-7) << i;
  }
}

Tensor f16(const std::vector<double>& numbers) {
  return ops::astype(f64(Dims{static_cast<int64_t>(numbers.size())}, numbers), DType::kFloat16);
}

TEST(Std, of_16_bit_floats_is_right_where_the_variance_is_out_of_their_range) {
  EXPECT_NEAR(values(ops::std(f16({0, 600}), {}, 1))[0], 424.3, 0.25);
  EXPECT_NEAR(values(ops::std(f16({0, 1e-4}), {}, 1))[0], 7.07e-5, 2e-7);
  const Tensor out = f16({0});
  ops::std(f16({0, 600}), {}, 1, true, ops::Out::into(out));
  EXPECT_NEAR(values(out)[0], 424.3, 0.25);
  const auto [deviation, mean] = ops::std_mean(f16({0, 600}), {}, 1);
  EXPECT_EQ(deviation.dtype(), DType::kFloat16);
  EXPECT_NEAR(values(deviation)[0], 424.3, 0.25);
  EXPECT_EQ(values(mean)[0], 300);
}

TEST(Std, of_16_bit_floats_has_a_gradient_that_is_rounded_once) {
  const Tensor x = ops::multiply(random_leaf(Dims{1000}, 3, -1, 1).detached(), 200);
  const Tensor large = ops::astype(x, DType::kFloat16);
  expect_short_gradient(large, [](const Tensor& t) { return ops::multiply(ops::std(t), 1000); });
  expect_short_gradient(large, [](const Tensor& t) { return ops::var(t); });
}

TEST(Var, with_a_correction_above_the_count_has_no_finite_gradient) {
  const Tensor x = f64(Dims{2}, {1, 3});
  set_requires_grad(x, true);
  for (const double correction : {2.0, 3.0}) {
    const Tensor variance = ops::var(x, {}, correction);
    EXPECT_EQ(values(variance), Numbers{INFINITY});
    EXPECT_EQ(values(grad(std::array{variance}, std::array{x})[0]), (Numbers{-INFINITY, INFINITY}));
    const Tensor deviation = ops::std(x, {}, correction);
    EXPECT_FALSE(std::isfinite(values(grad(std::array{deviation}, std::array{x})[0])[0]));
  }
}

TEST(VectorNorm, of_order_three_and_more_has_a_gradient_where_powers_are_out_of_range) {
  for (const double ord : {1.5, 2.0, 3.0, 10.0}) {
    expect_short_gradient(f16({300, -400}),
                          [&](const Tensor& t) { return ops::vector_norm(t, {}, false, ord); });
    const Tensor x = f32(Dims{2}, {1e20F, 0});
    set_requires_grad(x, true);
    backward(std::array{ops::vector_norm(x, {}, false, ord)});
    EXPECT_EQ(values(grad_of(x)), (Numbers{1, 0})) << ord;
  }
}

}  // namespace
}  // namespace tsr::test_reduce_gradients
