// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/pool.h"

#include <array>
#include <cmath>
#include <string>

#include "ops/create/create.h"
#include "tests/ops/prelude.h"

namespace tsr::test_pool {
namespace {

struct Case {
  const char* name;
  int64_t height, width;
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;
};
const Case kCases[] = {
    {"halves", 4, 6, {2}, {}, {0}, {1}, false},
    {"overlapping", 5, 5, {3}, {1}, {1}, {1}, false},
    {"strided with padding", 7, 8, {3, 2}, {2, 3}, {1, 0}, {1}, false},
    {"a window over the end", 5, 6, {2}, {2}, {0}, {1}, true},
    {"a padded window over the end", 6, 6, {3}, {2}, {1}, {1}, true},
    {"dilated", 8, 7, {2, 3}, {1}, {1}, {2}, false},
    {"wide", 3, 40, {3}, {3}, {1}, {1}, false},
    {"wider than a tile", 2, 610, {2}, {2}, {0}, {1}, false},
    {"long windows", 2, 70, {2, 20}, {1}, {0}, {1}, false},
    {"tiles", 6, 20, {3, 5}, {}, {0}, {1}, false},
    {"more tiles than are folded together", 4, 612, {2, 6}, {}, {0}, {1}, false},
    {"tiles of padded rows", 5, 8, {3, 4}, {2, 4}, {1, 0}, {1}, false},
};

Tensor run_max(const Case& c, const Tensor& x) {
  return ops::max_pool<2>(x, c.kernel, DimsView(c.stride), DimsView(c.padding),
                          DimsView(c.dilation), c.ceil_mode);
}
Tensor run_average(const Case& c, const Tensor& x, bool include, std::optional<int64_t> divisor) {
  return ops::avg_pool<2>(x, c.kernel, DimsView(c.stride), DimsView(c.padding), c.ceil_mode,
                          include, divisor);
}

int64_t at(const Dims& list, size_t d) {
  return list.size() == 1 ? list[0] : list[d];
}

// Visits the windows by definition: start(), tap() for each element of the window, end().
template <class Start, class Tap, class End>
void each_window(const Case& c, const Tensor& x, const Tensor& y, Start start, Tap tap, End end) {
  const std::vector<double> xs = values(x);
  const Dims stride = c.stride.empty() ? c.kernel : c.stride;
  for (int64_t p = 0; p < x.size(0) * x.size(1); ++p) {
    for (int64_t i = 0; i < y.size(2); ++i) {
      for (int64_t j = 0; j < y.size(3); ++j) {
        start();
        for (int64_t k = 0; k < at(c.kernel, 0); ++k) {
          for (int64_t l = 0; l < at(c.kernel, 1); ++l) {
            const int64_t h = i * at(stride, 0) - at(c.padding, 0) + k * at(c.dilation, 0);
            const int64_t w = j * at(stride, 1) - at(c.padding, 1) + l * at(c.dilation, 1);
            const bool inside = h >= 0 && h < c.height && w >= 0 && w < c.width;
            const bool padded = h < c.height + at(c.padding, 0) && w < c.width + at(c.padding, 1);
            const int64_t place = h * c.width + w;
            tap(inside, padded,
                inside ? xs[static_cast<size_t>(p * c.height * c.width + place)] : 0, place);
          }
        }
        end();
      }
    }
  }
}

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-5) << i;
}

TEST(Pool, maximum_follows_the_definition_in_both_layouts) {
  for (const Case& c : kCases) {
    for (const int64_t channels : {1, 3, 20}) {
      for (const bool last : {false, true}) {
        SCOPED_TRACE(std::string(c.name) + (last ? " last" : ""));
        const Tensor row = random_leaf(Dims{2, channels, c.height, c.width}, 1).detached();
        const Tensor x = ops::image_memory(ops::cast_memory(row, DType::kFloat32), last);
        const auto [y, positions] =
            ops::max_pool_with_positions<2>(x, c.kernel, DimsView(c.stride), DimsView(c.padding),
                                            DimsView(c.dilation), c.ceil_mode);
        EXPECT_EQ(values(y), values(run_max(c, x)));
        EXPECT_EQ(ops::is_channels_last(y), ops::is_channels_last(x) && y.numel() > channels * 2);
        std::vector<double> best;
        std::vector<int64_t> places;
        each_window(
            c, x, y,
            [&] {
              best.push_back(-INFINITY);
              places.push_back(-1);
            },
            [&](bool inside, bool, double value, int64_t place) {
              if (!inside || value <= best.back()) return;
              best.back() = value;
              places.back() = place;
            },
            [] {});
        EXPECT_EQ(values(y), best);
        EXPECT_EQ(values<int64_t>(positions), places);
      }
    }
  }
}

TEST(Pool, average_follows_the_definition_in_both_layouts) {
  for (const Case& c : kCases) {
    if (at(c.dilation, 0) != 1) continue;
    for (const bool include : {false, true}) {
      for (const bool last : {false, true}) {
        for (const std::optional<int64_t> divisor : {std::optional<int64_t>(), {7}}) {
          SCOPED_TRACE(c.name);
          const Tensor row = random_leaf(Dims{2, 3, c.height, c.width}, 1).detached();
          const Tensor x = ops::image_memory(row, last);
          const Tensor y = run_average(c, x, include, divisor);
          std::vector<double> wanted;
          double count = 0;
          each_window(
              c, x, y,
              [&] {
                wanted.push_back(0);
                count = 0;
              },
              [&](bool inside, bool padded, double value, int64_t) {
                wanted.back() += value;
                if (include ? padded : inside) ++count;
              },
              [&] {
                wanted.back() /= static_cast<double>(divisor.value_or(0)) == 0
                                     ? count
                                     : static_cast<double>(*divisor);
              });
          expect_close(values(y), wanted);
        }
      }
    }
  }
}

TEST(Pool, adaptive_average_covers_the_input_evenly) {
  const Tensor x = test::f64(Dims{1, 1, 1, 5}, {1, 2, 3, 4, 5});
  const Dims sizes{1, 3};
  EXPECT_EQ(values(ops::adaptive_avg_pool<2>(x, sizes)), (std::vector<double>{1.5, 3, 4.5}));
  const Dims larger{2, 6};
  EXPECT_EQ(ops::adaptive_avg_pool<2>(x, larger).sizes(), (Dims{1, 1, 2, 6}));
}

// Windows of all lengths around those of registers, with ties, zeros of both signs and NaNs.
TEST(Pool, adaptive_maxima_of_long_windows_are_the_first_largest_numbers) {
  const Dims outputs{3};
  for (size_t length = 40; length < 240; ++length) {
    for (const float rare : {5.0F, NAN}) {
      std::vector<float> numbers;
      for (size_t i = 0; i < length; ++i) {
        const float common = -static_cast<float>(i * 7 % 5);
        numbers.push_back(i % 61 == 50 ? rare : common == 0 && i % 3 == 0 ? 0.0F : common);
      }
      const Tensor x = test::f32(Dims{1, 1, static_cast<int64_t>(length)}, numbers);
      const auto maxima = values(ops::adaptive_max_pool<1>(x, outputs));
      const auto [y, positions] = ops::adaptive_max_pool_with_positions<1>(x, outputs);
      for (size_t o = 0; o < 3; ++o) {
        size_t best = o * length / 3;
        for (size_t i = best; i < ((o + 1) * length + 2) / 3; ++i) {
          if (std::isnan(numbers[i]) || numbers[i] > numbers[best]) best = i;
        }
        EXPECT_EQ(values<int64_t>(positions)[o], static_cast<int64_t>(best)) << length;
        for (const double found : {maxima[o], values(y)[o]}) {
          EXPECT_EQ(std::isnan(found), std::isnan(numbers[best])) << length;
          if (std::isnan(found)) continue;
          EXPECT_EQ(found, numbers[best]) << length;
          EXPECT_EQ(std::signbit(found), std::signbit(numbers[best])) << length;
        }
      }
    }
  }
}

TEST(Pool, the_first_of_equal_numbers_wins_and_a_nan_wins_always) {
  const Tensor x = test::f32(Dims{1, 1, 2, 4}, {1, 1, 5, NAN, 0, 1, 2, 9});
  const Dims two{2};
  const auto [y, positions] = ops::max_pool_with_positions<2>(x, two);
  EXPECT_EQ(values(y)[0], 1);
  EXPECT_TRUE(std::isnan(values(y)[1]));
  EXPECT_EQ(values<int64_t>(positions), (std::vector<int64_t>{0, 3}));
  // Of the NaNs the last one in the order of the rows.
  const Tensor wide =
      test::f32(Dims{1, 1, 2, 8}, {1, 7, 7, 2, NAN, 1, NAN, 3, 7, 0, 0, 0, 5, NAN, 1, -INFINITY});
  const Dims tile{2, 4};
  EXPECT_EQ(values<int64_t>(std::get<1>(ops::max_pool_with_positions<2>(wide, tile))),
            (std::vector<int64_t>{1, 13}));
  const Tensor least = ops::full(Dims{1, 1, 2, 4}, -INFINITY);
  EXPECT_EQ(values<int64_t>(std::get<1>(ops::max_pool_with_positions<2>(least, tile))),
            (std::vector<int64_t>{0}));
}

TEST(Pool, positions_that_were_written_are_refused) {
  const Tensor x = random_leaf(Dims{2, 3, 4, 4}, 3);
  const Dims two{2};
  for (const int64_t wrong : {int64_t{16}, int64_t{-2}, int64_t{1} << 40}) {
    const auto [y, positions] = ops::max_pool_with_positions<2>(x, two);
    positions.data_as<int64_t>()[5] = wrong;  // as a write through exported memory could do
    const Tensor total = ops::sum(y);
    const Error error = error_of([&] { backward(std::array{total}, std::array{Tensor()}); });
    EXPECT_EQ(error.code(), Code::kIndex);
    EXPECT_NE(error.message().find(std::to_string(wrong)), std::string::npos) << error.message();
  }
}

TEST(Pool, gradients_agree_with_differences) {
  for (const Case& c : kCases) {
    if (c.width > 10) continue;
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> inputs{random_leaf(Dims{1, 2, c.height, c.width}, 3)};
    for (const bool last : {false, true}) {
      const auto lay = [last](const Tensor& x) {
        if (!last) return x;
        const Dims there{0, 2, 3, 1};
        const Dims back{0, 3, 1, 2};
        return ops::permute_dims(ops::contiguous(ops::permute_dims(x, there)), back);
      };
      const auto max = [&](Inputs x) { return run_max(c, lay(x[0])); };
      EXPECT_TRUE(gradcheck(max, inputs));
      EXPECT_TRUE(gradgradcheck(max, inputs));
      if (at(c.dilation, 0) != 1) continue;
      const auto average = [&](Inputs x) { return run_average(c, lay(x[0]), false, {}); };
      EXPECT_TRUE(gradcheck(average, inputs));
      EXPECT_TRUE(gradgradcheck(average, inputs));
    }
  }
}

TEST(Pool, gradients_of_the_adaptive_average_agree_with_differences) {
  const std::vector<Tensor> inputs{random_leaf(Dims{2, 5, 4}, 3)};
  const Dims sizes{3, 2};
  const auto fn = [&](Inputs x) { return ops::adaptive_avg_pool<2>(x[0], sizes); };
  EXPECT_TRUE(gradcheck(fn, inputs));
  EXPECT_TRUE(gradgradcheck(fn, inputs));
}

TEST(Pool, sixteen_bit_numbers_are_pooled_in_float32) {
  const Tensor x = ops::cast_memory(random_leaf(Dims{1, 2, 4, 4}, 3).detached(), DType::kBFloat16);
  const Dims two{2};
  const Tensor wide = ops::cast_memory(x, DType::kFloat32);
  EXPECT_EQ(values(ops::max_pool<2>(x, two)), values(ops::max_pool<2>(wide, two)));
  EXPECT_EQ(ops::avg_pool<2>(x, two).dtype(), DType::kBFloat16);
}

TEST(Pool, writes_into_out_and_takes_an_empty_batch) {
  const Dims two{2};
  const Tensor x = random_leaf(Dims{2, 4, 4}, 3).detached();
  const Tensor out = empty(Dims{0}, DType::kFloat64);
  ops::max_pool<2>(x, two, {}, {}, {}, false, ops::Out::into(out));
  EXPECT_EQ(values(out), values(ops::max_pool<2>(x, two)));
  EXPECT_EQ(ops::avg_pool<2>(empty(Dims{0, 2, 4, 4}, DType::kFloat32), two).sizes(),
            (Dims{0, 2, 2, 2}));
}

TEST(Pool, refuses_windows_that_do_not_fit) {
  const Tensor x = empty(Dims{1, 1, 4, 4}, DType::kFloat32);
  const Dims two{2};
  const Dims five{5};
  const Dims zero{0};
  EXPECT_EQ(error_of([&] { ops::max_pool<2>(x, five); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::max_pool<2>(x, zero); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::max_pool<2>(x, two, {}, DimsView(two)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::max_pool<2>(empty(Dims{4}, DType::kFloat32), two); }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::avg_pool<2>(empty(Dims{1, 1, 4, 4}, DType::kInt64), two);
            }).code(),
            Code::kDType);
  EXPECT_EQ(error_of([&] { ops::avg_pool<2>(x, two, {}, {}, false, true, 0); }).code(),
            Code::kValue);
}

}  // namespace
}  // namespace tsr::test_pool
