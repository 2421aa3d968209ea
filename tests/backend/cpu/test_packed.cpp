// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products with a packed matrix against three loops: sizes that fill tiles and panels and that do
// not, both storage orders, rows with gaps, adding and overwriting.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "arrays.h"
#include "base/error.h"
#include "kernel/packed.h"

namespace tsr::test::test_packed {
namespace {

struct Shape {
  int64_t rows, inner, columns;
};

void check(DType dtype, Shape s, Layout right, bool adds) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << s.rows << "x" << s.inner << "x"
                                  << s.columns << (adds ? " added" : ""));
  Array a(dtype, {s.rows, s.inner + 3}, Layout::kContiguous);  // longer than what is read
  Array b(dtype, {s.inner, s.columns}, right);
  Array c(dtype, {s.rows, s.columns + 5}, Layout::kContiguous);
  a.randomize(-2, 3, 1);
  b.randomize(-2, 3, 2);
  c.randomize(-2, 3, 3);
  std::vector<Value> old;
  for (int64_t i = 0; i < c.numel(); ++i) old.push_back(c.get(i));
  constexpr int64_t kUnit = kernel::kPackedColumns;
  const int64_t room = s.inner * ((s.columns + kUnit - 1) / kUnit * kUnit);
  std::vector<double> packed(static_cast<size_t>(room), NAN);

  kernel::PackedPlan plan{};
  plan.dtype = dtype;
  plan.inner = s.inner;
  plan.columns = s.columns;
  plan.matrix = b.data();
  plan.matrix_strides[0] = b.strides()[0] / itemsize(dtype);
  plan.matrix_strides[1] = b.strides()[1] / itemsize(dtype);
  plan.packed = packed.data();
  plan.pass = kernel::PackedPass::kPack;
  ASSERT_EQ(kernels().packed(plan), kernel::kOk) << last_error();
  plan.pass = kernel::PackedPass::kMultiply;
  plan.adds = adds ? 1 : 0;
  plan.rows = s.rows;
  plan.left = a.data();
  plan.left_step = s.inner + 3;
  plan.out = c.data();
  plan.out_step = s.columns + 5;
  ASSERT_EQ(kernels().packed(plan), kernel::kOk) << last_error();

  const double tolerance = dtype == DType::kFloat32 ? 1e-5 : 1e-13;
  for (int64_t i = 0; i < s.rows; ++i) {
    for (int64_t j = 0; j < s.columns + 5; ++j) {
      const int64_t at = i * (s.columns + 5) + j;
      Value want = j >= s.columns || adds ? old[static_cast<size_t>(at)] : Value(0);
      for (int64_t l = 0; l < s.inner && j < s.columns; ++l)
        want += a.get(i * (s.inner + 3) + l) * b.get(l * s.columns + j);
      ASSERT_LE(std::abs(c.get(at) - want), tolerance * (1 + 9 * static_cast<double>(s.inner)));
    }
  }
}

TEST(Packed, agrees_with_three_loops) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const Shape s : {Shape{1, 1, 1}, Shape{5, 3, 2}, Shape{12, 16, 32}, Shape{13, 17, 33},
                          Shape{140, 70, 65}, Shape{7, 0, 9}, Shape{25, 40, 300}}) {
      for (const Layout right : {Layout::kContiguous, Layout::kTransposed}) {
        check(dtype, s, right, false);
        check(dtype, s, right, true);
      }
    }
  }
}

TEST(Packed, refuses_other_dtypes) {
  kernel::PackedPlan plan{};
  plan.dtype = DType::kInt32;
  EXPECT_EQ(kernels().packed(plan), static_cast<kernel::Status>(Code::kNotImplemented));
}

}  // namespace
}  // namespace tsr::test::test_packed
