// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Autocast regions and the gradient scaler (feature row AMP).
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>

#include "support.hpp"
#include "support/places.h"

namespace test_amp {

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(AMP_Autocast, region_ends_with_its_guard) {
  const Tensor a = ones({2, 2});
  {
    const AutocastGuard region(kFloat16);
    EXPECT_TRUE(is_autocast_enabled());
    EXPECT_EQ(autocast_dtype(), kFloat16);
    EXPECT_EQ(matmul(a, a).dtype(), kFloat16);
    EXPECT_EQ(exp(a.to(kFloat16)).dtype(), kFloat32);
    AutocastOptions off;
    off.enabled = false;
    const AutocastGuard inner(off);
    EXPECT_EQ(matmul(a, a).dtype(), kFloat32);
  }
  EXPECT_FALSE(is_autocast_enabled());
  EXPECT_EQ(autocast_dtype(), kBFloat16);
  EXPECT_EQ(matmul(a, a).dtype(), kFloat32);
  EXPECT_THROW(AutocastGuard{kFloat32}, DTypeError);
}

TEST(AMP_Autocast, gradient_has_the_dtype_of_the_parameter) {
  nn::Linear layer(4, 2);
  Tensor loss;
  {
    const AutocastGuard region;
    const Tensor out = layer(ones({3, 4}));
    EXPECT_EQ(out.dtype(), kBFloat16);
    loss = out.sum();
  }
  EXPECT_EQ(loss.dtype(), kFloat32);
  loss.backward();
  for (const Tensor& parameter : layer.parameters()) {
    EXPECT_EQ(parameter.grad().dtype(), kFloat32);
  }
}

TEST(AMP_GradScaler, skips_infinite_gradients) {
  Tensor x = leaf({1});
  optim::SGD sgd({x});
  GradScalerOptions options;
  options.scale = 8;
  GradScaler scaler(options);
  EXPECT_EQ(scaler.scale(tensor({2.0}, kFloat64)).item<double>(), 16);
  x.set_grad(tensor({kInfinity}, kFloat64));
  EXPECT_FALSE(scaler.step(sgd));
  EXPECT_TRUE(scaler.found_inf(sgd));
  EXPECT_EQ(x.item<double>(), 1);
  scaler.update();
  EXPECT_EQ(scaler.state().scale, 4);
  x.set_grad(tensor({8.0}, kFloat64));
  scaler.unscale(sgd);
  EXPECT_EQ(x.grad().item<double>(), 2);
  EXPECT_THROW(scaler.unscale(sgd), InvalidValueError);
  EXPECT_TRUE(scaler.step(sgd));
  scaler.update(32);
  EXPECT_EQ(scaler.state().scale, 32);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The shared test: every language reads this file and writes the same bytes.
TEST(AMP_GradScaler, file_is_that_of_all_languages) {
  GradScaler scaler;
  const std::string shared = tsr::testing::source_path("tests/conformance/grad_scaler.safetensors");
  scaler.load(shared);
  const GradScalerOptions found = scaler.state();
  EXPECT_EQ(found.scale, 1024);
  EXPECT_EQ(found.growth_factor, 3);
  EXPECT_EQ(found.backoff_factor, 0.25);
  EXPECT_EQ(found.growth_interval, 7);
  EXPECT_EQ(found.growth_tracker, 5);
  const std::string path = temporary("scaler");
  scaler.save(path);
  EXPECT_EQ(bytes_of(path), bytes_of(shared));
  std::remove(path.c_str());
  GradScalerOptions wrong = found;
  wrong.backoff_factor = 2;
  EXPECT_THROW(scaler.load_state(wrong), InvalidValueError);
  EXPECT_EQ(scaler.state().scale, 1024);
}

// Two classes of points, whose border is a circle; the loss after some steps.
double trained(std::optional<DType> dtype) {
  manual_seed(0);
  const Tensor points = randn({128, 2});
  const Tensor classes = (points.square().sum({1}) > 1.2).to(kInt64);
  nn::Linear first(2, 32), second(32, 2);
  std::vector<Tensor> parameters = first.parameters();
  for (const Tensor& parameter : second.parameters()) parameters.push_back(parameter);
  optim::AdamOptions settings;
  settings.lr = 0.02;
  optim::Adam adam(parameters, settings);
  GradScalerOptions options;
  options.enabled = dtype == kFloat16;
  GradScaler scaler(options);
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    adam.zero_grad();
    Tensor loss;
    {
      AutocastOptions region;
      region.dtype = dtype;
      region.enabled = dtype.has_value();
      const AutocastGuard guard(region);
      loss = cross_entropy(second(relu(first(points))), classes);
    }
    scaler.scale(loss).backward();
    scaler.step(adam);
    scaler.update();
    last = loss.item<double>();
  }
  return last;
}

TEST(AMP_Training, sixteen_bits_reach_the_loss_of_float32) {
  const double exact = trained(std::nullopt);
  EXPECT_LT(exact, 0.15);
  EXPECT_NEAR(trained(kBFloat16), exact, 0.05);
  EXPECT_NEAR(trained(kFloat16), exact, 0.05);
}

}  // namespace
}  // namespace test_amp
