// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ops/index/unique.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_sort {
namespace {

// Positions by the standard library's stable sort, NaN last.
template <class T>
std::vector<int64_t> reference(const std::vector<T>& line, bool descending) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](T a, T b) { return a < b || (b != b && a == a); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(a)];
    const T y = line[static_cast<size_t>(b)];
    return descending ? less(y, x) : less(x, y);
  });
  return order;
}

template <class T>
void expect_sorted_like_reference(const std::vector<T>& line) {
  const Tensor input = test::tensor(Dims{static_cast<int64_t>(line.size())}, line);
  for (const bool descending : {false, true}) {
    EXPECT_EQ(values<int64_t>(ops::argsort(input, 0, descending)), reference(line, descending));
  }
}

TEST(Sort, agrees_with_a_stable_sort_for_every_kind_of_number) {
  std::mt19937 random(1);
  std::vector<float> floats{0.0F, -0.0F, NAN, INFINITY, -INFINITY, NAN, 1e-40F, -1e-40F};
  std::vector<double> doubles{0.0, -0.0, NAN, 5e-324};
  std::vector<int64_t> integers{INT64_MIN, INT64_MAX, 0, -1};
  std::vector<uint64_t> unsigneds{UINT64_MAX, 0, 1};
  std::vector<int8_t> bytes;
  for (int i = 0; i < 500; ++i) {
    floats.push_back(static_cast<float>(random() % 50) - 25);
    doubles.push_back(static_cast<double>(random() % 50) / 7 - 3);
    integers.push_back(static_cast<int64_t>(random() % 90) - 45);
    unsigneds.push_back(random() % 90);
    bytes.push_back(static_cast<int8_t>(random()));
  }
  expect_sorted_like_reference(floats);
  expect_sorted_like_reference(doubles);
  expect_sorted_like_reference(integers);
  expect_sorted_like_reference(unsigneds);
  expect_sorted_like_reference(bytes);
}

TEST(Sort, works_along_any_axis_of_any_layout) {
  const Tensor x = i64(Dims{2, 3}, {3, 1, 2, 6, 5, 4});
  EXPECT_EQ(values(ops::sort(x, 1)), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(ops::sort(x, 0, true)), (std::vector<double>{6, 5, 4, 3, 1, 2}));
  EXPECT_EQ(values(ops::sort(ops::matrix_transpose(x), 0)),
            (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values(ops::sort(f32(Dims{}, {2}))), (std::vector<double>{2}));
  EXPECT_EQ(ops::sort(empty(Dims{0, 3}, DType::kFloat32), 0).sizes(), (Dims{0, 3}));
}

TEST(Sort, topk_takes_the_ends_in_order) {
  const Tensor x = f32(Dims{2, 4}, {3, 1, NAN, 2, 7, 7, 0, 9});
  const auto [largest, where] = ops::topk(x, 2);
  EXPECT_TRUE(std::isnan(values(largest)[0]));
  EXPECT_EQ(values(where), (std::vector<double>{2, 0, 3, 0}));
  const auto [smallest, from] = ops::topk(x, 3, 1, false);
  EXPECT_EQ(values(smallest), (std::vector<double>{1, 2, 3, 0, 7, 7}));
  EXPECT_EQ(values(from), (std::vector<double>{1, 3, 0, 2, 0, 1}));
  EXPECT_EQ(std::get<0>(ops::topk(x, 0)).sizes(), (Dims{2, 0}));
}

template <class T>
void expect_topk_like_reference(const std::vector<T>& line) {
  const auto length = static_cast<int64_t>(line.size());
  const Tensor input = test::tensor(Dims{length}, line);
  for (const bool largest : {false, true}) {
    const std::vector<int64_t> order = reference(line, largest);
    for (const int64_t k : {1, 2, 10, 31, 32, 33, 100, 256}) {
      if (k > length) break;
      const auto [taken, where] = ops::topk(input, k, 0, largest);
      EXPECT_EQ(values<int64_t>(where), (std::vector<int64_t>(order.begin(), order.begin() + k)))
          << "k " << k << " of " << length;
      for (int64_t i = 0; i < k; ++i) {
        const T want = line[static_cast<size_t>(order[static_cast<size_t>(i)])];
        const T got = values<T>(taken)[static_cast<size_t>(i)];
        EXPECT_TRUE(got == want || (got != got && want != want)) << i;
      }
    }
  }
}

// Ties, NaN and lengths that are not a multiple of a block; the first k of a stable sort.
TEST(Sort, topk_agrees_with_a_stable_sort_for_any_count) {
  std::mt19937 random(2);
  for (const int length : {40, 127, 128, 129, 1000}) {
    std::vector<float> floats;
    std::vector<float> rising;
    std::vector<double> doubles;
    std::vector<int16_t> shorts;
    for (int i = 0; i < length; ++i) {
      floats.push_back(i % 97 == 5 ? NAN : static_cast<float>(random() % 60) - 30);
      rising.push_back(static_cast<float>(i / 2));
      doubles.push_back(i % 50 == 7 ? NAN : static_cast<double>(random() % 60) / 7);
      shorts.push_back(static_cast<int16_t>(random()));
    }
    expect_topk_like_reference(floats);
    expect_topk_like_reference(rising);
    expect_topk_like_reference(doubles);
    expect_topk_like_reference(shorts);
    expect_topk_like_reference(std::vector<float>(static_cast<size_t>(length), 3.0F));
  }
}

TEST(Sort, refuses_what_has_no_order) {
  const Tensor x = f32(Dims{3}, {1, 2, 3});
  EXPECT_EQ(error_of([&] { ops::topk(x, 4); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::topk(x, -1); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::sort(x, 1); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::sort(empty(Dims{2}, DType::kComplex64)); }).code(), Code::kDType);
}

TEST(Sort, sends_gradients_back_to_where_the_values_came_from) {
  const Tensor x = random_leaf(Dims{3, 4}, 3);
  for (const int64_t axis : {0, 1}) {
    const auto whole = [&](Inputs in) { return ops::sort(in[0], axis, true); };
    const auto part = [&](Inputs in) { return std::get<0>(ops::topk(in[0], 2, axis)); };
    EXPECT_TRUE(gradcheck(whole, {x}));
    EXPECT_TRUE(gradgradcheck(whole, {x}));
    EXPECT_TRUE(gradcheck(part, {x}));
    EXPECT_TRUE(gradgradcheck(part, {x}));
  }
  EXPECT_TRUE(gradcheck([](Inputs in) { return ops::sort(in[0]); }, {random_leaf(Dims{}, 1)}));
}

TEST(Sort, runs_end_at_another_number_and_at_every_nan) {
  const Tensor x = f32(Dims{9}, {0, -0.0F, NAN, NAN, 2, 2, 2, -INFINITY, -INFINITY});
  for (const Tensor& line : {x, ops::concat(std::vector<Tensor>{x, x}, 0)}) {
    const ops::Unique found = ops::unique_consecutive(line);
    std::vector<double> numbers{0, 0, 1, 2, 3, 3, 3, 4, 4};
    std::vector<double> counts{2, 1, 1, 3, 2};
    if (line.numel() > 9) {
      for (int i = 0; i < 9; ++i) numbers.push_back(numbers[static_cast<size_t>(i)] + 5);
      counts.insert(counts.end(), {2, 1, 1, 3, 2});
    }
    EXPECT_EQ(test::values(found.inverse_indices), numbers);
    EXPECT_EQ(test::values(found.counts), counts);
    const auto kept = test::values(found.values);
    ASSERT_EQ(kept.size(), counts.size());
    EXPECT_FALSE(std::signbit(kept[0]));  // the first element of the run
    EXPECT_TRUE(std::isnan(kept[1]) && std::isnan(kept[2]) && kept[3] == 2 && kept[4] == -INFINITY);
  }
  const Tensor pairs = ops::slice(test::i64(Dims{6}, {7, 1, 7, 2, 5, 3}), 0, 0, 6, 2);
  EXPECT_EQ(test::values(ops::unique_consecutive(pairs, 0).counts), (std::vector<double>{2, 1}));
  EXPECT_EQ(ops::unique_consecutive(f32(Dims{0}, {})).values.numel(), 0);
  EXPECT_EQ(test::values(ops::unique_consecutive(f32(Dims{1}, {NAN})).counts),
            std::vector<double>{1});
}

TEST(Sort, bools_from_elsewhere_are_any_byte) {
  const Tensor bytes = test::tensor<uint8_t>(Dims{5}, {2, 0, 1, 255, 0});
  const Tensor mask =
      Tensor::adopt(new TensorImpl(bytes.storage(), DType::kBool, Dims{5}, Dims{1}, 0));
  const auto [sorted, positions] = ops::sort_with_indices(mask);
  EXPECT_EQ(test::values(positions), (std::vector<double>{1, 4, 0, 2, 3}));
  EXPECT_EQ(std::memcmp(sorted.data(), "\0\0\1\1\1", 5), 0);
  const auto [best, where] = ops::topk(mask, 1);
  EXPECT_EQ(test::values(where), (std::vector<double>{0}));
  EXPECT_EQ(*best.data_as<uint8_t>(), 1);
}

}  // namespace
}  // namespace tsr::test_sort
