// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/slice.h"

#include <limits>

#include "ops/shape/join.h"
#include "tests/ops/prelude.h"

namespace tsr::test_slice {
namespace {

constexpr auto kAbsent = std::nullopt;

Tensor row() {
  return f32(Dims{6}, {0, 1, 2, 3, 4, 5});
}
Tensor grid() {
  return f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(Select, takes_one_position_and_drops_the_axis) {
  EXPECT_EQ(values(ops::select(grid(), 0, 1)), (Numbers{4, 5, 6}));
  EXPECT_EQ(values(ops::select(grid(), -1, -1)), (Numbers{3, 6}));
  EXPECT_EQ(error_of([] { ops::select(grid(), 0, 2); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([] { ops::select(grid(), 0, -3); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([] { ops::select(f32({}, {1}), 0, 0); }).code(), Code::kIndex);
}

TEST(Slice, follows_python_for_every_bound_and_step) {
  // Compares with the definition, for all bounds around the ends.
  for (const int64_t step : {1, 2, 5, 7, -1, -2, -5, -9}) {
    for (int64_t start = -8; start <= 8; ++start) {
      for (int64_t stop = -8; stop <= 8; ++stop) {
        Numbers expected;
        const int64_t first = start < 0 ? start + 6 : start;
        const int64_t last = stop < 0 ? stop + 6 : stop;
        if (step > 0) {
          for (int64_t i = std::max<int64_t>(first, 0); i < std::min<int64_t>(last, 6); i += step)
            expected.push_back(static_cast<double>(i));
        } else {
          for (int64_t i = std::min<int64_t>(first, 5); i > std::max<int64_t>(last, -1); i += step)
            expected.push_back(static_cast<double>(i));
        }
        EXPECT_EQ(values(ops::slice(row(), 0, start, stop, step)), expected)
            << start << ":" << stop << ":" << step;
      }
    }
  }
}

TEST(Slice, absent_bounds_mean_the_whole_axis) {
  EXPECT_EQ(values(ops::slice(row(), 0, kAbsent, kAbsent)), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(ops::slice(row(), 0, kAbsent, kAbsent, -2)), (Numbers{5, 3, 1}));
  EXPECT_EQ(values(ops::slice(row(), 0, 4, kAbsent)), (Numbers{4, 5}));
  EXPECT_EQ(error_of([] { ops::slice(row(), 0, kAbsent, kAbsent, 0); }).code(), Code::kValue);
}

TEST(Slice, survives_extreme_numbers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values(ops::slice(row(), 0, kLeast, kMost, kMost)), (Numbers{0}));
  EXPECT_EQ(values(ops::slice(row(), 0, kMost, kLeast, kLeast)), (Numbers{5}));
  EXPECT_EQ(values(ops::slice(row(), 0, kMost, kMost)), Numbers{});
  EXPECT_EQ(error_of([] { ops::slice(row(), kMost, 0, 1); }).code(), Code::kIndex);
}

TEST(Slice, writes_reach_the_input_also_backwards) {
  const Tensor x = row();
  ops::copy_(ops::slice(x, 0, kAbsent, kAbsent, -2), f32(Dims{3}, {10, 20, 30}));
  EXPECT_EQ(values(x), (Numbers{0, 30, 2, 20, 4, 10}));
}

TEST(Narrow, wants_positions_that_exist) {
  EXPECT_EQ(values(ops::narrow(row(), 0, 2, 3)), (Numbers{2, 3, 4}));
  EXPECT_EQ(values(ops::narrow(row(), 0, -2, 2)), (Numbers{4, 5}));
  EXPECT_EQ(values(ops::narrow(row(), 0, 6, 0)), Numbers{});
  EXPECT_EQ(error_of([] { ops::narrow(row(), 0, 4, 3); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([] { ops::narrow(row(), 0, 7, 0); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([] { ops::narrow(row(), 0, 0, -1); }).code(), Code::kValue);
}

std::vector<int64_t> lengths(const std::vector<Tensor>& parts) {
  std::vector<int64_t> out;
  for (const Tensor& part : parts) out.push_back(part.size(0));
  return out;
}

TEST(Split, cuts_by_size_by_sizes_and_by_count) {
  EXPECT_EQ(lengths(ops::split(row(), 4)), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(lengths(ops::split_with_sizes(row(), Dims{1, 0, 5})), (std::vector<int64_t>{1, 0, 5}));
  EXPECT_EQ(lengths(ops::chunk(row(), 4)), (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(lengths(ops::chunk(f32(Dims{0}, {}), 3)), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(lengths(ops::split(f32(Dims{0}, {}), 0)), (std::vector<int64_t>{0}));
  EXPECT_EQ(values(ops::split(grid(), 2, 1)[1]), (Numbers{3, 6}));
  EXPECT_EQ(error_of([] { ops::split(row(), 0); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::split_with_sizes(row(), Dims{7, -1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::split_with_sizes(row(), Dims{-1, 7}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::chunk(row(), 0); }).code(), Code::kValue);
}

TEST(Unstack, gives_one_part_per_position) {
  const std::vector<Tensor> parts = ops::unstack(grid(), 1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(values(parts[2]), (Numbers{3, 6}));
  EXPECT_TRUE(ops::unstack(f32(Dims{0, 2}, {})).empty());
  const Tensor endless = ops::broadcast_to(f32(Dims{1}, {1}), Dims{int64_t{1} << 40});
  EXPECT_EQ(error_of([&] { ops::unstack(endless); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::split(endless, 1); }).code(), Code::kValue);
}

TEST(Split, refuses_recorded_writes_to_one_of_several_parts) {
  const Tensor y = ops::multiply(random_leaf(Dims{4}, 1), 1);
  const std::vector<Tensor> parts = ops::split(y, 2);
  EXPECT_EQ(error_of([&] { ops::fill_(parts[0], 0); }).code(), Code::kAutograd);
}

TEST(Split, unused_parts_get_zero_gradient) {
  const Tensor x = random_leaf(Dims{5}, 1);
  const std::vector<Tensor> parts = ops::split(x, 2);
  backward(std::array{ops::sum(parts[1])}, std::array{Tensor()});
  EXPECT_EQ(values(grad_of(x)), (Numbers{0, 0, 1, 1, 0}));
}

TEST(Diagonal, shows_any_diagonal_of_any_two_axes) {
  EXPECT_EQ(values(ops::diagonal(grid())), (Numbers{1, 5}));
  EXPECT_EQ(values(ops::diagonal(grid(), 1)), (Numbers{2, 6}));
  EXPECT_EQ(values(ops::diagonal(grid(), -1)), (Numbers{4}));
  EXPECT_EQ(values(ops::diagonal(grid(), 3)), Numbers{});
  EXPECT_EQ(values(ops::diagonal(grid(), std::numeric_limits<int64_t>::min())), Numbers{});
  EXPECT_EQ(values(ops::diagonal(grid(), 1, 1, 0)), (Numbers{4}));
  EXPECT_EQ(ops::diagonal(ops::reshape(row(), Dims{1, 2, 3}), 0, 0, 2).sizes(), (Dims{2, 1}));
  EXPECT_EQ(error_of([] { ops::diagonal(grid(), 0, 1, -1); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::diagonal(row()); }).code(), Code::kShape);
}

const struct {
  const char* name;
  Tensor (*call)(const Tensor& x);
} kRows[] = {
    {"select", [](const Tensor& x) { return ops::select(x, 1, 2); }},
    {"slice", [](const Tensor& x) { return ops::slice(x, 1, 1, std::nullopt, 2); }},
    {"slice backwards", [](const Tensor& x) { return ops::slice(x, 0, kAbsent, kAbsent, -1); }},
    {"narrow", [](const Tensor& x) { return ops::narrow(x, 1, 1, 2); }},
    {"split", [](const Tensor& x) { return ops::split(x, 2, 1)[0]; }},
    {"split, joined again",
     [](const Tensor& x) {
       const auto parts = ops::split_with_sizes(x, Dims{1, 3}, 1);
       return ops::concat(std::array{parts[1], parts[0], parts[1]}, 1);
     }},
    {"chunk", [](const Tensor& x) { return ops::chunk(x, 2, 1)[1]; }},
    {"unstack",
     [](const Tensor& x) {
       const auto parts = ops::unstack(x, 1);
       return ops::multiply(parts[0], parts[3]);
     }},
    {"diagonal", [](const Tensor& x) { return ops::diagonal(x, 1); }},
};

TEST(SliceGradients, agree_with_differences_once_and_twice) {
  for (const auto& entry : kRows) {
    SCOPED_TRACE(entry.name);
    const auto fn = [&](Inputs x) {
      const Tensor y = entry.call(x[0]);
      return ops::multiply(y, y);
    };
    const std::vector<Tensor> inputs{random_leaf(Dims{3, 4}, 5)};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

TEST(SliceGradients, of_writes_into_windows) {
  const auto fn = [](Inputs x) {
    const Tensor y = ops::multiply(x[0], 2);
    ops::copy_(ops::slice(y, 1, 0, kAbsent, 2), x[1]);
    const Tensor corner = ops::select(ops::select(y, 0, 1), 0, 3);
    ops::multiply(corner, ops::select(ops::select(x[1], 0, 0), 0, 1), ops::Out::inplace(corner));
    return ops::multiply(y, y);
  };
  const std::vector<Tensor> inputs{random_leaf(Dims{3, 4}, 5), random_leaf(Dims{3, 2}, 6)};
  EXPECT_TRUE(gradcheck(fn, inputs));
  EXPECT_TRUE(gradgradcheck(fn, inputs));
}

}  // namespace
}  // namespace tsr::test_slice
