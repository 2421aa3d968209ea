// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorted rows, chosen ranks of rows, binary search and counting into bins, against the standard
// library and the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "arrays.h"

namespace tsr::test::test_sort {
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

void check_sort(DType dtype, int64_t rows, int64_t columns, int64_t keep, bool descending,
                double range) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << columns << " columns, " << keep
                                  << " kept, descending " << descending << ", range " << range);
  Array in(dtype, {rows, columns});
  in.randomize(is_integral(dtype) && !info(dtype).is_signed ? 0 : -range, range, 13);
  if (is_floating(dtype)) {
    in.set(columns / 3, kNan);
    in.set(columns / 2, kNan);
  }
  const Array values(dtype, {rows, keep});
  std::vector<int64_t> positions(static_cast<size_t>(rows * keep));
  kernel::SortPlan plan{};
  plan.rows = rows;
  plan.columns = columns;
  plan.keep = keep;
  plan.descending = descending ? 1 : 0;
  plan.dtype = dtype;
  plan.input = in.data();
  plan.values = values.data();
  plan.positions = positions.data();
  ASSERT_EQ(kernels().sort(plan), kernel::kOk);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> wanted(static_cast<size_t>(columns));
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(), [&](int64_t a, int64_t b) {
      const double x = in.get(r * columns + a).real();
      const double y = in.get(r * columns + b).real();
      return descending ? before(y, x) : before(x, y);
    });
    for (int64_t k = 0; k < keep; ++k) {
      const int64_t want = wanted[static_cast<size_t>(k)];
      ASSERT_EQ(positions[static_cast<size_t>(r * keep + k)], want) << r << " " << k;
      const double found = values.get(r * keep + k).real();
      const double expected = in.get(r * columns + want).real();
      ASSERT_TRUE(found == expected || (found != found && expected != expected));
    }
  }
}

TEST(Sort, is_stable_for_short_and_long_rows) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kInt16, DType::kUInt32, DType::kInt64, DType::kUInt64,
        DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const bool descending : {false, true}) {
      for (const double range : {3.0, 100.0}) {
        check_sort(dtype, 3, 31, 31, descending, range);
        check_sort(dtype, 3, 700, 700, descending, range);
        check_sort(dtype, 2, 700, 300, descending, range);
        check_sort(dtype, 2, 700, 60, descending, range);
        check_sort(dtype, 2, 700, 5, descending, range);
      }
    }
  }
  // By networks, of one row or of several.
  for (int64_t columns = 1; columns < 70; columns += 1 + columns / 12) {
    for (const int64_t rows : {1, 9}) {
      check_sort(DType::kFloat32, rows, columns, columns, false, 9);
      check_sort(DType::kInt64, rows, columns, columns, true, 9);
      check_sort(DType::kFloat64, rows, columns, (columns + 1) / 2, false, 9);
    }
  }
  // Integers of 64 bits whose distances have at most 32 bits, or more.
  for (const DType dtype : {DType::kInt64, DType::kUInt64}) {
    for (const double range : {0x1p20, 0x1p31, 0x1p32, 0x1p34, 1e13}) {
      for (const int64_t columns : {10, 100, 700}) {
        check_sort(dtype, 9, columns, columns, false, range);
        check_sort(dtype, 9, columns, columns / 2, true, range);
      }
    }
  }
  check_sort(DType::kInt64, 1, 5000, 5000, false, 1e18);
  check_sort(DType::kFloat64, 1, 5000, 5000, true, 1e300);
}

TEST(Sort, takes_zeros_of_both_signs_as_equal_and_nans_as_largest) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double numbers[] = {0.0, -1.5, -0.0,  kNan, 2.0,     -kInf,
                            0.0, kInf, -kNan, -0.0, 0x1p-20, -0x1p-20};
  constexpr int64_t kCount = std::size(numbers);
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    Array in(dtype, {1, kCount});
    for (int64_t i = 0; i < kCount; ++i) in.set(i, numbers[i]);
    std::vector<int64_t> positions(kCount);
    kernel::SortPlan plan{};
    plan.rows = 1;
    plan.columns = kCount;
    plan.keep = kCount;
    plan.dtype = dtype;
    plan.input = in.data();
    plan.positions = positions.data();
    ASSERT_EQ(kernels().sort(plan), kernel::kOk);
    EXPECT_EQ(positions, sorted_positions(in, 0, kCount)) << name(dtype);
  }
}

// The worst of the chosen ones is a NaN, or becomes one, while later blocks are passed over.
TEST(Sort, chooses_a_few_of_rows_with_many_nans) {
  constexpr int64_t kCount = 400;
  constexpr int64_t kKeep = 5;
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const int64_t nans : {2, 4, 6, 300}) {
      Array in(dtype, {1, kCount});
      in.randomize(-9, 9, 3);
      for (int64_t i = 0; i < nans; ++i) in.set(i * 7 % kCount, kNan);
      std::vector<int64_t> wanted = sorted_positions(in, 0, kCount);
      std::vector<int64_t> positions(kKeep);
      kernel::SortPlan plan{};
      plan.rows = 1;
      plan.columns = kCount;
      plan.keep = kKeep;
      plan.dtype = dtype;
      plan.input = in.data();
      plan.positions = positions.data();
      ASSERT_EQ(kernels().sort(plan), kernel::kOk);
      wanted.resize(kKeep);
      EXPECT_EQ(positions, wanted) << name(dtype) << ", " << nans;
      plan.descending = 1;
      ASSERT_EQ(kernels().sort(plan), kernel::kOk);
      int64_t found = 0;
      for (const int64_t position : positions) found += std::isnan(in.get(position).real());
      EXPECT_EQ(found, std::min(nans, kKeep)) << name(dtype);
      EXPECT_TRUE(std::is_sorted(positions.begin(), positions.begin() + found));
    }
  }
}

void check_ranks(DType dtype, int64_t rows, int64_t columns, const std::vector<int64_t>& wanted,
                 double low = 0, double high = 9) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << columns << " columns, " << wanted.size()
                                  << " ranks");
  Array in(dtype, {rows, columns});
  in.randomize(low, high, 11);
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
    check_ranks(dtype, 3, 500, {250, 3});
    check_ranks(dtype, 3, 500, many);
    check_ranks(dtype, 2, 1, {0, 0});
    for (int64_t columns = 2; columns < 70; columns += 1 + columns / 12)
      check_ranks(dtype, 9, columns, {columns / 2, columns - 1});
  }
  // Keys of one bit, of all bits, and around 0.
  for (const DType dtype : {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64}) {
    check_ranks(dtype, 1, 3000, {1500, 2999, 7, 7}, 1, 1);
    check_ranks(dtype, 1, 3000, {1500, 2999, 7}, -1, 1);
    check_ranks(dtype, 1, 3000, {1500, 0, 2999, 1501}, -2e9, 2e9);
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

// Counts by the definition: a bin has its lower edge, the last one both.
void check_bins(DType dtype, const std::vector<double>& edges, bool equal_widths, int64_t count) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << edges.size() << " edges, " << count);
  const auto bins = static_cast<int64_t>(edges.size()) - 1;
  Array limits(dtype, {bins + 1});
  for (int64_t b = 0; b <= bins; ++b) limits.set(b, edges[static_cast<size_t>(b)]);
  Array values(dtype, {count});
  values.randomize(-4, 4, 17);
  for (int64_t i = 0; i < std::min(count, bins + 1); ++i) values.set(i, limits.get(i));
  if (count > bins + 1) values.set(count - 1, kNan);
  std::vector<int64_t> found(static_cast<size_t>(bins), 7);
  kernel::HistogramPlan plan{};
  plan.count = count;
  plan.bins = bins;
  plan.equal_widths = equal_widths ? 1 : 0;
  plan.dtype = dtype;
  plan.input = values.data();
  plan.edges = limits.data();
  plan.output = found.data();
  ASSERT_EQ(kernels().histogram(plan), kernel::kOk);
  std::vector<int64_t> wanted(found.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    const double x = values.get(i).real();
    for (int64_t b = 0; b < bins; ++b) {
      const double high = limits.get(b + 1).real();
      if (x >= limits.get(b).real() && (x < high || (b == bins - 1 && x == high)))
        ++wanted[static_cast<size_t>(b)];
    }
  }
  EXPECT_EQ(found, wanted);
}

TEST(Histogram, counts_by_the_edges_even_where_the_widths_round) {
  std::vector<double> equal;
  for (int i = 0; i <= 23; ++i) equal.push_back(-3.1 + 6.3 * i / 23);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const int64_t count : {0, 1, 20, 200000}) {
      check_bins(dtype, equal, true, count);
      check_bins(dtype, equal, false, count);
      check_bins(dtype, {-2, -0.5, 0, 3.5}, false, count);
      check_bins(dtype, {0, 1}, true, count);
    }
    check_bins(dtype, {0, 1e-40, 2e-40}, true, 50);  // whose widths have no inverse
  }
}

TEST(Histogram, counts_numbers_on_any_number_of_threads) {
  constexpr int64_t kCount = 300000;
  constexpr int64_t kBins = 11;
  Array numbers(DType::kInt64, {kCount});
  numbers.randomize(0, kBins, 19);
  std::vector<int64_t> wanted(kBins, 0);
  for (int64_t i = 0; i < kCount; ++i)
    ++wanted[static_cast<size_t>(static_cast<const int64_t*>(numbers.data())[i])];
  std::vector<int64_t> found(kBins, 7);
  kernel::HistogramPlan plan{};
  plan.count = kCount;
  plan.bins = kBins;
  plan.dtype = DType::kInt64;
  plan.input = numbers.data();
  plan.output = found.data();
  ASSERT_EQ(kernels().histogram(plan), kernel::kOk);
  EXPECT_EQ(found, wanted);
  Array weights(DType::kFloat32, {kCount});
  weights.randomize(0, 1, 23);
  std::vector<double> sums(kBins, 0);
  for (int64_t i = 0; i < kCount; ++i)
    sums[static_cast<size_t>(static_cast<const int64_t*>(numbers.data())[i])] +=
        weights.get(i).real();
  const Array output(DType::kFloat32, {kBins});
  plan.weights = weights.data();
  plan.weights_dtype = DType::kFloat32;
  plan.output = output.data();
  ASSERT_EQ(kernels().histogram(plan), kernel::kOk);
  for (int64_t b = 0; b < kBins; ++b)
    EXPECT_NEAR(output.get(b).real(), sums[static_cast<size_t>(b)], 2e-3) << b;
}

}  // namespace
}  // namespace tsr::test::test_sort
