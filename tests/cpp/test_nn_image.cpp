// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers of images without parameters.
#include "support.hpp"

namespace test_nn_image {

using namespace tessera;
using namespace tessera::test;

namespace {

Tensor image(std::initializer_list<double> numbers) {
  return tensor(numbers).reshape({1, 1, 1, static_cast<int64_t>(numbers.size())});
}

nn::UpsampleOptions sized(std::vector<int64_t> size, std::string mode) {
  nn::UpsampleOptions options;
  options.size = std::move(size);
  options.mode = std::move(mode);
  return options;
}

TEST(NnImage, upsample_takes_a_size_or_factors) {
  const Tensor x = image({1, 3});
  nn::UpsampleOptions factors;
  factors.scale_factor = {1, 2};
  expect_near(nn::Upsample(factors)(x), {1, 1, 3, 3});
  expect_near(nn::Upsample(sized({1, 4}, "bilinear"))(x), {1, 1.5, 2.5, 3});
  nn::UpsampleOptions corners = sized({1, 3}, "bilinear");
  corners.align_corners = true;
  expect_near(nn::Upsample(corners)(x), {1, 2, 3});
  factors.size = {2};
  nn::Upsample both(factors);
  EXPECT_THROW(both(x), InvalidValueError);
}

TEST(NnImage, shuffles_move_elements_between_channels_and_positions) {
  const Tensor x = tensor({1.0, 2.0, 3.0, 4.0}).reshape({1, 4, 1, 1});
  const Tensor blocks = nn::PixelShuffle(2)(x);
  EXPECT_EQ(blocks.shape(), (Shape{1, 1, 2, 2}));
  expect_near(blocks, {1, 2, 3, 4});
  expect_same(nn::PixelUnshuffle(2)(blocks), x);
  expect_near(nn::ChannelShuffle(2)(x), {1, 3, 2, 4});
}

TEST(NnImage, windows_become_columns_and_add_up_again) {
  const Tensor x = image({1, 2, 3});
  const Tensor columns = nn::Unfold(nn::Pair{1, 2})(x);
  EXPECT_EQ(columns.shape(), (Shape{1, 2, 2}));
  expect_near(columns, {1, 2, 2, 3});
  expect_near(nn::Fold({1, 3}, {1, 2})(columns), {1, 4, 3});
  EXPECT_EQ(nn::Unfold(2, 1, 1, 2)(x).shape(), (Shape{1, 4, 2}));
}

}  // namespace
}  // namespace test_nn_image
