// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums of rows of all lengths, which are folded together, and of complex numbers, whose parts are
// added up side by side.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "arrays.h"

namespace tsr::test::test_reduce_sums {
namespace {

using kernel::ReduceOp;

// Lengths around those of registers, of their groups and of pages.
const int64_t kLengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 130, 513, 4101};

void expect_sums(const Array& input, bool across, ReduceOp op) {
  const int64_t lines = input.sizes()[across ? 1 : 0];
  const int64_t length = input.sizes()[across ? 0 : 1];
  const Array output(input.dtype(), {lines});
  ASSERT_EQ(kernels().reduce(reduction(op, output, input, {across, !across})), kernel::kOk);
  for (int64_t line = 0; line < lines; ++line) {
    Value want = 0;
    for (int64_t i = 0; i < length; ++i)
      want += input.get(across ? i * lines + line : line * length + i);
    if (op == ReduceOp::kMean) want /= static_cast<double>(length);
    EXPECT_LE(std::abs(output.get(line) - want),
              tolerance(input.dtype(), static_cast<double>(length)))
        << line;
  }
}

TEST(ReduceSums, lines_of_any_length_match_a_plain_loop) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128}) {
    for (const int64_t length : kLengths) {
      for (const int64_t lines : {1, 3, 8, 21}) {
        for (const Layout layout : {Layout::kContiguous, Layout::kTransposed}) {
          SCOPED_TRACE(testing::Message() << name(dtype) << " " << lines << " of " << length);
          Array rows(dtype, {lines, length}, layout);
          rows.randomize(-1, 1, 3);
          expect_sums(rows, false, ReduceOp::kSum);
          if (lines != 21) continue;
          expect_sums(rows, false, ReduceOp::kMean);
          Array columns(dtype, {length, lines}, layout);
          columns.randomize(-1, 1, 4);
          expect_sums(columns, true, ReduceOp::kSum);
        }
      }
    }
  }
}

TEST(ReduceSums, a_complex_row_has_the_same_sum_in_any_company) {
  constexpr int64_t kRows = 11;
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    for (const int64_t length : {3, 9, 50, 4101}) {
      Array input(dtype, {kRows, length});
      input.randomize(-1, 1, 5);
      const Array all(dtype, {kRows});
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, all, input, {false, true})),
                kernel::kOk);
      for (int64_t row = 0; row < kRows; ++row) {
        Array line(dtype, {1, length});
        for (int64_t i = 0; i < length; ++i) line.set(i, input.get(row * length + i));
        const Array one(dtype, {1});
        ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, one, line, {false, true})),
                  kernel::kOk);
        EXPECT_EQ(one.get(0), all.get(row)) << name(dtype) << " " << length << " row " << row;
      }
    }
  }
}

TEST(ReduceSums, a_complex_sum_may_leave_float32_on_its_way) {
  constexpr int64_t kLines = 9;
  for (const int64_t length : {4, 40, 5000}) {
    for (const bool across : {false, true}) {
      Array input(DType::kComplex64, across ? Sizes{length, kLines} : Sizes{kLines, length});
      for (int64_t i = 0; i < length; ++i) {
        for (int64_t line = 0; line < kLines; ++line) {
          const double big = i < length / 2 ? 3e38 : -3e38;
          input.set(across ? i * kLines + line : line * length + i,
                    line == 2 ? Value(big, 0.25) : Value(0.5, 0.25));
        }
      }
      const Array output(DType::kComplex64, {kLines});
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, {across, !across})),
                kernel::kOk);
      const auto count = static_cast<double>(length);
      for (int64_t line = 0; line < kLines; ++line)
        EXPECT_EQ(output.get(line), Value(line == 2 ? 0 : 0.5 * count, 0.25 * count)) << line;
    }
  }
}

TEST(ReduceSums, nan_and_infinity_reach_their_part_of_their_line_only) {
  constexpr int64_t kLines = 9;
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    for (const int64_t length : {5, 100, 5000}) {
      for (const bool across : {false, true}) {
        Array input(dtype, across ? Sizes{length, kLines} : Sizes{kLines, length});
        input.randomize(1, 2, 6);
        const auto place = [&](int64_t line) {
          return across ? (length - 1) * kLines + line : line * length + length - 1;
        };
        input.set(place(2), Value(NAN, 1));
        input.set(place(4), Value(1, -INFINITY));
        const Array output(dtype, {kLines});
        ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, {across, !across})),
                  kernel::kOk);
        for (int64_t line = 0; line < kLines; ++line) {
          const Value got = output.get(line);
          EXPECT_EQ(std::isnan(got.real()), line == 2) << line;
          EXPECT_FALSE(std::isnan(got.imag())) << line;
          EXPECT_EQ(std::isinf(got.imag()), line == 4) << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_reduce_sums
