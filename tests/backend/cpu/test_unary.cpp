// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The unary family against double references, over dtypes and layouts.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <iterator>

#include "arrays.h"
#include "base/error.h"

namespace tsr::test::test_unary {
namespace {

using kernel::UnaryOp;

struct Case {
  UnaryOp op;
  const char* name;
  double low, high;
  Value (*reference)(Value);
  bool complex;
};

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

const Case kCases[] = {
    {UnaryOp::kNegative, "negative", -5, 5, [](Value x) { return -x; }, true},
    {UnaryOp::kReciprocal, "reciprocal", 0.5, 5, [](Value x) { return 1.0 / x; }, true},
    {UnaryOp::kSquare, "square", -5, 5, [](Value x) { return x * x; }, true},
    {UnaryOp::kSqrt, "sqrt", 0, 5, [](Value x) { return std::sqrt(x); }, true},
    {UnaryOp::kRsqrt, "rsqrt", 0.5, 5, [](Value x) { return 1.0 / std::sqrt(x); }, true},
    {UnaryOp::kExp, "exp", -5, 5, [](Value x) { return std::exp(x); }, true},
    {UnaryOp::kExpm1, "expm1", -5, 5,
     [](Value x) { return x.imag() == 0 ? Value(std::expm1(x.real())) : std::exp(x) - 1.0; }, true},
    {UnaryOp::kLog, "log", 0.1, 5, [](Value x) { return std::log(x); }, true},
    {UnaryOp::kLog1p, "log1p", -0.9, 5,
     [](Value x) { return x.imag() == 0 ? Value(std::log1p(x.real())) : std::log(1.0 + x); }, true},
    {UnaryOp::kLog2, "log2", 0.1, 5, [](Value x) { return std::log(x) / std::log(2.0); }, true},
    {UnaryOp::kLog10, "log10", 0.1, 5, [](Value x) { return std::log(x) / std::log(10.0); }, true},
    {UnaryOp::kSin, "sin", -9, 9, [](Value x) { return std::sin(x); }, true},
    {UnaryOp::kCos, "cos", -9, 9, [](Value x) { return std::cos(x); }, true},
    {UnaryOp::kTan, "tan", -1.2, 1.2, [](Value x) { return std::tan(x); }, true},
    {UnaryOp::kAsin, "asin", -1, 1,
     [](Value x) { return x.imag() == 0 ? Value(std::asin(x.real())) : std::asin(x); }, true},
    {UnaryOp::kAcos, "acos", -1, 1,
     [](Value x) { return x.imag() == 0 ? Value(std::acos(x.real())) : std::acos(x); }, true},
    {UnaryOp::kAtan, "atan", -5, 5,
     [](Value x) { return x.imag() == 0 ? Value(std::atan(x.real())) : std::atan(x); }, true},
    {UnaryOp::kSinh, "sinh", -5, 5, [](Value x) { return std::sinh(x); }, true},
    {UnaryOp::kCosh, "cosh", -5, 5, [](Value x) { return std::cosh(x); }, true},
    {UnaryOp::kTanh, "tanh", -5, 5, [](Value x) { return std::tanh(x); }, true},
    {UnaryOp::kFloor, "floor", -5, 5, [](Value x) { return Value(std::floor(x.real())); }, false},
    {UnaryOp::kCeil, "ceil", -5, 5, [](Value x) { return Value(std::ceil(x.real())); }, false},
    {UnaryOp::kRound, "round", -5, 5, [](Value x) { return Value(std::nearbyint(x.real())); },
     false},
    {UnaryOp::kTrunc, "trunc", -5, 5, [](Value x) { return Value(std::trunc(x.real())); }, false},
    {UnaryOp::kSigmoid, "sigmoid", -9, 9,
     [](Value x) { return x.imag() == 0 ? Value(sigmoid(x.real())) : 1.0 / (1.0 + std::exp(-x)); },
     true},
    {UnaryOp::kErf, "erf", -4, 4, [](Value x) { return Value(std::erf(x.real())); }, false},
    {UnaryOp::kConj, "conj", -5, 5, [](Value x) { return std::conj(x); }, true},
    {UnaryOp::kRelu, "relu", -5, 5, [](Value x) { return Value(std::max(x.real(), 0.0)); }, false},
    {UnaryOp::kGelu, "gelu", -3, 5,
     [](Value x) { return 0.5 * x * (1 + std::erf(x.real() / std::sqrt(2.0))); }, false},
    {UnaryOp::kGeluTanh, "gelu_tanh", -3, 5,
     [](Value x) {
       const double r = x.real();
       return Value(0.5 * r * (1 + std::tanh(std::sqrt(2 / M_PI) * (r + 0.044715 * r * r * r))));
     },
     false},
    {UnaryOp::kSilu, "silu", -5, 5, [](Value x) { return x * sigmoid(x.real()); }, false},
    {UnaryOp::kSign, "sign", -5, 5, [](Value x) { return x == 0.0 ? Value(0) : x / std::abs(x); },
     true},
};

const DType kFloats[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

void check(const Case& c, DType dtype, Layout in_layout, Layout out_layout) {
  SCOPED_TRACE(testing::Message() << c.name << " " << name(dtype) << " layouts "
                                  << static_cast<int>(in_layout) << " "
                                  << static_cast<int>(out_layout));
  Array input(dtype, {3, 37, 5}, in_layout);
  Array output(dtype, {3, 37, 5}, out_layout);
  input.randomize(c.low, c.high, 7);
  ASSERT_EQ(kernels().unary(c.op, elementwise({&output, &input})), kernel::kOk) << last_error();
  expect_elements(
      output, {&input}, [&](const std::vector<Value>& x) { return c.reference(x[0]); }, 2);
}

TEST(Unary, matches_the_reference_for_every_dtype_and_layout) {
  for (const Case& c : kCases) {
    for (const DType dtype : kFloats) {
      for (const Layout layout : kLayouts) check(c, dtype, layout, Layout::kContiguous);
      check(c, dtype, Layout::kContiguous, Layout::kTransposed);
    }
    if (!c.complex) continue;
    for (const DType dtype : {DType::kComplex64, DType::kComplex128})
      check(c, dtype, Layout::kTransposed, Layout::kContiguous);
  }
}

TEST(Unary, integers_negate_square_and_take_signs) {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    Array input(dtype, {200});
    Array output(dtype, {200});
    input.randomize(-11, 11, 3);
    const auto run = [&](UnaryOp op, double (*f)(double)) {
      ASSERT_EQ(kernels().unary(op, elementwise({&output, &input})), kernel::kOk) << last_error();
      expect_elements(output, {&input},
                      [&](const std::vector<Value>& x) { return Value(f(x[0].real())); });
    };
    run(UnaryOp::kNegative, [](double x) { return -x; });
    run(UnaryOp::kSquare, [](double x) { return x * x; });
    run(UnaryOp::kAbs, [](double x) { return std::abs(x); });
    run(UnaryOp::kSign, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; });
    run(UnaryOp::kFloor, [](double x) { return x; });
    run(UnaryOp::kBitwiseInvert, [](double x) { return -x - 1; });
  }
}

TEST(Unary, absolute_value_of_complex_numbers_is_real) {
  Array input(DType::kComplex64, {50});
  Array output(DType::kFloat32, {50});
  input.randomize(-3, 3, 4);
  ASSERT_EQ(kernels().unary(UnaryOp::kAbs, elementwise({&output, &input})), kernel::kOk)
      << last_error();
  expect_elements(output, {&input},
                  [](const std::vector<Value>& x) { return Value(std::abs(x[0])); });
}

// Equal, both NaN, and zeros with one sign.
bool same(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

// Numbers whose squares overflow or vanish take another way than those beside them.
TEST(Unary, roots_of_complex_numbers_of_every_size) {
  const double parts[] = {0.0,     1.0,     0x1p-40,  0x1p120,   0x1p-120, 0x1p-490,
                          0x1p505, 0x1p900, 0x1p-900, 0x1p-1070, INFINITY, NAN};
  const auto count = static_cast<int64_t>(std::size(parts));
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    const double epsilon = dtype == DType::kComplex64 ? 0x1p-23 : 0x1p-52;
    Array input(dtype, {4 * count * count});
    Array output(dtype, {4 * count * count});
    for (int64_t i = 0; i < input.numel(); ++i) {
      const double re = parts[i / 4 / count] * (i % 2 == 0 ? 1 : -1);
      const double im = parts[i / 4 % count] * (i % 4 < 2 ? 1 : -1);
      input.set(i, Value(re, im));
    }
    ASSERT_EQ(kernels().unary(UnaryOp::kSqrt, elementwise({&output, &input})), kernel::kOk);
    for (int64_t i = 0; i < input.numel(); ++i) {
      const Value x = input.get(i);
      const Value found = output.get(i);
      const auto wide = std::sqrt(std::complex<long double>(x));
      const auto want = Value(wide);
      if (!std::isfinite(want.real()) || !std::isfinite(want.imag()) || std::abs(want) == 0) {
        EXPECT_TRUE(same(found.real(), want.real()) && same(found.imag(), want.imag()))
            << x << ": " << found;
        continue;
      }
      EXPECT_LE(std::abs(found - want), 4 * epsilon * std::abs(want)) << x << ": " << found;
      EXPECT_EQ(std::signbit(found.imag()), std::signbit(x.imag())) << x;
    }
  }
}

TEST(Unary, predicates_write_bools) {
  for (const DType dtype : kFloats) {
    Array input(dtype, {40});
    Array output(DType::kBool, {40});
    input.randomize(-1, 1, 1);
    input.set(3, INFINITY);
    input.set(17, -INFINITY);
    input.set(39, NAN);
    input.set(0, 0.0);
    const auto run = [&](UnaryOp op, bool (*f)(double)) {
      ASSERT_EQ(kernels().unary(op, elementwise({&output, &input})), kernel::kOk) << last_error();
      expect_elements(output, {&input},
                      [&](const std::vector<Value>& x) { return Value(f(x[0].real()) ? 1 : 0); });
    };
    run(UnaryOp::kIsnan, [](double x) { return std::isnan(x); });
    run(UnaryOp::kIsinf, [](double x) { return std::isinf(x); });
    run(UnaryOp::kIsfinite, [](double x) { return std::isfinite(x); });
    run(UnaryOp::kLogicalNot, [](double x) { return x == 0; });
  }
}

TEST(Unary, parameters_reach_the_functor) {
  for (const DType dtype : kFloats) {
    Array input(dtype, {70});
    Array output(dtype, {70});
    input.randomize(-4, 4, 5);
    kernel::ElementwisePlan plan = elementwise({&output, &input});
    set_param(plan.params[0], dtype, 0.25);
    ASSERT_EQ(kernels().unary(UnaryOp::kLeakyRelu, plan), kernel::kOk);
    expect_elements(output, {&input}, [](const std::vector<Value>& x) {
      return x[0].real() < 0 ? 0.25 * x[0] : x[0];
    });
  }
}

TEST(Unary, an_element_does_not_depend_on_layout_or_position) {
  Array contiguous(DType::kFloat32, {37, 41});
  Array strided(DType::kFloat32, {37, 41}, Layout::kTransposed);
  Array first(DType::kFloat32, {37, 41});
  Array second(DType::kFloat32, {37, 41});
  contiguous.randomize(-3, 3, 9);
  for (int64_t i = 0; i < strided.numel(); ++i) strided.set(i, contiguous.get(i));
  for (const Case& c : kCases) {
    ASSERT_EQ(kernels().unary(c.op, elementwise({&first, &contiguous})), kernel::kOk);
    ASSERT_EQ(kernels().unary(c.op, elementwise({&second, &strided})), kernel::kOk);
    Array one_in(DType::kFloat32, {1});
    Array one_out(DType::kFloat32, {1});
    for (int64_t i = 0; i < first.numel(); i += 97) {
      one_in.set(0, contiguous.get(i));
      ASSERT_EQ(kernels().unary(c.op, elementwise({&one_out, &one_in})), kernel::kOk);
      const float a = *static_cast<float*>(first.at(i));
      const float b = *static_cast<float*>(second.at(i));
      const float alone = *static_cast<float*>(one_out.at(0));
      ASSERT_TRUE((a == b && a == alone) || (std::isnan(a) && std::isnan(b)))
          << c.name << " at " << i;
    }
  }
}

TEST(Unary, an_op_without_a_kernel_says_so) {
  Array input(DType::kInt32, {4});
  Array output(DType::kInt32, {4});
  EXPECT_EQ(kernels().unary(UnaryOp::kExp, elementwise({&output, &input})),
            static_cast<kernel::Status>(Code::kNotImplemented));
  EXPECT_STREQ(last_error(), "expected an op that exists for these dtypes, got one that does not");
}

}  // namespace
}  // namespace tsr::test::test_unary
