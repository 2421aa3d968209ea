// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers of sequences, images and volumes: pooling, convolution, normalisation, dropout of
// channels.
#include <vector>

#include "gradient.hpp"
#include "support.hpp"

namespace test_nn_images {

using namespace tessera;
using namespace tessera::test;

namespace {

Tensor counting(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return arange(count).reshape(shape).to(kFloat32);
}

}  // namespace

TEST(NnImages, pooling_along_one_two_and_three_axes) {
  const Tensor line = counting({1, 1, 6});
  const Tensor image = counting({1, 1, 4, 4});
  const Tensor volume = counting({1, 1, 2, 2, 4});
  expect_near(nn::MaxPool1d(2)(line), {1, 3, 5});
  expect_near(nn::MaxPool1d(2, std::nullopt, 1, 1, true)(line), {0, 2, 4, 5});
  expect_near(nn::MaxPool2d(2, 1, 0, 2)(image), {10, 11, 14, 15});
  expect_near(nn::MaxPool3d({2, 2, 2})(volume), {13, 15});
  expect_near(nn::AvgPool1d(2, std::nullopt, 1, false, false)(line), {0, 1.5, 3.5, 5});
  expect_near(nn::AvgPool2d({2, 4}, std::nullopt, 0, false, true, 4)(image), {7, 23});
  expect_near(nn::AvgPool3d(2)(volume), {6.5, 8.5});
  expect_near(nn::LPPool1d(2, 2)(tensor({3.0, 4.0}).reshape({1, 1, 2})), {5});
  expect_near(nn::LPPool2d(1, 2)(image), {10, 18, 42, 50});
  expect_near(nn::LPPool3d(1, 2)(volume), {52, 68});
  expect_near(nn::AdaptiveAvgPool1d(2)(line), {1, 4});
  expect_near(nn::AdaptiveAvgPool3d({1, 2, 1})(volume), {5.5, 9.5});
  expect_near(nn::AdaptiveMaxPool1d(2)(line), {2, 5});
  expect_near(nn::AdaptiveMaxPool2d({1, 2})(image), {13, 15});
  expect_near(nn::AdaptiveMaxPool3d(1)(volume), {15});
}

TEST(NnImages, unpooling_puts_the_maxima_back) {
  const Tensor line = tensor({1.0, 5.0, 7.0, 2.0, 4.0}).reshape({1, 1, 5});
  const auto [values, positions] = nn::MaxPool1d(2).with_positions(line);
  expect_near(nn::MaxUnpool1d(2)(values, positions), {0, 5, 7, 0});
  expect_near(nn::MaxUnpool1d(2)(values, positions, {5}), {0, 5, 7, 0, 0});
  const Tensor volume = counting({1, 1, 2, 2, 2});
  const auto [most, where] = nn::AdaptiveMaxPool3d(1).with_positions(volume);
  EXPECT_EQ(where.item<int>(), 7);
  expect_near(nn::MaxUnpool3d(2)(most, where), {0, 0, 0, 0, 0, 0, 0, 7});
  EXPECT_THROW(nn::MaxUnpool2d(2)(most, where), ShapeError);
}

TEST(NnImages, layers_pass_gradcheck) {
  manual_seed(5);
  nn::Conv1dOptions strided;
  strided.stride = 2;
  strided.padding = 1;
  nn::Conv3dOptions grouped;
  grouped.groups = 2;
  grouped.same = true;
  nn::InstanceNormOptions affine;
  affine.affine = true;
  nn::Conv1d line(4, 2, 3, strided);
  nn::ConvTranspose1d wider(4, 3, 2, {}, 0);
  nn::BatchNorm1d batch(4);
  nn::InstanceNorm1d instance(4, affine);
  nn::GroupNorm group(2, 4);
  nn::RMSNorm rms({5});
  nn::LocalResponseNorm local(3);
  nn::LPPool1d root(3, 2);
  const Tensor x = rand({2, 4, 5}, kFloat64) + 0.5;
  for (nn::Module* module :
       std::vector<nn::Module*>{&line, &wider, &batch, &instance, &group, &rms, &local, &root}) {
    module->to(kFloat64);
    expect_gradient(*module, x);
  }
  nn::Conv3d volume(4, 2, {1, 2, 3}, grouped);
  nn::ConvTranspose3d back(4, 2, {1, 2, 1});
  nn::BatchNorm3d batches(4);
  for (nn::Module* module : std::vector<nn::Module*>{&volume, &back, &batches}) {
    module->to(kFloat64);
    expect_gradient(*module, randn({1, 4, 2, 2, 3}, kFloat64));
  }
}

TEST(NnImages, normalisation_keeps_names_and_statistics) {
  nn::InstanceNormOptions tracked;
  tracked.affine = tracked.track_running_stats = true;
  nn::InstanceNorm1d norm(1, tracked);
  EXPECT_EQ(norm.state_dict().size(), 5U);
  const Tensor x = tensor({1.0, 3.0}).reshape({1, 1, 2});
  expect_near(norm(x), {-1, 1}, 1e-4);
  expect_near(norm.running_mean, {0.2});
  expect_near(norm.running_var, {0.9 + 0.1 * 2});
  expect_near(norm(x.select(0, 0)), {-1, 1}, 1e-4);
  norm.eval();
  expect_near(norm(x + norm.running_mean.item<double>() - 1).select(2, 0), {0}, 1e-4);
  EXPECT_TRUE(nn::InstanceNorm2d(3).state_dict().empty());
  nn::RMSNorm rms({2});
  expect_near(rms(tensor({1.0, 7.0})), {0.2, 1.4}, 1e-5);
  EXPECT_EQ(rms.state_dict().size(), 1U);
  EXPECT_EQ(nn::GroupNorm(2, 4).state_dict().size(), 2U);
  expect_near(nn::LocalResponseNorm(2, 2, 1)(tensor({3.0, 4.0}).reshape({1, 2, 1})),
              {0.3, 2.0 / 13}, 1e-6);
  EXPECT_THROW(nn::GroupNorm(3, 4), InvalidValueError);
  EXPECT_THROW(nn::BatchNorm1d(2)(zeros({2, 2, 1, 1})), ShapeError);
  EXPECT_THROW(nn::InstanceNorm3d(2)(zeros({2, 2})), ShapeError);
}

TEST(NnImages, dropout_takes_whole_channels_and_only_in_training) {
  manual_seed(3);
  const Tensor x = ones({8, 16, 2, 2});
  nn::Dropout2d drop(0.5);
  const Tensor sums = drop(x).sum({2, 3});
  EXPECT_TRUE((sums == 0).any().item<bool>());
  EXPECT_TRUE(((sums == 0) | (sums == 8)).all().item<bool>());
  nn::Dropout1d lines(0.5);
  nn::Dropout3d volumes(0.5);
  nn::AlphaDropout alpha(0.5);
  nn::FeatureAlphaDropout features(0.5);
  EXPECT_FALSE(array_equal(alpha(x), x).item<bool>());
  EXPECT_FALSE(array_equal(features(x), x).item<bool>());
  EXPECT_FALSE(array_equal(lines(ones({8, 16, 2})), ones({8, 16, 2})).item<bool>());
  EXPECT_FALSE(array_equal(volumes(x), x).item<bool>());
  drop.eval();
  expect_same(drop(x), x);
  EXPECT_THROW(nn::Dropout3d(2), InvalidValueError);
  EXPECT_EQ(nn::Unflatten(1, {4, -1})(zeros({2, 12})).shape(), (Shape{2, 4, 3}));
}

}  // namespace test_nn_images
