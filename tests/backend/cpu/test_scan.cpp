// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums, products, extrema and logarithms of sums along every axis, over dtypes and layouts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arrays.h"

namespace tsr::test::test_scan {
namespace {

using kernel::ScanOp;

kernel::ScanPlan plan_for(ScanOp op, const Array& out, const Array& in, size_t axis) {
  kernel::ScanPlan plan{};
  plan.op = op;
  plan.numel = 1;
  plan.axis_size = in.sizes()[axis];
  plan.axis_input_stride = in.strides()[axis];
  plan.axis_output_stride = out.strides()[axis];
  plan.input = in.data();
  plan.output = out.data();
  plan.dtype = in.dtype();
  for (size_t d = 0; d < in.sizes().size(); ++d) {
    if (d == axis) continue;
    plan.sizes[plan.ndim] = in.sizes()[d];
    plan.input_strides[plan.ndim] = in.strides()[d];
    plan.output_strides[plan.ndim++] = out.strides()[d];
    plan.numel *= in.sizes()[d];
  }
  if (plan.ndim == 0) plan.sizes[plan.ndim++] = 1;
  return plan;
}

void check(ScanOp op, DType dtype, const Sizes& sizes, size_t axis, Layout in_layout,
           Layout out_layout) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " axis " << axis << " layouts "
                                  << static_cast<int>(in_layout) << static_cast<int>(out_layout));
  Array in(dtype, sizes, in_layout);
  Array out(dtype, sizes, out_layout);
  in.randomize(is_integral_or_bool(dtype) ? 0 : 0.8, is_integral_or_bool(dtype) ? 3 : 1.2, 3);
  ASSERT_EQ(kernels().scan(plan_for(op, out, in, axis)), kernel::kOk);
  int64_t step = 1;
  for (size_t d = axis + 1; d < sizes.size(); ++d) step *= sizes[d];
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t position = i / step % sizes[axis];
    Value want = op == ScanOp::kSum ? 0 : 1;
    double scale = 0;
    for (int64_t k = 0; k <= position; ++k) {
      const Value x = in.get(i - (position - k) * step);
      want = op == ScanOp::kSum ? want + x : want * x;
      scale += std::abs(x);
    }
    if (is_integral(dtype) && std::abs(want) > 100) continue;  // would wrap around
    ASSERT_LE(std::abs(out.get(i) - want), tolerance(dtype, std::max(scale, std::abs(want)))) << i;
  }
}

TEST(Scan, matches_the_reference_for_every_dtype_axis_and_layout) {
  for (const ScanOp op : {ScanOp::kSum, ScanOp::kProd}) {
    for (const DType dtype : {DType::kInt8, DType::kInt64, DType::kFloat16, DType::kBFloat16,
                              DType::kFloat32, DType::kFloat64, DType::kComplex64}) {
      for (const Layout layout : kLayouts) {
        for (size_t axis = 0; axis < 3; ++axis) {
          check(op, dtype, {5, 13, 11}, axis, layout, Layout::kContiguous);
        }
      }
      check(op, dtype, {5, 13, 11}, 1, Layout::kContiguous, Layout::kTransposed);
    }
  }
}

TEST(Scan, long_lines_carry_over_blocks) {
  check(ScanOp::kSum, DType::kFloat32, {1300}, 0, Layout::kContiguous, Layout::kContiguous);
  check(ScanOp::kSum, DType::kInt64, {1300, 2}, 0, Layout::kContiguous, Layout::kContiguous);
}

TEST(Scan, matrices_of_few_columns) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
                            DType::kInt64, DType::kComplex64}) {
    for (const int64_t columns : {1, 2, 3, 4, 9, 16, 32, 33}) {
      for (size_t axis = 0; axis < 2; ++axis) {
        check(ScanOp::kSum, dtype, {190, columns}, axis, Layout::kContiguous, Layout::kContiguous);
        check(ScanOp::kProd, dtype, {25, columns}, axis, Layout::kContiguous, Layout::kContiguous);
      }
    }
  }
}

TEST(Scan, lines_side_by_side_keep_to_themselves) {
  for (int64_t lines = 1; lines < 10; ++lines) {
    check(ScanOp::kSum, DType::kFloat32, {lines, 600}, 1, Layout::kContiguous, Layout::kContiguous);
    check(ScanOp::kSum, DType::kInt64, {lines, 520}, 1, Layout::kReversed, Layout::kSliced);
    for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
      for (const int64_t length : {20, 30}) {
        check(ScanOp::kProd, dtype, {lines, length}, 1, Layout::kContiguous, Layout::kContiguous);
        check(ScanOp::kSum, dtype, {lines, length}, 1, Layout::kReversed, Layout::kSliced);
        check(ScanOp::kSum, dtype, {length, lines}, 0, Layout::kContiguous, Layout::kContiguous);
      }
    }
  }
  // More lines than are taken at a time, in rows that are not adjacent.
  for (const ScanOp op : {ScanOp::kSum, ScanOp::kProd})
    check(op, DType::kComplex64, {9, 3, 400}, 0, Layout::kSliced, Layout::kTransposed);
}

// The positions lie with strides of their own.
void check_extrema(ScanOp op, DType dtype, const Sizes& sizes, size_t axis, Layout layout) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " axis " << axis << " layout "
                                  << static_cast<int>(layout));
  Array in(dtype, sizes, layout);
  Array out(dtype, sizes, Layout::kTransposed);
  Array places(DType::kInt64, sizes, Layout::kSliced);
  in.randomize(0, 6, 5);
  if (is_floating(dtype)) in.set(in.numel() / 2, std::numeric_limits<double>::quiet_NaN());
  kernel::ScanPlan plan = plan_for(op, out, in, axis);
  plan.positions = static_cast<int64_t*>(places.data());
  plan.axis_position_stride = places.strides()[axis];
  int dims = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d != axis) plan.position_strides[dims++] = places.strides()[d];
  }
  ASSERT_EQ(kernels().scan(plan), kernel::kOk);
  int64_t step = 1;
  for (size_t d = axis + 1; d < sizes.size(); ++d) step *= sizes[d];
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t position = i / step % sizes[axis];
    int64_t best = 0;
    const auto value = [&](int64_t k) { return in.get(i - (position - k) * step).real(); };
    for (int64_t k = 1; k <= position; ++k) {
      const bool better = op == ScanOp::kMax ? value(k) >= value(best) : value(k) <= value(best);
      if (better || std::isnan(value(k))) best = k;
    }
    ASSERT_EQ(places.get(i).real(), static_cast<double>(best)) << i;
    const double found = out.get(i).real();
    ASSERT_TRUE(found == value(best) || (std::isnan(found) && std::isnan(value(best)))) << i;
  }
}

TEST(Scan, extrema_come_with_the_position_of_the_last_equal_one) {
  for (const ScanOp op : {ScanOp::kMax, ScanOp::kMin}) {
    for (const DType dtype : {DType::kBool, DType::kUInt8, DType::kInt64, DType::kUInt64,
                              DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
      for (const Layout layout : kLayouts) {
        for (size_t axis = 0; axis < 3; ++axis) check_extrema(op, dtype, {5, 13, 11}, axis, layout);
      }
      // Several blocks of one line, most of them without a change; wide and narrow rows.
      check_extrema(op, dtype, {2, 203}, 1, Layout::kContiguous);
      check_extrema(op, dtype, {9, 40}, 0, Layout::kContiguous);
      check_extrema(op, dtype, {9, 40}, 0, Layout::kReversed);
    }
  }
}

TEST(Scan, extrema_refuse_complex_numbers) {
  const Array in(DType::kComplex64, {3});
  const Array out(DType::kComplex64, {3});
  EXPECT_NE(kernels().scan(plan_for(ScanOp::kMax, out, in, 0)), kernel::kOk);
  EXPECT_NE(kernels().scan(plan_for(ScanOp::kLogSumExp, out, in, 0)), kernel::kOk);
}

// `spread` is the range of the numbers: wide ones leave the way in which blocks share a divisor.
void check_log_sums(DType dtype, const Sizes& sizes, size_t axis, Layout layout, double spread) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " axis " << axis << " spread " << spread);
  Array in(dtype, sizes, layout);
  Array out(dtype, sizes, Layout::kSliced);
  in.randomize(-spread, spread, 7);
  ASSERT_EQ(kernels().scan(plan_for(ScanOp::kLogSumExp, out, in, axis)), kernel::kOk);
  int64_t step = 1;
  for (size_t d = axis + 1; d < sizes.size(); ++d) step *= sizes[d];
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t position = i / step % sizes[axis];
    long double largest = -std::numeric_limits<long double>::infinity();
    for (int64_t k = 0; k <= position; ++k)
      largest = std::fmax(largest, static_cast<long double>(in.get(i - k * step).real()));
    long double sum = 0;
    for (int64_t k = 0; k <= position; ++k)
      sum += std::exp(static_cast<long double>(in.get(i - k * step).real()) - largest);
    const auto want = static_cast<double>(largest + std::log(sum));
    const double limit =
        dtype == DType::kFloat64 ? 1e-13 * std::fmax(1, std::abs(want)) : tolerance(dtype, want);
    ASSERT_LE(std::abs(out.get(i).real() - want), limit) << i;
  }
}

TEST(Scan, logarithms_of_sums_keep_their_digits_in_any_range) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const double spread : {1.0, 30.0, 1000.0}) {
      for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kReversed}) {
        check_log_sums(dtype, {3, 21, 11}, 1, layout, spread);
        check_log_sums(dtype, {3, 21, 11}, 2, layout, spread);
      }
      check_log_sums(dtype, {1100}, 0, Layout::kContiguous, spread);
    }
  }
}

TEST(Scan, works_in_place) {
  Array array(DType::kInt32, {700});
  for (int64_t i = 0; i < 700; ++i) array.set(i, 1);
  ASSERT_EQ(kernels().scan(plan_for(ScanOp::kSum, array, array, 0)), kernel::kOk);
  for (int64_t i = 0; i < 700; ++i) ASSERT_EQ(array.get(i).real(), static_cast<double>(i + 1));
}

// What stands first is not added to 0 or multiplied by 1, in any layout: -0.0 and infinite complex
// numbers stay what they are.
TEST(Scan, gives_the_same_bits_in_every_layout) {
  const double special[] = {-0.0, std::numeric_limits<double>::infinity(), 0.0, -1.5, 1.0 / 3};
  constexpr int64_t kLength = 4;
  constexpr int64_t kWidth = 25;
  for (const ScanOp op : {ScanOp::kSum, ScanOp::kProd}) {
    for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64,
                              DType::kComplex128}) {
      std::vector<std::vector<Value>> found;
      for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kSliced}) {
        Array in(dtype, {kLength, kWidth}, layout);
        Array out(dtype, {kLength, kWidth});
        for (int64_t i = 0; i < in.numel(); ++i) {
          const bool first = i < kWidth;
          const Value other(0.7 + 0.1 * static_cast<double>(i % 7), 0.3);
          in.set(i, first ? Value(special[i % 5], special[i / 5]) : other);
        }
        ASSERT_EQ(kernels().scan(plan_for(op, out, in, 0)), kernel::kOk);
        found.emplace_back();
        for (int64_t i = 0; i < out.numel(); ++i) found.back().push_back(out.get(i));
        for (int64_t i = 0; i < kWidth; ++i) {
          const Value start = out.get(i);
          SCOPED_TRACE(testing::Message() << name(dtype) << " element " << i);
          ASSERT_EQ(start, in.get(i));
          ASSERT_EQ(std::signbit(start.real()), std::signbit(in.get(i).real()));
          ASSERT_EQ(std::signbit(start.imag()), std::signbit(in.get(i).imag()));
        }
      }
      const auto same = [](double a, double b) {
        return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
      };
      for (const auto& other : found) {
        for (size_t i = 0; i < other.size(); ++i) {
          ASSERT_TRUE(same(other[i].real(), found[0][i].real()) &&
                      same(other[i].imag(), found[0][i].imag()))
              << name(dtype) << " element " << i << ": " << other[i] << " and " << found[0][i];
        }
      }
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_scan
