// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The binary family against double references, over dtypes, layouts and broadcasts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrays.h"
#include "base/error.h"

namespace tsr::test::test_binary {
namespace {

using kernel::BinaryOp;

const DType kFloats[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};
const DType kIntegers[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64,
                           DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64};

double floor_divide(double a, double b) {
  return std::floor(a / b);
}
double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct Case {
  BinaryOp op;
  const char* name;
  double low, high;
  double (*reference)(double, double);
};

const Case kArithmetic[] = {
    {BinaryOp::kAdd, "add", -5, 5, [](double a, double b) { return a + b; }},
    {BinaryOp::kSubtract, "subtract", -5, 5, [](double a, double b) { return a - b; }},
    {BinaryOp::kMultiply, "multiply", -5, 5, [](double a, double b) { return a * b; }},
    {BinaryOp::kMaximum, "maximum", -5, 5, [](double a, double b) { return std::max(a, b); }},
    {BinaryOp::kMinimum, "minimum", -5, 5, [](double a, double b) { return std::min(a, b); }},
    {BinaryOp::kFloorDivide, "floor_divide", 1, 9, floor_divide},
    {BinaryOp::kRemainder, "remainder", 1, 9, remainder},
};
const Case kReal[] = {
    {BinaryOp::kDivide, "divide", 0.5, 5, [](double a, double b) { return a / b; }},
    {BinaryOp::kPow, "pow", 0.1, 4, [](double a, double b) { return std::pow(a, b); }},
    {BinaryOp::kAtan2, "atan2", -5, 5, [](double a, double b) { return std::atan2(a, b); }},
    {BinaryOp::kHypot, "hypot", -5, 5, [](double a, double b) { return std::hypot(a, b); }},
    {BinaryOp::kTanhGrad, "tanh_grad", -1, 1, [](double g, double y) { return g * (1 - y * y); }},
    {BinaryOp::kSigmoidGrad, "sigmoid_grad", 0, 1,
     [](double g, double y) { return g * y * (1 - y); }},
    {BinaryOp::kReluGrad, "relu_grad", -1, 1, [](double g, double y) { return y > 0 ? g : 0.0; }},
    {BinaryOp::kAbsGrad, "abs_grad", -1, 1,
     [](double g, double x) { return x > 0 ? g : (x < 0 ? -g : 0.0); }},
    {BinaryOp::kReciprocalGrad, "reciprocal_grad", 0.1, 2,
     [](double g, double y) { return -g * y * y; }},
    {BinaryOp::kSquareGrad, "square_grad", -2, 2, [](double g, double x) { return 2 * g * x; }},
    {BinaryOp::kSqrtGrad, "sqrt_grad", 0.1, 2, [](double g, double y) { return g / (2 * y); }},
    {BinaryOp::kRsqrtGrad, "rsqrt_grad", 0.1, 2,
     [](double g, double y) { return -0.5 * g * y * y * y; }},
    {BinaryOp::kExpm1Grad, "expm1_grad", 0.1, 2, [](double g, double y) { return g * (y + 1); }},
    {BinaryOp::kLog1pGrad, "log1p_grad", 0.1, 2, [](double g, double x) { return g / (x + 1); }},
    {BinaryOp::kSinGrad, "sin_grad", 0.1, 1, [](double g, double x) { return g * std::cos(x); }},
    {BinaryOp::kCosGrad, "cos_grad", 0.1, 1, [](double g, double x) { return -g * std::sin(x); }},
    {BinaryOp::kTanGrad, "tan_grad", 0.1, 2, [](double g, double y) { return g * (1 + y * y); }},
};
const Case kComparisons[] = {
    {BinaryOp::kEqual, "equal", 0, 3, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {BinaryOp::kNotEqual, "not_equal", 0, 3, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {BinaryOp::kLess, "less", 0, 3, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {BinaryOp::kLessEqual, "less_equal", 0, 3,
     [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {BinaryOp::kGreater, "greater", 0, 3, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {BinaryOp::kGreaterEqual, "greater_equal", 0, 3,
     [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {BinaryOp::kLogicalAnd, "logical_and", 0, 2,
     [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {BinaryOp::kLogicalOr, "logical_or", 0, 2,
     [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {BinaryOp::kLogicalXor, "logical_xor", 0, 2,
     [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
};

void check(const Case& c, DType dtype, DType result, Layout first, Layout second) {
  SCOPED_TRACE(testing::Message() << c.name << " " << name(dtype) << " layouts "
                                  << static_cast<int>(first) << " " << static_cast<int>(second));
  Array a(dtype, {3, 29, 7}, first);
  Array b(dtype, {3, 29, 7}, second);
  Array output(result, {3, 29, 7});
  const bool no_sign = category(dtype) == Category::kIntegral && !info(dtype).is_signed;
  const double low = no_sign ? std::max(c.low, 1.0) : c.low;
  a.randomize(no_sign ? c.high : low, no_sign ? 2 * c.high : c.high,
              1);  // so that a - b is not negative
  b.randomize(low, c.high, 2);
  ASSERT_EQ(kernels().binary(c.op, elementwise({&output, &a, &b})), kernel::kOk) << last_error();
  expect_elements(
      output, {&a, &b},
      [&](const std::vector<Value>& x) { return Value(c.reference(x[0].real(), x[1].real())); }, 2);
}

TEST(Binary, arithmetic_matches_the_reference_for_every_real_dtype_and_layout) {
  for (const Case& c : kArithmetic) {
    for (const DType dtype : kFloats) {
      for (const Layout layout : kLayouts) check(c, dtype, dtype, layout, Layout::kContiguous);
      check(c, dtype, dtype, Layout::kContiguous, Layout::kBroadcast);
    }
    for (const DType dtype : kIntegers)
      check(c, dtype, dtype, Layout::kTransposed, Layout::kContiguous);
  }
  for (const Case& c : kReal) {
    for (const DType dtype : kFloats) check(c, dtype, dtype, Layout::kContiguous, Layout::kSliced);
  }
}

TEST(Binary, comparisons_write_bools) {
  for (const Case& c : kComparisons) {
    for (const DType dtype : kFloats)
      check(c, dtype, DType::kBool, Layout::kContiguous, Layout::kReversed);
    for (const DType dtype : kIntegers)
      check(c, dtype, DType::kBool, Layout::kContiguous, Layout::kContiguous);
    check(c, DType::kBool, DType::kBool, Layout::kContiguous, Layout::kContiguous);
  }
}

TEST(Binary, complex_arithmetic) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    Array a(dtype, {77});
    Array b(dtype, {77});
    Array output(dtype, {77});
    a.randomize(-2, 2, 1);
    b.randomize(0.5, 2, 2);
    const auto run = [&](BinaryOp op, Value (*f)(Value, Value)) {
      ASSERT_EQ(kernels().binary(op, elementwise({&output, &a, &b})), kernel::kOk) << last_error();
      expect_elements(
          output, {&a, &b}, [&](const std::vector<Value>& x) { return f(x[0], x[1]); }, 4);
    };
    run(BinaryOp::kAdd, [](Value x, Value y) { return x + y; });
    run(BinaryOp::kSubtract, [](Value x, Value y) { return x - y; });
    run(BinaryOp::kMultiply, [](Value x, Value y) { return x * y; });
    run(BinaryOp::kDivide, [](Value x, Value y) { return x / y; });
    run(BinaryOp::kPow, [](Value x, Value y) { return std::pow(x, y); });
  }
}

// Exponents that need no logarithm, all alike or beside others that need one.
TEST(Binary, complex_powers_of_simple_exponents) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    Array base(dtype, {77});
    Array exponents(dtype, {77});
    Array alone(dtype, {77});
    Array mixed(dtype, {77});
    base.randomize(-3, 3, 1);
    base.set(0, 0.0);
    base.set(1, -4.0);
    for (const double exponent : {2.0, 3.0, 1.0, 0.5, -0.5, -1.0}) {
      for (int64_t i = 0; i < 77; ++i) exponents.set(i, exponent);
      ASSERT_EQ(kernels().binary(BinaryOp::kPow, elementwise({&alone, &base, &exponents})),
                kernel::kOk);
      for (int64_t i = 2; i < 77; ++i) {
        const Value want = std::pow(base.get(i), exponent);
        EXPECT_LE(std::abs(alone.get(i) - want), tolerance(dtype, 2 * std::abs(want)))
            << base.get(i) << " to " << exponent;
      }
      if (exponent > 0) {
        EXPECT_EQ(alone.get(0), 0.0) << exponent;
      }
      for (int64_t i = 0; i < 77; i += 3) exponents.set(i, Value(exponent, 0.25));
      ASSERT_EQ(kernels().binary(BinaryOp::kPow, elementwise({&mixed, &base, &exponents})),
                kernel::kOk);
      for (int64_t i = 1; i < 77; ++i) {
        if (i % 3 == 0) continue;
        EXPECT_EQ(mixed.get(i), alone.get(i)) << base.get(i) << " to " << exponent;
      }
    }
  }
}

TEST(Binary, bool_arithmetic_is_logic) {
  Array a(DType::kBool, {4});
  Array b(DType::kBool, {4});
  Array output(DType::kBool, {4});
  for (int i = 0; i < 4; ++i) {
    a.set(i, i & 1);
    b.set(i, i >> 1);
  }
  const auto run = [&](BinaryOp op, bool (*f)(bool, bool)) {
    ASSERT_EQ(kernels().binary(op, elementwise({&output, &a, &b})), kernel::kOk) << last_error();
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(output.get(i).real(), f((i & 1) != 0, (i >> 1) != 0)) << i;
  };
  run(BinaryOp::kAdd, [](bool x, bool y) { return x || y; });
  run(BinaryOp::kMultiply, [](bool x, bool y) { return x && y; });
  run(BinaryOp::kBitwiseXor, [](bool x, bool y) { return x != y; });
  run(BinaryOp::kMaximum, [](bool x, bool y) { return x || y; });
}

TEST(Binary, bits_of_integers) {
  Array a(DType::kInt32, {100});
  Array b(DType::kInt32, {100});
  Array output(DType::kInt32, {100});
  a.randomize(-1e6, 1e6, 1);
  b.randomize(-1e6, 1e6, 2);
  const auto run = [&](BinaryOp op, int (*f)(int, int)) {
    ASSERT_EQ(kernels().binary(op, elementwise({&output, &a, &b})), kernel::kOk) << last_error();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(output.get(i).real(),
                f(static_cast<int>(a.get(i).real()), static_cast<int>(b.get(i).real())));
    }
  };
  run(BinaryOp::kBitwiseAnd, [](int x, int y) { return x & y; });
  run(BinaryOp::kBitwiseOr, [](int x, int y) { return x | y; });
  run(BinaryOp::kBitwiseXor, [](int x, int y) { return x ^ y; });
}

TEST(Binary, division_rounds_as_python_does) {
  const double as[] = {7, -7, 7, -7, 0, 6, -6, 1e10, 5.3};
  const double bs[] = {3, 3, -3, -3, -3, 3, 3, 0.1, -0.7};
  for (const DType dtype : {DType::kFloat64, DType::kInt32}) {
    const int count = dtype == DType::kFloat64 ? 9 : 7;
    Array a(dtype, {count});
    Array b(dtype, {count});
    Array output(dtype, {count});
    for (int i = 0; i < count; ++i) {
      a.set(i, as[i]);
      b.set(i, bs[i]);
    }
    ASSERT_EQ(kernels().binary(BinaryOp::kFloorDivide, elementwise({&output, &a, &b})),
              kernel::kOk);
    const double quotients[] = {2, -3, -3, 2, 0, 2, -2, 99999999999, -8};
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(output.get(i).real(), quotients[i]) << as[i] << " // " << bs[i];
    ASSERT_EQ(kernels().binary(BinaryOp::kRemainder, elementwise({&output, &a, &b})), kernel::kOk);
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(output.get(i).real(), remainder(as[i], bs[i])) << as[i] << " % " << bs[i];
  }
}

TEST(Binary, an_integer_division_by_zero_is_refused) {
  Array a(DType::kInt64, {3});
  Array b(DType::kInt64, {3});
  Array output(DType::kInt64, {3});
  b.set(0, 1);
  b.set(1, 1);
  EXPECT_EQ(kernels().binary(BinaryOp::kRemainder, elementwise({&output, &a, &b})),
            static_cast<kernel::Status>(Code::kValue));
}

TEST(Binary, the_smallest_integer_over_minus_one_wraps) {
  Array a(DType::kInt32, {1});
  Array b(DType::kInt32, {1});
  Array output(DType::kInt32, {1});
  *static_cast<int32_t*>(a.data()) = INT32_MIN;
  b.set(0, -1);
  ASSERT_EQ(kernels().binary(BinaryOp::kFloorDivide, elementwise({&output, &a, &b})), kernel::kOk);
  EXPECT_EQ(*static_cast<int32_t*>(output.data()), INT32_MIN);
}

TEST(Binary, nan_propagates_through_maximum_and_minimum) {
  Array a(DType::kFloat32, {3});
  Array b(DType::kFloat32, {3});
  Array output(DType::kFloat32, {3});
  a.set(0, NAN);
  b.set(1, NAN);
  for (const BinaryOp op : {BinaryOp::kMaximum, BinaryOp::kMinimum}) {
    ASSERT_EQ(kernels().binary(op, elementwise({&output, &a, &b})), kernel::kOk);
    EXPECT_TRUE(std::isnan(output.get(0).real()) && std::isnan(output.get(1).real()));
    EXPECT_EQ(output.get(2).real(), 0);
  }
}

TEST(Binary, works_in_place_and_in_large_arrays) {
  constexpr int64_t kCount = (int64_t{5} << 20) + 3;
  Array a(DType::kFloat32, {kCount});
  Array b(DType::kFloat32, {kCount});
  Array output(DType::kFloat32, {kCount});
  auto* x = static_cast<float*>(a.data());
  auto* y = static_cast<float*>(b.data());
  for (int64_t i = 0; i < kCount; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5F;
  }
  ASSERT_EQ(kernels().binary(BinaryOp::kAdd, elementwise({&output, &a, &b})), kernel::kOk);
  ASSERT_EQ(kernels().binary(BinaryOp::kAdd, elementwise({&a, &a, &b})), kernel::kOk);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(static_cast<float*>(output.data())[i], static_cast<float>(i) + 0.5F);
    ASSERT_EQ(x[i], static_cast<float>(i) + 0.5F);
  }
}

TEST(Binary, large_arrays_of_every_layout_agree_with_contiguous_ones) {
  const Sizes sizes{2100, 1001};  // non-temporal stores, rows that end within a cache line
  Array a(DType::kFloat32, sizes);
  Array b(DType::kFloat32, sizes);
  Array want(DType::kFloat32, sizes);
  a.randomize(-1, 1, 1);
  b.randomize(-1, 1, 2);
  ASSERT_EQ(kernels().binary(BinaryOp::kMultiply, elementwise({&want, &a, &b})), kernel::kOk);
  for (const Layout layout : {Layout::kTransposed, Layout::kSliced, Layout::kReversed}) {
    Array strided(DType::kFloat32, sizes, layout);
    Array half(DType::kFloat64, sizes, layout);
    Array output(DType::kFloat32, sizes);
    for (int64_t i = 0; i < a.numel(); ++i) {
      strided.set(i, a.get(i));
      half.set(i, b.get(i));
    }
    // The second operand is cast before the row.
    ASSERT_EQ(kernels().binary(BinaryOp::kMultiply, elementwise({&output, &strided, &half})),
              kernel::kOk);
    for (int64_t i = 0; i < a.numel(); ++i) ASSERT_EQ(output.get(i), want.get(i)) << i;
  }
}

// Long and short rows, of which several may fill a block, with and without non-temporal stores.
TEST(Binary, a_row_or_a_column_stands_for_all) {
  for (const int64_t columns : {3, 64, 100, 256, 1001}) {
    for (const int64_t rows : {37, columns % 100 == 0 ? 21001 : 2100}) {
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        Array a(DType::kFloat32, {rows, columns});
        Array output(DType::kFloat32, {rows, columns});
        Array row(dtype, {columns});
        Array column(dtype, {rows});
        a.randomize(-1, 1, 1);
        row.randomize(-1, 1, 2);
        column.randomize(-1, 1, 3);
        for (const bool by_row : {true, false}) {
          const Array& other = by_row ? row : column;
          kernel::ElementwisePlan plan = elementwise({&output, &a, &a});
          plan.ndim = 2;
          plan.data[2] = other.data();
          plan.dtypes[2] = dtype;
          plan.sizes[0] = rows;
          plan.sizes[1] = columns;
          for (int k = 0; k < 2; ++k) {
            plan.strides[k][0] = 4 * columns;
            plan.strides[k][1] = 4;
          }
          plan.strides[2][0] = by_row ? 0 : itemsize(dtype);
          plan.strides[2][1] = by_row ? itemsize(dtype) : 0;
          ASSERT_EQ(kernels().binary(BinaryOp::kAdd, plan), kernel::kOk);
          const auto* x = static_cast<const float*>(a.data());
          const auto* y = static_cast<const float*>(output.data());
          std::vector<float> added;
          for (int64_t i = 0; i < other.numel(); ++i)
            added.push_back(static_cast<float>(other.get(i).real()));
          for (int64_t i = 0; i < rows * columns; ++i) {
            const auto j = static_cast<size_t>(by_row ? i % columns : i / columns);
            ASSERT_EQ(y[i], x[i] + added[j]) << columns << " " << i;
          }
        }
      }
    }
  }
}

TEST(Binary, power_follows_c_at_the_special_points) {
  const float points[] = {0.0F, -0.0F,    1,         -1,  2,      -2,   0.5F,
                          -3,   INFINITY, -INFINITY, NAN, 1e-40F, 3e38F};
  Array a(DType::kFloat32, {13 * 13});
  Array b(DType::kFloat32, {13 * 13});
  Array output(DType::kFloat32, {13 * 13});
  for (int i = 0; i < 13 * 13; ++i) {
    a.set(i, points[i / 13]);
    b.set(i, points[i % 13]);
  }
  ASSERT_EQ(kernels().binary(BinaryOp::kPow, elementwise({&output, &a, &b})), kernel::kOk);
  for (int i = 0; i < 13 * 13; ++i) {
    const float want = std::pow(points[i / 13], points[i % 13]);
    const float got = static_cast<float*>(output.data())[i];
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(got)) << points[i / 13] << "**" << points[i % 13];
    else
      EXPECT_FLOAT_EQ(got, want) << points[i / 13] << "**" << points[i % 13];
  }
}

// Long rows compute several registers before they store the first, depending on the addresses.
TEST(Binary, long_rows_give_the_bits_of_short_ones_wherever_their_operands_lie) {
  constexpr int64_t kCount = 4 * 2048 + 77;
  constexpr int64_t kShort = 61;
  constexpr int64_t kRoom = 512;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt8}) {
    const int64_t size = itemsize(dtype);
    Array a(dtype, {kCount + kRoom});
    Array b(dtype, {kCount + kRoom});
    Array wide(dtype, {kCount + kRoom});
    Array wanted(dtype, {kCount});
    a.randomize(-5, 5, 1);
    b.randomize(-5, 5, 2);
    auto* line = static_cast<std::byte*>(wide.data());
    line += (64 - reinterpret_cast<uintptr_t>(line) % 64) % 64;
    for (const BinaryOp op : {BinaryOp::kAdd, BinaryOp::kMaximum}) {
      const auto run = [&](void* out, int64_t first, int64_t count) {
        kernel::ElementwisePlan plan = elementwise({&wanted, &a, &b});
        plan.data[0] = out;
        plan.data[1] = a.at(first);
        plan.data[2] = b.at(first);
        plan.sizes[0] = plan.numel = count;
        ASSERT_EQ(kernels().binary(op, plan), kernel::kOk) << last_error();
      };
      for (int64_t i = 0; i < kCount; i += kShort)
        run(wanted.at(i), i, std::min(kShort, kCount - i));
      for (const int64_t past : {int64_t{0}, size, int64_t{64}}) {
        SCOPED_TRACE(testing::Message() << name(dtype) << ", " << past << " bytes behind a line");
        run(line + past, 0, kCount);
        EXPECT_EQ(std::memcmp(line + past, wanted.data(), static_cast<size_t>(kCount * size)), 0);
      }
    }
    // The last: in the place of its operand.
    kernel::ElementwisePlan plan = elementwise({&wanted, &a, &b});
    plan.sizes[0] = plan.numel = kCount;
    plan.data[0] = plan.data[1];
    ASSERT_EQ(kernels().binary(BinaryOp::kMaximum, plan), kernel::kOk) << last_error();
    EXPECT_EQ(std::memcmp(a.data(), wanted.data(), static_cast<size_t>(kCount * size)), 0);
  }
}

}  // namespace
}  // namespace tsr::test::test_binary
