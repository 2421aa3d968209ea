// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The reductions against naive double references, over dtypes, layouts, axes and thread counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "arrays.h"
#include "base/parallel.h"
#include "support/effort.h"

namespace tsr::test::test_reduce {
namespace {

using kernel::ReduceOp;
using Doubles = std::vector<double>;

struct Case {
  ReduceOp op;
  const char* name;
  double parameter;
  double (*reference)(const Doubles&);
};

double sum(const Doubles& x) {
  double total = 0;
  for (const double value : x) total += value;
  return total;
}
double variance(const Doubles& x) {
  const double mean = sum(x) / static_cast<double>(x.size());
  double total = 0;
  for (const double value : x) total += (value - mean) * (value - mean);
  return total / (static_cast<double>(x.size()) - 1);
}
double norm(const Doubles& x, double p) {
  double total = 0;
  for (const double value : x) total += std::pow(std::abs(value), p);
  return std::pow(total, 1 / p);
}
double logsumexp(const Doubles& x) {
  double total = 0;
  for (const double value : x) total += std::exp(value);
  return std::log(total);
}
double position(const Doubles& x,
                Doubles::const_iterator (*find)(Doubles::const_iterator, Doubles::const_iterator)) {
  return static_cast<double>(find(x.begin(), x.end()) - x.begin());
}

const Case kCases[] = {
    {ReduceOp::kSum, "sum", 0, sum},
    {ReduceOp::kProd, "prod", 0,
     [](const Doubles& x) {
       double p = 1;
       for (const double v : x) p *= v;
       return p;
     }},
    {ReduceOp::kMean, "mean", 0,
     [](const Doubles& x) { return sum(x) / static_cast<double>(x.size()); }},
    {ReduceOp::kMax, "max", 0,
     [](const Doubles& x) { return *std::max_element(x.begin(), x.end()); }},
    {ReduceOp::kMin, "min", 0,
     [](const Doubles& x) { return *std::min_element(x.begin(), x.end()); }},
    {ReduceOp::kArgmax, "argmax", 0,
     [](const Doubles& x) { return position(x, std::max_element); }},
    {ReduceOp::kArgmin, "argmin", 0,
     [](const Doubles& x) { return position(x, std::min_element); }},
    {ReduceOp::kAny, "any", 0,
     [](const Doubles& x) {
       return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
     }},
    {ReduceOp::kAll, "all", 0,
     [](const Doubles& x) {
       return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
     }},
    {ReduceOp::kCountNonzero, "count_nonzero", 0,
     [](const Doubles& x) {
       return static_cast<double>(
           std::count_if(x.begin(), x.end(), [](double v) { return v != 0; }));
     }},
    {ReduceOp::kVar, "var", 1, variance},
    {ReduceOp::kEuclideanNorm, "norm2", 2, [](const Doubles& x) { return norm(x, 2); }},
    {ReduceOp::kSumOfMagnitudes, "norm1", 1, [](const Doubles& x) { return norm(x, 1); }},
    {ReduceOp::kPowerNorm, "norm3.5", 3.5, [](const Doubles& x) { return norm(x, 3.5); }},
    {ReduceOp::kLargestMagnitude, "norm inf", INFINITY,
     [](const Doubles& x) {
       double m = 0;
       for (const double v : x) m = std::max(m, std::abs(v));
       return m;
     }},
    {ReduceOp::kSmallestMagnitude, "norm -inf", -INFINITY,
     [](const Doubles& x) {
       double m = INFINITY;
       for (const double v : x) m = std::min(m, std::abs(v));
       return m;
     }},
    {ReduceOp::kLogsumexp, "logsumexp", 0, logsumexp},
};

DType output_dtype(ReduceOp op, DType input) {
  switch (op) {
    case ReduceOp::kAny:
    case ReduceOp::kAll:
      return DType::kBool;
    case ReduceOp::kArgmax:
    case ReduceOp::kArgmin:
    case ReduceOp::kCountNonzero:
      return DType::kInt64;
    case ReduceOp::kSum:
    case ReduceOp::kProd:
      return is_integral_or_bool(input) ? DType::kInt64 : input;
    default:
      return input;
  }
}

// Ops whose results are whole numbers that every dtype of the test can represent.
bool takes_integers(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kArgmax:
    case ReduceOp::kArgmin:
    case ReduceOp::kAny:
    case ReduceOp::kAll:
    case ReduceOp::kCountNonzero:
      return true;
    default:
      return false;
  }
}

// The numbers that are reduced to each kept element, in row-major order.
std::vector<Doubles> groups(const Array& input, const std::vector<bool>& reduced) {
  std::vector<Doubles> result;
  for (int64_t i = 0; i < input.numel(); ++i) {
    int64_t kept = 0;
    int64_t rest = i;
    int64_t step = 1;
    for (size_t d = input.sizes().size(); d-- > 0;) {
      if (!reduced[d]) {
        kept += rest % input.sizes()[d] * step;
        step *= input.sizes()[d];
      }
      rest /= input.sizes()[d];
    }
    if (static_cast<size_t>(kept) >= result.size()) result.resize(static_cast<size_t>(kept) + 1);
    result[static_cast<size_t>(kept)].push_back(input.get(i).real());
  }
  return result;
}

// Runs the plan and compares its output with the reference.
void run(const Case& c, kernel::ReducePlan plan, const Array& output, const Array& input,
         const std::vector<bool>& reduced) {
  std::memcpy(&plan.params[0], &c.parameter, sizeof(double));
  ASSERT_EQ(kernels().reduce(plan), kernel::kOk) << last_error();
  const std::vector<Doubles> want = groups(input, reduced);
  expect_elements(
      output, {},
      [&, i = size_t{0}](const std::vector<Value>&) mutable {
        return Value(c.reference(want[i++]));
      },
      4);
}

void check(const Case& c, DType dtype, const Sizes& sizes, const std::vector<bool>& reduced,
           Layout layout) {
  SCOPED_TRACE(testing::Message() << c.name << " " << name(dtype) << " layout "
                                  << static_cast<int>(layout) << " reduced "
                                  << testing::PrintToString(reduced));
  Array input(dtype, sizes, layout);
  if (is_floating(dtype))
    input.randomize(0.7, 1.3, 17);
  else
    input.randomize(info(dtype).is_signed ? -3 : 0, 3, 17);
  Sizes kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d]) kept.push_back(sizes[d]);
  }
  Array output(output_dtype(c.op, dtype), kept);
  run(c, reduction(c.op, output, input, reduced), output, input, reduced);
}

const std::vector<bool> kAxes[] = {{true, true, true},
                                   {false, false, true},
                                   {true, false, false},
                                   {false, true, false},
                                   {true, false, true}};

TEST(Reduce, matches_the_reference_for_every_float_dtype_layout_and_set_of_axes) {
  for (const Case& c : kCases) {
    for (const DType dtype :
         {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      for (const auto& axes : kAxes) {
        for (const Layout layout : kLayouts) check(c, dtype, {4, 9, 35}, axes, layout);
      }
    }
  }
}

TEST(Reduce, integers_and_bools) {
  for (const Case& c : kCases) {
    if (!takes_integers(c.op)) continue;
    for (const DType dtype :
         {DType::kBool, DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt32,
          DType::kInt32, DType::kInt64, DType::kUInt64}) {
      for (const auto& axes : kAxes) check(c, dtype, {3, 5, 21}, axes, Layout::kContiguous);
      // Several rows are converted at a time.
      for (const int64_t width : {3, 9, 16, 50}) {
        check(c, dtype, {300, width}, {false, true}, Layout::kContiguous);
        check(c, dtype, {300, width}, {true, false}, Layout::kContiguous);
        check(c, dtype, {300, width}, {false, true}, Layout::kSliced);
        check(c, dtype, {300, width}, {true, false}, Layout::kSliced);
      }
    }
  }
}

TEST(Reduce, extrema_of_narrow_integers_over_their_whole_range) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16,
                            DType::kUInt32, DType::kInt32}) {
    const double count = std::ldexp(1.0, static_cast<int>(8 * itemsize(dtype)));
    const double least = info(dtype).is_signed ? -count / 2 : 0;
    const double most = least + count - 1;
    // Anywhere in the range, and next to either end, where one element is the end itself.
    const std::pair<double, double> ranges[] = {
        {least, most}, {least, least + 2}, {most - 2, most}};
    for (int64_t length = 1; length < 700; length += 1 + length / 20) {
      for (const auto& [low, high] : ranges) {
        for (const bool along : {true, false}) {
          Array input(dtype, along ? Sizes{3, length} : Sizes{11, length});
          input.randomize(low, high, static_cast<unsigned>(length));
          const Sizes kept{along ? 3 : length};
          for (const Case& c : kCases) {
            if (c.op != ReduceOp::kMax && c.op != ReduceOp::kMin) continue;
            SCOPED_TRACE(testing::Message()
                         << c.name << " " << name(dtype) << " length " << length);
            Array output(dtype, kept);
            const std::vector<bool> reduced{!along, along};
            run(c, reduction(c.op, output, input, reduced), output, input, reduced);
          }
        }
      }
    }
  }
}

TEST(Reduce, large_arrays_are_split_into_parts) {
  for (const Case& c : kCases) {
    if (c.op == ReduceOp::kProd) continue;
    check(c, DType::kFloat32, {1, 3, 150000}, {true, false, true}, Layout::kContiguous);
    check(c, DType::kFloat32, {30000, 1, 20}, {true, true, false}, Layout::kContiguous);
    check(c, DType::kFloat32, {3, 3001, 24}, {false, true, false}, Layout::kContiguous);
  }
}

TEST(Reduce, rows_and_columns_of_every_length) {
  for (const Case& c : kCases) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (int64_t length = 2; length < 150; length += 1 + length / 40) {
        check(c, dtype, {3, length}, {false, true}, Layout::kContiguous);
        check(c, dtype, {length, 19}, {true, false}, Layout::kContiguous);
        check(c, dtype, {3, length}, {false, true}, Layout::kReversed);
      }
    }
  }
  // Few columns, whose rows are taken together.
  for (const int64_t width : {2, 3, 4, 7, 20}) {
    for (const Case& c : kCases) {
      if (c.op == ReduceOp::kProd) continue;
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16})
        check(c, dtype, {5000, width}, {true, false}, Layout::kContiguous);
    }
  }
  // More results than are computed at a time, and rows longer than are folded at once.
  check(kCases[0], DType::kFloat32, {1100, 20}, {false, true}, Layout::kContiguous);
  check(kCases[0], DType::kFloat32, {70, 5000}, {false, true}, Layout::kContiguous);
}

// Rows of results that are not adjacent in memory, as for a transposed input.
TEST(Reduce, results_in_another_order_than_memory) {
  Array input(DType::kFloat32, {24, 17, 11, 5});
  input.randomize(0.7, 1.3, 17);
  const std::vector<bool> axes{true, false, false, false};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Array output(output_dtype(c.op, DType::kFloat32), {17, 11, 5});
    kernel::ReducePlan plan = reduction(c.op, output, input, axes);
    ASSERT_EQ(plan.kept_ndim, 3);
    std::swap(plan.kept_sizes[0], plan.kept_sizes[1]);
    std::swap(plan.kept_input_strides[0], plan.kept_input_strides[1]);
    std::swap(plan.kept_output_strides[0], plan.kept_output_strides[1]);
    run(c, plan, output, input, axes);
  }
}

TEST(Reduce, a_sum_of_ones_is_exact) {
  constexpr int64_t kCount = int64_t{1} << 25;
  Array input(DType::kFloat32, {kCount});
  std::fill_n(static_cast<float*>(input.data()), kCount, 1.0F);
  Array output(DType::kFloat32, {});
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, {true})), kernel::kOk);
  EXPECT_EQ(output.get(0).real(), static_cast<double>(kCount));
}

// Eight registers are added up in float32.
TEST(Reduce, sums_do_not_overflow_before_their_end) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    for (const int64_t length : {3, 16, 100, 1000, 5000, 20000}) {
      for (const bool across : {false, true}) {
        SCOPED_TRACE(testing::Message() << name(dtype) << " " << length << " across " << across);
        constexpr int64_t kLines = 5;
        Array input(dtype, across ? Sizes{length, kLines} : Sizes{kLines, length});
        for (int64_t i = 0; i < length; ++i) {
          for (int64_t line = 0; line < kLines; ++line) {
            input.set(across ? i * kLines + line : line * length + i, 0.5);
          }
        }
        // As many large numbers of one sign as of the other.
        const int64_t first = (length + 1) / 2;
        for (int64_t i = 0; i < length; ++i) {
          const double big = i < length / 2 ? 3e38 : i >= first ? -3e38 : 0;
          input.set(across ? i * kLines + 2 : 2 * length + i, big);
        }
        Array output(dtype, {kLines});
        ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, {across, !across})),
                  kernel::kOk);
        for (int64_t line = 0; line < kLines; ++line) {
          const double want = line == 2 ? 0 : 0.5 * static_cast<double>(length);
          EXPECT_NEAR(output.get(line).real(), want, tolerance(dtype, want));
        }
      }
    }
  }
}

TEST(Reduce, a_row_has_the_same_sum_in_any_company) {
  for (const int64_t length : {9, 49, 1000, 4096, 9000}) {
    Array input(DType::kFloat32, {7, length});
    input.randomize(-1, 1, 5);
    Array all(DType::kFloat32, {7});
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, all, input, {false, true})), kernel::kOk);
    for (int64_t row = 0; row < 7; ++row) {
      Array line(DType::kFloat32, {1, length});
      for (int64_t i = 0; i < length; ++i) line.set(i, input.get(row * length + i));
      Array one(DType::kFloat32, {1});
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, one, line, {false, true})), kernel::kOk);
      EXPECT_EQ(one.get(0), all.get(row)) << length << " row " << row;
    }
  }
}

TEST(Reduce, does_not_depend_on_the_number_of_threads) {
  const int32_t before = num_threads();
  const Sizes shapes[] = {{3000000, 1}, {50000, 70}, {70, 50000}, {100000, 3}};
  for (const auto& [sizes, dtype] :
       {std::pair(shapes[0], DType::kFloat64), std::pair(shapes[1], DType::kFloat64),
        std::pair(shapes[2], DType::kFloat64), std::pair(shapes[1], DType::kFloat32),
        std::pair(shapes[2], DType::kFloat32), std::pair(shapes[3], DType::kFloat32)}) {
    if (kSanitized && dtype == DType::kFloat64) continue;
    Array input(dtype, sizes);
    input.randomize(-1, 1, 5);
    for (const auto& axes : {std::vector<bool>{true, true}, std::vector<bool>{true, false},
                             std::vector<bool>{false, true}}) {
      Sizes kept;
      for (size_t d = 0; d < 2; ++d) {
        if (!axes[d]) kept.push_back(sizes[d]);
      }
      Array first(dtype, kept);
      Array second(dtype, kept);
      set_num_threads(1);
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, first, input, axes)), kernel::kOk);
      set_num_threads(3);
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, second, input, axes)), kernel::kOk);
      for (int64_t i = 0; i < first.numel(); ++i) ASSERT_EQ(first.get(i), second.get(i)) << i;
    }
  }
  set_num_threads(before);
}

TEST(Reduce, nan_propagates_and_is_the_position_sought) {
  for (const std::vector<bool>& axes :
       {std::vector<bool>{false, true}, std::vector<bool>{true, false}}) {
    Array input(DType::kFloat32, {40, 40});
    input.randomize(-1, 1, 2);
    for (int64_t i = 0; i < 40; ++i) {
      input.set(i * 40 + 39 - i, NAN);
      if (i > 0) input.set(i * 40 + 40 - i, NAN);
    }
    Array value(DType::kFloat32, {40});
    Array position_of(DType::kInt64, {40});
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum}) {
      ASSERT_EQ(kernels().reduce(reduction(op, value, input, axes)), kernel::kOk);
      for (int64_t i = 0; i < 40; ++i) ASSERT_TRUE(std::isnan(value.get(i).real())) << i;
    }
    for (const ReduceOp op : {ReduceOp::kArgmax, ReduceOp::kArgmin}) {
      ASSERT_EQ(kernels().reduce(reduction(op, position_of, input, axes)), kernel::kOk);
      for (int64_t i = 0; i < 40; ++i)
        ASSERT_EQ(position_of.get(i).real(), static_cast<double>(39 - i)) << i;
    }
  }
}

void check_sums_without_nans(DType dtype) {
  SCOPED_TRACE(name(dtype));
  constexpr int64_t kLength = 10000;
  Array input(dtype, {3, kLength});
  input.randomize(-8, 8, 4);
  for (int64_t i = 0; i < input.numel(); ++i) input.set(i, std::rint(input.get(i).real()));
  double want[3] = {};
  for (int64_t i = 0; i < 2 * kLength; ++i) {
    if (i == 7000 || i == kLength || i % 997 == 0) input.set(i, NAN);
    if (!std::isnan(input.get(i).real())) want[i / kLength] += input.get(i).real();
  }
  input.set(2 * kLength + 1, INFINITY);
  input.set(3 * kLength - 1, -INFINITY);
  want[2] = NAN;
  for (const bool turned : {false, true}) {
    Array columns(dtype, {kLength, 3});
    for (int64_t i = 0; i < input.numel(); ++i)
      columns.set(i % kLength * 3 + i / kLength, input.get(i));
    Array output(DType::kFloat32, {3});
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kNansum, output, turned ? columns : input,
                                         {turned, !turned})),
              kernel::kOk);
    for (int64_t row = 0; row < 3; ++row) {
      const double got = output.get(row).real();
      EXPECT_TRUE(got == want[row] || (std::isnan(got) && std::isnan(want[row])))
          << got << " and " << want[row];
    }
  }
  // Many columns of few rows, the last ones no whole register; column 5 has nothing else.
  Array wide(dtype, {50, 41});
  std::vector<double> sums(41);
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const bool left_out = i % 41 == 5 || i % 13 == 0;
    wide.set(i, left_out ? NAN : static_cast<double>(i % 9));
    sums[static_cast<size_t>(i % 41)] += left_out ? 0 : static_cast<double>(i % 9);
  }
  Array across(DType::kFloat32, {41});
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kNansum, across, wide, {true, false})),
            kernel::kOk);
  for (int64_t i = 0; i < 41; ++i)
    EXPECT_EQ(across.get(i).real(), sums[static_cast<size_t>(i)]) << i;
}

TEST(Reduce, a_sum_without_nans_leaves_them_out_wherever_they_are) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64})
    check_sums_without_nans(dtype);
}

TEST(Reduce, equal_elements_give_the_first_position) {
  Array input(DType::kInt32, {1000});
  Array output(DType::kInt64, {});
  for (int64_t i = 0; i < 1000; ++i) input.set(i, static_cast<double>(i % 7));
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kArgmax, output, input, {true})), kernel::kOk);
  EXPECT_EQ(output.get(0).real(), 6);
}

TEST(Reduce, empty_reductions_write_the_identity) {
  Array input(DType::kFloat32, {3, 0});
  Array output(DType::kFloat32, {3});
  output.randomize(5, 6, 1);
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, {false, true})), kernel::kOk);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(output.get(i).real(), 0);
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kProd, output, input, {false, true})),
            kernel::kOk);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(output.get(i).real(), 1);
  ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kLogsumexp, output, input, {false, true})),
            kernel::kOk);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(output.get(i).real(), -INFINITY);
}

TEST(Reduce, complex_sums_products_and_norms) {
  // Registers side by side, one by one, and a rest.
  constexpr int64_t kSize = 77;
  for (const auto& [dtype, along] :
       {std::pair(DType::kComplex64, true), std::pair(DType::kComplex64, false),
        std::pair(DType::kComplex128, true), std::pair(DType::kComplex128, false)}) {
    const std::vector<bool> axes{!along, along};
    Array input(dtype, {kSize, kSize});
    input.randomize(-1.2, 1.2, 8);
    Array output(dtype, {kSize});
    Array real(real_dtype(dtype), {kSize});
    const auto element = [&](int64_t kept, int64_t k) {
      return input.get(axes[1] ? kept * kSize + k : k * kSize + kept);
    };
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kSum, output, input, axes)), kernel::kOk);
    for (int64_t i = 0; i < kSize; ++i) {
      Value want = 0;
      for (int64_t k = 0; k < kSize; ++k) want += element(i, k);
      EXPECT_LE(std::abs(output.get(i) - want), tolerance(dtype, kSize));
    }
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kProd, output, input, axes)), kernel::kOk);
    for (int64_t i = 0; i < kSize; ++i) {
      Value want = 1;
      for (int64_t k = 0; k < kSize; ++k) want *= element(i, k);
      EXPECT_LE(std::abs(output.get(i) - want), tolerance(dtype, std::abs(want)));
    }
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kEuclideanNorm, real, input, axes)),
              kernel::kOk);
    for (int64_t i = 0; i < kSize; ++i) {
      double want = 0;
      for (int64_t k = 0; k < kSize; ++k) want += std::norm(element(i, k));
      EXPECT_NEAR(real.get(i).real(), std::sqrt(want), tolerance(dtype, std::sqrt(want)));
    }
  }
}

TEST(Reduce, logsumexp_survives_infinities_and_large_values) {
  constexpr int64_t kGroups = 6;
  const double rows[kGroups][3] = {{1000, 1000, 1000},        {-INFINITY, -INFINITY, -INFINITY},
                                   {INFINITY, 0, 1},          {-1000, -1000, -2000},
                                   {-INFINITY, 5, -INFINITY}, {1, NAN, 2}};
  const double want[kGroups] = {1000 + std::log(3.0),  -INFINITY, INFINITY,
                                -1000 + std::log(2.0), 5,         NAN};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const bool across : {false, true}) {
      // Repeated, so that the groups fill registers when they are adjacent.
      constexpr int64_t kCount = 5 * kGroups;
      Array input(dtype, across ? Sizes{3, kCount} : Sizes{kCount, 3});
      for (int64_t i = 0; i < kCount; ++i) {
        for (int64_t k = 0; k < 3; ++k)
          input.set(across ? k * kCount + i : i * 3 + k, rows[i % kGroups][k]);
      }
      Array output(dtype, {kCount});
      ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kLogsumexp, output, input, {across, !across})),
                kernel::kOk);
      for (int64_t i = 0; i < kCount; ++i) {
        const double expected = want[i % kGroups];
        const double got = output.get(i).real();
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(got)) << i;
        else if (std::isinf(expected))
          EXPECT_EQ(got, expected) << i;
        else
          EXPECT_NEAR(got, expected, 1e-3) << i;
      }
    }
  }
}

// Of several rows at a time, with maxima that grow from row to row, shrink, or are special.
TEST(Reduce, logsumexp_across_rows_finds_the_maxima_of_all_of_them) {
  constexpr int64_t kRows = 43;  // whole groups of rows and a rest
  constexpr int64_t kWidth = 27;
  const auto element = [](int64_t row, int64_t column) -> double {
    const auto x = static_cast<double>(row);
    switch (column % 6) {
      case 0:
        return 10 * x;
      case 1:
        return -10 * x;
      case 2:
        return row == 20 ? NAN : x;
      case 3:
        return row == 20 ? INFINITY : -x;
      case 4:
        return row < 20 ? -INFINITY : x / 8;
      default:
        return std::sin(x);
    }
  };
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Array input(dtype, {kRows, kWidth});
    for (int64_t i = 0; i < kRows * kWidth; ++i) input.set(i, element(i / kWidth, i % kWidth));
    Array output(dtype, {kWidth});
    ASSERT_EQ(kernels().reduce(reduction(ReduceOp::kLogsumexp, output, input, {true, false})),
              kernel::kOk);
    for (int64_t j = 0; j < kWidth; ++j) {
      double maximum = -INFINITY;
      for (int64_t i = 0; i < kRows; ++i) maximum = std::fmax(maximum, element(i, j));
      double sum = 0;
      for (int64_t i = 0; i < kRows; ++i) sum += std::exp(element(i, j) - maximum);
      const double got = output.get(j).real();
      if (j % 6 == 2)
        EXPECT_TRUE(std::isnan(got)) << j;
      else if (j % 6 == 3)
        EXPECT_EQ(got, INFINITY) << j;
      else
        EXPECT_NEAR(got, maximum + std::log(sum), 1e-6 * (1 + std::fabs(maximum))) << j;
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_reduce
