// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chosen ranks of rows, and binary search, against a sort of the standard library.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "arrays.h"

namespace tsr::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// NaN is the largest number.
bool before(double a, double b) {
  return a < b || (b != b && a == a);
}

std::vector<int64_t> sorted_positions(const Array& in, int64_t row, int64_t columns) {
  std::vector<int64_t> positions(static_cast<size_t>(columns));
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [&](int64_t a, int64_t b) {
    return before(in.get(row * columns + a).real(), in.get(row * columns + b).real());
  });
  return positions;
}

void check_ranks(DType dtype, int64_t rows, int64_t columns, const std::vector<int64_t>& wanted) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << columns << " columns, " << wanted.size()
                                  << " ranks");
  Array in(dtype, {rows, columns});
  in.randomize(0, 9, 11);
  if (is_floating(dtype)) in.set(columns / 2, kNan);
  const auto keep = static_cast<int64_t>(wanted.size());
  std::vector<int64_t> ranks;
  for (int64_t r = 0; r < rows; ++r) ranks.insert(ranks.end(), wanted.begin(), wanted.end());
  const Array values(dtype, {rows, keep});
  std::vector<int64_t> positions(ranks.size());
  kernel::SortPlan plan{};
  plan.rows = rows;
  plan.columns = columns;
  plan.keep = keep;
  plan.dtype = dtype;
  plan.input = in.data();
  plan.values = values.data();
  plan.positions = positions.data();
  plan.ranks = ranks.data();
  ASSERT_EQ(kernels().sort(plan), kernel::kOk);
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<int64_t> sorted = sorted_positions(in, r, columns);
    for (int64_t k = 0; k < keep; ++k) {
      const auto at = static_cast<size_t>(r * keep + k);
      const int64_t want = sorted[static_cast<size_t>(ranks[at])];
      ASSERT_EQ(positions[at], want) << r << " " << k;
      const double found = values.get(r * keep + k).real();
      const double expected = in.get(r * columns + want).real();
      ASSERT_TRUE(found == expected || (found != found && expected != expected));
    }
  }
}

TEST(Sort, gives_the_elements_of_chosen_ranks_in_any_order) {
  std::vector<int64_t> many(40);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>((i * 17) % 41);
  for (const DType dtype : {DType::kBool, DType::kInt8, DType::kUInt64, DType::kFloat16,
                            DType::kFloat32, DType::kFloat64}) {
    check_ranks(dtype, 3, 41, {20});
    check_ranks(dtype, 3, 41, {40, 0, 7, 7, 39});
    check_ranks(dtype, 3, 41, many);
    check_ranks(dtype, 2, 1, {0, 0});
  }
}

void check_search(DType dtype, bool right, bool through_sorter, int64_t rows, int64_t columns,
                  int64_t each) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " right " << right << " rows " << rows
                                  << " columns " << columns << " values " << each);
  Array in(dtype, {rows, columns});
  Array values(dtype, {rows, each});
  in.randomize(0, 9, 3);
  values.randomize(0, 9, 4);
  if (is_floating(dtype)) {
    in.set(0, kNan);
    values.set(0, kNan);
  }
  Array ordered(dtype, {rows, columns});
  std::vector<int64_t> sorter;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<int64_t> positions = sorted_positions(in, r, columns);
    sorter.insert(sorter.end(), positions.begin(), positions.end());
    for (int64_t i = 0; i < columns; ++i)
      ordered.set(r * columns + i, in.get(r * columns + positions[static_cast<size_t>(i)]));
  }
  std::vector<int64_t> found(static_cast<size_t>(rows * each));
  kernel::SearchPlan plan{};
  plan.rows = rows;
  plan.columns = columns;
  plan.count = rows * each;
  plan.right = right ? 1 : 0;
  plan.dtype = dtype;
  plan.sorted = through_sorter ? in.data() : ordered.data();
  plan.sorter = through_sorter ? sorter.data() : nullptr;
  plan.values = values.data();
  plan.output = found.data();
  ASSERT_EQ(kernels().search(plan), kernel::kOk);
  for (int64_t k = 0; k < rows * each; ++k) {
    const double value = values.get(k).real();
    int64_t want = 0;
    for (int64_t i = 0; i < columns; ++i) {
      const double other = in.get(k / each * columns + i).real();
      want += (right ? !before(value, other) : before(other, value)) ? 1 : 0;
    }
    ASSERT_EQ(found[static_cast<size_t>(k)], want) << k;
  }
}

TEST(Search, finds_the_place_before_or_behind_equal_elements) {
  for (const DType dtype : {DType::kBool, DType::kInt8, DType::kUInt64, DType::kFloat16,
                            DType::kFloat32, DType::kFloat64}) {
    for (const bool right : {false, true}) {
      for (const bool through_sorter : {false, true}) {
        check_search(dtype, right, through_sorter, 1, 13, 40);
        check_search(dtype, right, through_sorter, 1, 40, 13);
        check_search(dtype, right, through_sorter, 3, 8, 5);
        check_search(dtype, right, through_sorter, 1, 1, 3);
      }
    }
  }
}

TEST(Search, of_nothing_is_place_0) {
  const Array values(DType::kFloat32, {3});
  int64_t found[3] = {7, 7, 7};
  kernel::SearchPlan plan{};
  plan.rows = 1;
  plan.count = 3;
  plan.dtype = DType::kFloat32;
  plan.values = values.data();
  plan.output = found;
  ASSERT_EQ(kernels().search(plan), kernel::kOk);
  for (const int64_t place : found) EXPECT_EQ(place, 0);
}

}  // namespace
}  // namespace tsr::test
