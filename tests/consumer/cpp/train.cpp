// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// A C++ program that trains a convolutional network with layers, an optimizer and a loader, and
// predicts with the weights that it wrote. It draws its digits itself: seven segments, with noise.
//
// Usage: train FOLDER
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <tessera/tessera.hpp>
#include <vector>

namespace {

using tessera::Tensor;
namespace data = tessera::data;
namespace nn = tessera::nn;
namespace optim = tessera::optim;

constexpr int64_t kSide = 8, kClasses = 10, kOfEach = 40;
constexpr int kEpochs = 6;

// Rows of a digit's picture; a segment is on where its bit is: top, upper left, upper right,
// middle, lower left, lower right, bottom.
constexpr std::array<unsigned, kClasses> kSegments = {0x77, 0x24, 0x5d, 0x6d, 0x2e,
                                                      0x6b, 0x7b, 0x25, 0x7f, 0x6f};

bool is_lit(unsigned segments, int64_t row, int64_t column) {
  const auto on = [&](unsigned bit) { return (segments >> bit & 1U) != 0; };
  const bool inside = column >= 2 && column <= 5;
  if (row == 0) return inside && on(0);
  if (row == 3) return inside && on(3);
  if (row == 7) return inside && on(6);
  if (column == 1) return on(row < 3 ? 1 : 4);
  return column == 6 && on(row < 3 ? 2 : 5);
}

struct Digits {
  Tensor images, classes;
};

Digits draw_digits() {
  std::vector<float> pixels;
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < kOfEach * kClasses; ++i) {
    classes.push_back(i % kClasses);
    for (int64_t at = 0; at < kSide * kSide; ++at) {
      const unsigned segments = kSegments[static_cast<size_t>(i % kClasses)];
      pixels.push_back(is_lit(segments, at / kSide, at % kSide) ? 1.0F : 0.0F);
    }
  }
  const auto count = static_cast<int64_t>(classes.size());
  const Tensor clean = tessera::copy_from(pixels.data(), {count, 1, kSide, kSide});
  return {clean + 0.3 * tessera::randn(clean.shape()), tessera::copy_from(classes.data(), {count})};
}

struct Net : nn::Module {
  nn::Conv2d conv{1, 16, 3};
  nn::BatchNorm2d norm{16};
  nn::Linear dense{16 * 3 * 3, kClasses};

  Net() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("dense", dense);
  }
  Tensor forward(const Tensor& input) override {
    return dense(flatten(max_pool2d(relu(norm(conv(input))), 2), 1));
  }
};

double share_right(Net& model, const Digits& digits) {
  const tessera::NoGradGuard no_grad;
  model.eval();
  const Tensor right = model(digits.images).argmax(1) == digits.classes;
  return right.to(tessera::kFloat32).mean().item<double>();
}

void train(Net& model, const Digits& digits) {
  optim::AdamWOptions settings;
  settings.lr = 0.01;
  optim::AdamW optimizer(model.parameters(), settings);
  data::LoaderOptions loading;
  loading.batch_size = 32;
  loading.shuffle = true;
  const data::TensorDataset dataset({digits.images, digits.classes});
  const data::DataLoader loader(dataset, loading);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (const data::Batch& batch : loader) {
      optimizer.zero_grad();
      cross_entropy(model(batch[0]), batch[1]).backward();
      optimizer.step();
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    tessera::manual_seed(1);
    const std::string file = std::string(arguments[1]) + "/net.safetensors";
    Net model, again;
    train(model, draw_digits());
    tessera::save_file(model.state_dict(), file);
    again.load_state_dict(tessera::load_file(file));
    const double share = share_right(again, draw_digits());
    std::printf("accuracy %.3f\n", share);
    return share >= 0.95 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
