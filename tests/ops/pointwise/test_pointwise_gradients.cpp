// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// gradcheck and gradgradcheck of every differentiable pointwise op over layouts: a row an op.
#include <array>
#include <cmath>
#include <complex>
#include <tuple>

#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "tests/ops/prelude.h"

namespace tsr::test_pointwise_gradients {
namespace {

// The layouts an op must not care about, made from a leaf inside the function under test, so that
// the gradient flows through the view as well.
using Layout = Tensor (*)(const Tensor& leaf);
const struct {
  const char* name;
  Dims leaf;
  Layout make;
} kLayouts[] = {
    {"contiguous", {2, 3}, [](const Tensor& x) { return x; }},
    {"transposed", {3, 2}, [](const Tensor& x) { return ops::matrix_transpose(x); }},
    {"sliced",
     {2, 6},
     [](const Tensor& x) {
       return as_strided_view(x, Dims{2, 3}, Dims{6, 2}, x.offset() + 1);
     }},
    {"reversed",
     {2, 3},
     [](const Tensor& x) {
       return as_strided_view(x, Dims{2, 3}, Dims{3, -1}, x.offset() + 2);
     }},
    {"expanded",
     {1, 3},
     [](const Tensor& x) {
       return ops::broadcast_to(x, Dims{2, 3});
     }},
    {"empty", {0, 3}, [](const Tensor& x) { return x; }},
    {"0-dim", {}, [](const Tensor& x) { return x; }},
};

void check_all_layouts(const char* op, const std::function<Tensor(const Tensor&)>& fn, double low,
                       double high, DType dtype) {
  for (const auto& layout : kLayouts) {
    SCOPED_TRACE(std::string(op) + " " + name(dtype) + " " + layout.name);
    const std::vector<Tensor> leaves{random_leaf(layout.leaf, 1, low, high, dtype)};
    const auto call = [&](Inputs x) { return fn(layout.make(x[0])); };
    EXPECT_TRUE(gradcheck(call, leaves));
    EXPECT_TRUE(gradgradcheck(call, leaves));
  }
}

// ---- unary ----

struct UnaryRow {
  const char* name;
  const ops::Unary* op;
  double low, high;  // a range without kinks and poles
  bool complex;
};
const UnaryRow kUnary[] = {
    {"abs", &ops::abs, 0.2, 1, true},        {"negative", &ops::negative, -1, 1, true},
    {"sign", &ops::sign, 0.2, 1, true},      {"reciprocal", &ops::reciprocal, 0.5, 2, true},
    {"square", &ops::square, -1, 1, true},   {"sqrt", &ops::sqrt, 0.5, 2, true},
    {"rsqrt", &ops::rsqrt, 0.5, 2, true},    {"exp", &ops::exp, -1, 1, true},
    {"expm1", &ops::expm1, -1, 1, true},     {"log", &ops::log, 0.5, 2, true},
    {"log1p", &ops::log1p, 0, 1, true},      {"log2", &ops::log2, 0.5, 2, true},
    {"log10", &ops::log10, 0.5, 2, true},    {"sin", &ops::sin, -1, 1, true},
    {"cos", &ops::cos, -1, 1, true},         {"tan", &ops::tan, -1, 1, true},
    {"asin", &ops::asin, -0.8, 0.8, true},   {"acos", &ops::acos, -0.8, 0.8, true},
    {"atan", &ops::atan, -0.8, 0.8, true},   {"sinh", &ops::sinh, -1, 1, true},
    {"cosh", &ops::cosh, -1, 1, true},       {"tanh", &ops::tanh, -1, 1, true},
    {"floor", &ops::floor, 0.2, 0.8, false}, {"ceil", &ops::ceil, 0.2, 0.8, false},
    {"round", &ops::round, 0.6, 1.4, false}, {"trunc", &ops::trunc, 0.2, 0.8, false},
    {"sigmoid", &ops::sigmoid, -2, 2, true}, {"erf", &ops::erf, -1, 1, false},
    {"conj", &ops::conj, -1, 1, true},       {"relu", &ops::relu, 0.2, 1, false},
    {"silu", &ops::silu, -2, 2, false},
};

TEST(UnaryGradients, agree_with_differences_over_layouts) {
  for (const UnaryRow& row : kUnary) {
    const auto call = [&](const Tensor& x) { return (*row.op)(x); };
    check_all_layouts(row.name, call, row.low, row.high, DType::kFloat64);
    if (row.complex) check_all_layouts(row.name, call, row.low, row.high, DType::kComplex128);
  }
}

TEST(UnaryGradients, of_in_place_forms_agree_too) {
  for (const UnaryRow& row : kUnary) {
    SCOPED_TRACE(row.name);
    const std::vector<Tensor> leaves{random_leaf(Dims{2, 3}, 1, row.low, row.high)};
    const auto call = [&](Inputs x) {
      const Tensor scratch = ops::multiply(x[0], 1.0);
      return (*row.op)(scratch, ops::Out::inplace(scratch));
    };
    EXPECT_TRUE(gradcheck(call, leaves));
    EXPECT_TRUE(gradgradcheck(call, leaves));
  }
}

TEST(UnaryGradients, of_activations_with_parameters_agree) {
  check_all_layouts(
      "leaky_relu", [](const Tensor& x) { return ops::leaky_relu(x, 0.1); }, 0.2, 1,
      DType::kFloat64);
  check_all_layouts(
      "leaky_relu", [](const Tensor& x) { return ops::leaky_relu(x, 0.1); }, -1, -0.2,
      DType::kFloat64);
  check_all_layouts(
      "gelu", [](const Tensor& x) { return ops::gelu(x, "none"); }, -2, 2, DType::kFloat64);
  check_all_layouts(
      "gelu tanh", [](const Tensor& x) { return ops::gelu(x, "tanh"); }, -2, 2, DType::kFloat64);
}

// ---- binary ----

struct BinaryRow {
  const char* name;
  const ops::Binary* op;
  double low, high;
  bool complex;
};
const BinaryRow kBinary[] = {
    {"add", &ops::add, -1, 1, true},           {"subtract", &ops::subtract, -1, 1, true},
    {"multiply", &ops::multiply, -1, 1, true}, {"divide", &ops::divide, 0.5, 2, true},
    {"pow", &ops::pow, 0.5, 2, true},          {"maximum", &ops::maximum, -1, 1, false},
    {"minimum", &ops::minimum, -1, 1, false},  {"atan2", &ops::atan2, 0.5, 2, false},
    {"hypot", &ops::hypot, 0.5, 2, false},     {"remainder", &ops::remainder, 2.1, 2.9, false},
};

TEST(BinaryGradients, agree_with_differences_over_broadcasts) {
  const std::pair<Dims, Dims> shapes[] = {{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}},
                                          {{}, {2}},        {{0, 3}, {3}}, {{}, {}}};
  for (const BinaryRow& row : kBinary) {
    for (const auto& [first, second] : shapes) {
      for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
        if (dtype == DType::kComplex128 && !row.complex) continue;
        SCOPED_TRACE(concat(row.name, " ", first, " ", second, " ", dtype));
        // The ranges do not overlap, so that no kink of maximum or remainder is close.
        const std::vector<Tensor> leaves{
            random_leaf(first, 1, row.low, row.high, dtype),
            random_leaf(second, 7, row.low + 0.05, row.high + 0.05, dtype)};
        const auto call = [&](Inputs x) { return (*row.op)(x[0], x[1]); };
        EXPECT_TRUE(gradcheck(call, leaves));
        EXPECT_TRUE(gradgradcheck(call, leaves));
      }
    }
  }
}

TEST(BinaryGradients, with_scalars_on_either_side_agree) {
  for (const BinaryRow& row : kBinary) {
    SCOPED_TRACE(row.name);
    const std::vector<Tensor> leaves{random_leaf(Dims{2, 3}, 1, row.low, row.high)};
    for (const double number : {1.75, 3.0}) {
      EXPECT_TRUE(gradcheck([&](Inputs x) { return (*row.op)(x[0], number); }, leaves));
      EXPECT_TRUE(gradgradcheck([&](Inputs x) { return (*row.op)(x[0], number); }, leaves));
      EXPECT_TRUE(gradcheck([&](Inputs x) { return (*row.op)(number, x[0]); }, leaves));
      EXPECT_TRUE(gradgradcheck([&](Inputs x) { return (*row.op)(number, x[0]); }, leaves));
    }
  }
}

TEST(BinaryGradients, of_in_place_forms_agree_too) {
  for (const BinaryRow& row : kBinary) {
    SCOPED_TRACE(row.name);
    const std::vector<Tensor> leaves{random_leaf(Dims{2, 3}, 1, row.low, row.high),
                                     random_leaf(Dims{3}, 7, row.low + 0.05, row.high + 0.05)};
    const auto call = [&](Inputs x) {
      const Tensor scratch = ops::multiply(x[0], 1.0);
      return (*row.op)(scratch, x[1], ops::Out::inplace(scratch));
    };
    EXPECT_TRUE(gradcheck(call, leaves));
    EXPECT_TRUE(gradgradcheck(call, leaves));
  }
}

TEST(BinaryGradients, equal_operands_of_an_extremum_share) {
  const Tensor a = random_leaf(Dims{3}, 1);
  EXPECT_TRUE(gradcheck([](Inputs x) { return ops::maximum(x[0], x[0]); }, {a}));
}

TEST(BinaryGradients, both_operands_of_an_extremum_get_all_of_it_where_one_is_nan) {
  for (const ops::Binary* op : {&ops::maximum, &ops::minimum}) {
    const Tensor a = f64(Dims{4}, {NAN, 1, NAN, 2});
    const Tensor b = f64(Dims{4}, {1, NAN, NAN, 2});
    set_requires_grad(a, true);
    set_requires_grad(b, true);
    backward(std::array{ops::sum((*op)(a, b))});
    EXPECT_EQ(values(grad_of(a)), (Numbers{1, 1, 1, 0.5}));
    EXPECT_EQ(values(grad_of(b)), (Numbers{1, 1, 1, 0.5}));
  }
}

TEST(BinaryGradients, of_powers_of_the_number_0_with_complex_exponents_are_0) {
  for (const Scalar& base : {Scalar(0), Scalar(0.0), Scalar(std::complex<double>(0, 0))}) {
    const Tensor x = ops::cast_memory(f64(Dims{2}, {1, 2}), DType::kComplex128);
    const Tensor g = ops::cast_memory(f64(Dims{2}, {1, 1}), DType::kComplex128);
    set_requires_grad(x, true);
    backward(std::array{ops::pow(base, x)}, std::array{g});
    EXPECT_EQ(values<std::complex<double>>(grad_of(x)), (std::vector<std::complex<double>>(2)));
  }
}

TEST(BinaryGradients, of_atan2_neither_overflow_nor_underflow) {
  const auto gradients = [](double first, double second, DType dtype) {
    const Tensor a = ops::cast_memory(f64(Dims{1}, {first}), dtype);
    const Tensor b = ops::cast_memory(f64(Dims{1}, {second}), dtype);
    set_requires_grad(a, true);
    set_requires_grad(b, true);
    backward(std::array{ops::sum(ops::atan2(a, b))});
    return Numbers{values(grad_of(a))[0], values(grad_of(b))[0]};
  };
  const std::tuple<DType, double, double> cases[] = {
      {DType::kFloat16, 300, 4e-3},    {DType::kFloat16, 0x1p-12, 4e-3},
      {DType::kFloat32, 0x1p80, 1e-6}, {DType::kFloat32, 0x1p-80, 1e-6},
      {DType::kFloat64, 1e200, 1e-14}, {DType::kFloat64, 1e-200, 1e-14},
  };
  for (const auto& [dtype, unit, tolerance] : cases) {
    SCOPED_TRACE(concat(dtype, " ", unit));
    const Numbers found = gradients(3 * unit, 4 * unit, dtype);
    EXPECT_NEAR(found[0] * unit, 0.16, tolerance);
    EXPECT_NEAR(found[1] * unit, -0.12, tolerance);
  }
}

// ---- ternary ----

TEST(TernaryGradients, agree_with_differences) {
  const Tensor a = random_leaf(Dims{2, 3}, 1);
  const Tensor b = random_leaf(Dims{3}, 2, 0.5, 2);
  const Tensor c = random_leaf(Dims{2, 1}, 3, 0.5, 2);
  const Tensor mask = ops::greater(a.detached(), 0);
  const std::vector<Tensor> leaves{a, b, c};
  const std::function<Tensor(Inputs)> calls[] = {
      [&](Inputs x) { return ops::where(mask, x[0], x[1]); },
      [&](Inputs x) { return ops::where(mask, x[0], 2.0); },
      [&](Inputs x) { return ops::where(mask, 2.0, x[0]); },
      [](Inputs x) { return ops::lerp(x[0], x[1], x[2]); },
      [](Inputs x) { return ops::lerp(x[0], x[1], 0.3); },
      [](Inputs x) { return ops::addcmul(x[0], x[1], x[2], 0.5); },
      [](Inputs x) { return ops::addcdiv(x[0], x[1], x[2], 0.5); },
      [](Inputs x) { return ops::clip(x[0], Scalar(-0.31), Scalar(0.37)); },
      [](Inputs x) { return ops::clip(x[0], Scalar(-0.31), std::nullopt); },
      [](Inputs x) { return ops::clip(x[0], x[1], x[2]); },
  };
  int index = 0;
  for (const auto& call : calls) {
    SCOPED_TRACE(index++);
    EXPECT_TRUE(gradcheck(call, leaves));
    EXPECT_TRUE(gradgradcheck(call, leaves));
  }
}

TEST(Complex, numbers_as_operands_are_conjugated_in_gradients) {
  using Complex = std::complex<double>;
  const Scalar number(Complex(1, 2));
  const auto squared = [](const Tensor& z) { return ops::square(ops::abs(z)); };
  const auto lift = [](Inputs in) { return ops::add(in[0], Scalar(Complex(0, 1))); };
  const Tensor x = random_leaf(Dims{3}, 4);
  EXPECT_TRUE(gradcheck(
      [&](Inputs in) { return squared(ops::add(ops::multiply(lift(in), number), in[0])); }, {x}));
  EXPECT_TRUE(gradcheck(
      [&](Inputs in) { return squared(ops::add(ops::divide(lift(in), number), in[0])); }, {x}));
}

TEST(Lerp, takes_complex_numbers_and_weights) {
  using Complex = std::complex<double>;
  const Complex from(1, 2);
  const Complex to(-3, 0.5);
  const Tensor a = test::tensor<Complex>(Dims{2}, {from, from});
  const Tensor b = test::tensor<Complex>(Dims{2}, {to, to});
  const std::vector<Complex> weights{{0.25, 0.125}, {1, -0.5}};
  const auto expected = [&](Complex w) { return from + w * (to - from); };
  const Tensor mixed = ops::lerp(a, b, test::tensor<Complex>(Dims{2}, weights));
  for (size_t i = 0; i < 2; ++i) {
    const Tensor one = ops::lerp(a, b, Scalar(weights[i]));
    EXPECT_NEAR(std::abs(mixed.data_as<Complex>()[i] - expected(weights[i])), 0, 1e-14);
    EXPECT_NEAR(std::abs(one.data_as<Complex>()[i] - expected(weights[i])), 0, 1e-14);
  }
  ops::lerp(a, b, Scalar(weights[0]), ops::Out::inplace(a));
  EXPECT_NEAR(std::abs(a.data_as<Complex>()[0] - expected(weights[0])), 0, 1e-14);
  const auto real_of = [](Inputs in) {
    const Tensor z = ops::multiply(in[0], Scalar(Complex(1, 2)));
    const Tensor w = ops::multiply(in[2], Scalar(Complex(0.5, -0.25)));
    const Tensor moved = ops::lerp(z, in[1], w);
    const Tensor scaled = ops::lerp(moved, z, Scalar(Complex(0.25, 0.5)));
    return ops::square(ops::abs(scaled));
  };
  EXPECT_TRUE(gradcheck(
      real_of, {random_leaf(Dims{3}, 1), random_leaf(Dims{3}, 2), random_leaf(Dims{3}, 3)}));
}

}  // namespace
}  // namespace tsr::test_pointwise_gradients
